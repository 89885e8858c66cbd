package pki

import (
	"crypto/tls"
	"time"
)

// Certificate is what the identity shows to its peers.
func (id *Identity) Certificate() tls.Certificate { return id.certificate() }

// IssueRole makes the identity in dir one of another role.
func IssueRole(dir string, role Role, now time.Time) (tls.Certificate, error) {
	ca, key, err := loadOrCreateCA(dir, now)
	if err != nil {
		return tls.Certificate{}, err
	}
	if err := issue(dir, ca, key, role, "", []string{"127.0.0.1"}, now); err != nil {
		return tls.Certificate{}, err
	}
	name := dir + "/" + string(role)
	return tls.LoadX509KeyPair(name+".pem", name+"-key.pem")
}

// The times that rule renewal.
const (
	CertLifetime = certLifetime
	RenewBefore  = renewBefore
)
