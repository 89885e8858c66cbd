package pki

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
)

// ServerConfig is for the API: TLS 1.3, clients prove themselves with tokens. A certificate that a client shows
// besides must be the authority's. A handshake uses the certificate that is the newest when it begins.
func (id *Identity) ServerConfig(protocols ...string) *tls.Config {
	now := func() *tls.Config {
		return &tls.Config{
			MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{id.certificate()}, NextProtos: protocols,
			ClientCAs: id.pool, ClientAuth: tls.VerifyClientCertIfGiven,
		}
	}
	config := now()
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return now(), nil }
	return config
}

// PeerConfig is for a port between members: both sides show a certificate of the
// cluster's authority with the role, this side the newest it has when PeerConfig is called.
func (id *Identity) PeerConfig(role Role) *tls.Config {
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{id.certificate()},
		RootCAs:      id.pool,
		ClientCAs:    id.pool,
		ClientAuth:   tls.RequireAndVerifyClientCert,
		VerifyConnection: func(cs tls.ConnectionState) error {
			return checkRole(cs.PeerCertificates, role)
		},
	}
}

func checkRole(chain []*x509.Certificate, role Role) error {
	if len(chain) == 0 {
		return fmt.Errorf("%w: none shown, %s wanted", ErrRole, roleURI(role))
	}
	shown, err := RoleOf(chain[0])
	if err == nil && shown != role {
		err = fmt.Errorf("%w: %s shown", ErrRole, roleURI(shown))
	}
	if err != nil {
		return fmt.Errorf("%w, %s wanted", err, roleURI(role))
	}
	return nil
}

// RoleOf is the role that a certificate has: exactly one of those there are, or an error that wraps ErrRole.
func RoleOf(certificate *x509.Certificate) (Role, error) {
	names := make([]string, len(certificate.URIs))
	for i, u := range certificate.URIs {
		names[i] = u.String()
	}
	for _, role := range []Role{RoleCoordinator, RoleWorker} {
		if len(names) == 1 && names[0] == roleURI(role).String() {
			return role, nil
		}
	}
	return "", fmt.Errorf("%w: %v shown", ErrRole, names)
}

// ClientConfig is for calls to the API of the cluster's members.
func (id *Identity) ClientConfig() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: id.pool}
}
