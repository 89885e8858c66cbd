package pki

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"slices"
)

// ServerConfig is for the API: TLS 1.3, clients prove themselves with tokens.
func (id *Identity) ServerConfig() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{id.cert}}
}

// PeerConfig is for a port between members: both sides show a certificate of the
// cluster's authority with the role.
func (id *Identity) PeerConfig(role Role) *tls.Config {
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{id.cert},
		RootCAs:      id.pool,
		ClientCAs:    id.pool,
		ClientAuth:   tls.RequireAndVerifyClientCert,
		VerifyConnection: func(cs tls.ConnectionState) error {
			return checkRole(cs.PeerCertificates, role)
		},
	}
}

func checkRole(chain []*x509.Certificate, role Role) error {
	want := roleURI(role).String()
	if len(chain) == 0 {
		return fmt.Errorf("%w: none shown, %s wanted", ErrRole, want)
	}
	names := make([]string, len(chain[0].URIs))
	for i, u := range chain[0].URIs {
		names[i] = u.String()
	}
	if !slices.Contains(names, want) {
		return fmt.Errorf("%w: %v shown, %s wanted", ErrRole, names, want)
	}
	return nil
}

// ClientConfig is for calls to the API of the cluster's members.
func (id *Identity) ClientConfig() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: id.pool}
}
