// Package pki makes and loads the cluster's certificate authority and the
// certificates it issues. A certificate says its role in a URI name
// ("gram://role/coordinator"), which peers check.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// ErrRole: the peer's certificate is valid, but not of the role needed here.
var ErrRole = errors.New("certificate of another role")

// Role is what a certificate's holder may be.
type Role string

// RoleCoordinator may open the raft port and serve the API. RoleWorker may make a worker's calls, and no others.
const (
	RoleCoordinator Role = "coordinator"
	RoleWorker      Role = "worker"
)

const (
	caLifetime   = 10 * 365 * 24 * time.Hour
	certLifetime = 365 * 24 * time.Hour
	renewBefore  = 30 * 24 * time.Hour

	caFile, caKeyFile = "ca.pem", "ca-key.pem"
)

// Identity is a certificate with its key, and the authority that vouches for it and its peers.
type Identity struct {
	CAPEM []byte // give this to clients
	pool  *x509.CertPool
	dir   string
	hosts []string

	mu   sync.Mutex
	cert tls.Certificate
}

func (id *Identity) certificate() tls.Certificate {
	id.mu.Lock()
	defer id.mu.Unlock()
	return id.cert
}

// Covers reports whether the certificate holds for a host name or IP address.
func (id *Identity) Covers(host string) bool {
	return id.certificate().Leaf.VerifyHostname(host) == nil
}

// LoadOrCreate returns the coordinator's identity kept in dir, making the
// authority and the certificate when they are absent, and renewing a certificate
// that is about to expire or lacks one of the hosts. Where the authority is kept
// without its key, as Issue leaves it, the certificate must do as it is.
func LoadOrCreate(dir string, hosts []string, now time.Time) (*Identity, error) {
	identity, err := loadOrCreate(dir, hosts, now)
	if err != nil {
		return nil, err
	}
	identity.dir, identity.hosts = dir, hosts
	return identity, nil
}

func loadOrCreate(dir string, hosts []string, now time.Time) (*Identity, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make certificate directory: %w", err)
	}
	if issued, err := IssuedElsewhere(dir); err != nil || issued {
		return loadIssued(dir, hosts, now, err)
	}
	ca, caKey, err := loadOrCreateCA(dir, now)
	if err != nil {
		return nil, err
	}
	// A certificate that does not load (a crash between writing key and certificate)
	// is replaced like one that is missing: the authority stays the same.
	if identity, err := load(dir, ca); err == nil &&
		errors.Join(identity.flaw(hosts, now), identity.flaw(nil, now.Add(renewBefore))) == nil {
		return identity, nil
	}
	if err := issue(dir, ca, caKey, RoleCoordinator, "", hosts, now); err != nil {
		return nil, err
	}
	return load(dir, ca)
}

// flaw tells why the certificate is of no use: it is not this authority's or not valid
// then, not of the right role, or does not cover the hosts.
func (id *Identity) flaw(hosts []string, then time.Time) error {
	options := x509.VerifyOptions{Roots: id.pool, CurrentTime: then, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}
	if _, err := id.cert.Leaf.Verify(options); err != nil {
		return err
	}
	if err := checkRole([]*x509.Certificate{id.cert.Leaf}, RoleCoordinator); err != nil {
		return err
	}
	for _, host := range hosts {
		if err := id.cert.Leaf.VerifyHostname(host); err != nil {
			return err
		}
	}
	return nil
}

func loadOrCreateCA(dir string, now time.Time) (*x509.Certificate, crypto.Signer, error) {
	certFile, keyFile := filepath.Join(dir, caFile), filepath.Join(dir, caKeyFile)
	if pair, err := tls.LoadX509KeyPair(certFile, keyFile); err == nil {
		return pair.Leaf, pair.PrivateKey.(crypto.Signer), nil
	} else if !errors.Is(err, os.ErrNotExist) {
		return nil, nil, fmt.Errorf("load certificate authority: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make authority key: %w", err)
	}
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: "Gram cluster authority"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(caLifetime),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := sign(template, template, key.Public(), key)
	if err != nil {
		return nil, nil, err
	}
	if err := writePair(certFile, keyFile, der, key); err != nil {
		return nil, nil, err
	}
	ca, err := x509.ParseCertificate(der)
	return ca, key, err
}

// issue makes a certificate. A name is for people; a coordinator serves and calls, everybody else calls only.
func issue(dir string, ca *x509.Certificate, caKey crypto.Signer, role Role, name string, hosts []string,
	now time.Time) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make %s key: %w", role, err)
	}
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: "gram " + string(role)},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certLifetime),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		URIs:        []*url.URL{roleURI(role)},
	}
	if name != "" {
		template.Subject.CommonName += " " + name
	}
	if role == RoleWorker {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := sign(template, ca, key.Public(), caKey)
	if err != nil {
		return err
	}
	return writePair(filepath.Join(dir, string(role)+".pem"), filepath.Join(dir, string(role)+"-key.pem"), der, key)
}

func roleURI(role Role) *url.URL {
	return &url.URL{Scheme: "gram", Host: "role", Path: "/" + string(role)}
}

func sign(template, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("draw serial number: %w", err)
	}
	template.SerialNumber = serial
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		return nil, fmt.Errorf("sign certificate of %s: %w", template.Subject.CommonName, err)
	}
	return der, nil
}

func writePair(certFile, keyFile string, der []byte, key *ecdsa.PrivateKey) error {
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("encode key: %w", err)
	}
	// The key first: an authority's certificate without its key would stop the next start.
	if err := WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
		0o600); err != nil {
		return fmt.Errorf("write key: %w", err)
	}
	if err := WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644); err != nil {
		return fmt.Errorf("write certificate: %w", err)
	}
	return nil
}

func load(dir string, ca *x509.Certificate) (*Identity, error) {
	name := filepath.Join(dir, string(RoleCoordinator))
	pair, err := tls.LoadX509KeyPair(name+".pem", name+"-key.pem")
	if err != nil {
		return nil, fmt.Errorf("load certificate: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(ca)
	caPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Raw})
	return &Identity{CAPEM: caPEM, pool: pool, cert: pair}, nil
}
