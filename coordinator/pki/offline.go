package pki

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ErrExists: the file is there already; an authority is never replaced in silence.
var ErrExists = errors.New("there already")

// Init makes an authority in dir.
func Init(dir string, now time.Time) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make certificate directory: %w", err)
	}
	for _, name := range []string{caFile, caKeyFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%s: %w", filepath.Join(dir, name), ErrExists)
		}
	}
	_, _, err := loadOrCreateCA(dir, now)
	return err
}

// Issue makes a coordinator's certificate for the hosts in dir, beside the authority's, with
// the authority whose key is in authority. That key stays where it is.
func Issue(authority, dir string, hosts []string, now time.Time) error {
	for _, host := range hosts {
		if err := CheckHost(host); err != nil {
			return err
		}
	}
	return issueTo(authority, dir, RoleCoordinator, "", hosts, now)
}

// IssueWorker makes a worker's certificate in dir, as Issue does: worker.pem and its key. The name is for people.
func IssueWorker(authority, dir, name string, now time.Time) error {
	return issueTo(authority, dir, RoleWorker, name, nil, now)
}

func issueTo(authority, dir string, role Role, name string, hosts []string, now time.Time) error {
	for _, name := range []string{caFile, caKeyFile} {
		if _, err := os.Stat(filepath.Join(authority, name)); err != nil {
			return fmt.Errorf("the authority in %s: %w", authority, err)
		}
	}
	ca, key, err := loadOrCreateCA(authority, now)
	if err != nil {
		return err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Raw})
	old, err := os.ReadFile(filepath.Join(dir, caFile))
	switch {
	case err == nil && string(old) != string(text):
		return fmt.Errorf("%s is another authority's: %w", filepath.Join(dir, caFile), ErrExists)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("read certificate: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make certificate directory: %w", err)
	}
	if err := issue(dir, ca, key, role, name, hosts, now); err != nil {
		return err
	}
	if old != nil {
		return nil
	}
	if err := WriteFile(filepath.Join(dir, caFile), text, 0o644); err != nil {
		return fmt.Errorf("write certificate: %w", err)
	}
	return nil
}

// IssuedElsewhere reports whether dir holds an authority's certificate without its key: then
// the certificate beside it was made by Issue, for the names that somebody chose.
func IssuedElsewhere(dir string) (bool, error) {
	if _, err := os.Stat(filepath.Join(dir, caKeyFile)); !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	_, err := os.Stat(filepath.Join(dir, caFile))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// loadIssued loads an identity whose authority's key is elsewhere.
func loadIssued(dir string, hosts []string, now time.Time, err error) (*Identity, error) {
	if err != nil {
		return nil, fmt.Errorf("load certificate authority: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(dir, caFile))
	if err != nil {
		return nil, fmt.Errorf("load certificate authority: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("load certificate authority: %s holds no PEM certificate", filepath.Join(dir, caFile))
	}
	ca, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("load certificate authority: %s: %w", filepath.Join(dir, caFile), err)
	}
	identity, err := load(dir, ca)
	if err == nil {
		err = identity.flaw(hosts, now)
	}
	if err != nil {
		return nil, fmt.Errorf("%w; the authority's key %s is not here to make another certificate: put the key back, or issue one where it is (`gram pki issue`)",
			err, filepath.Join(dir, caKeyFile))
	}
	return identity, nil
}
