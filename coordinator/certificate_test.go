package coordinator

import (
	"context"
	"crypto/tls"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/pki"
)

// shown is the serial number of the certificate that a port shows.
func shown(t *testing.T, address string, shows ...tls.Certificate) string {
	t.Helper()
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, Certificates: shows})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.String()
}

// A certificate that is put in place is shown by both ports without a restart; one that is of no use is not.
func TestCertificatesAreTakenUp(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t.TempDir())
	cfg.ListenAddr, cfg.limits.Refresh = "127.0.0.1:0", 10*time.Millisecond
	authority, own := t.TempDir(), filepath.Join(cfg.DataDir, "pki")
	names := []string{"localhost", "127.0.0.1", "::1"}
	if err := errors.Join(pki.Init(authority, time.Now()), pki.Issue(authority, own, names, time.Now())); err != nil {
		t.Fatal(err)
	}
	c := startTest(t, cfg)
	first := shown(t, c.Addr())
	for name, spoil := range map[string]func() error{
		"of another name": func() error { return pki.Issue(authority, own, []string{"elsewhere.example"}, time.Now()) },
		"expired": func() error {
			return pki.Issue(authority, own, names,
				time.Now().Add(-2*365*24*time.Hour))
		},
		"of another authority": func() error {
			other := t.TempDir()
			text, err := os.ReadFile(filepath.Join(own, CAFile))
			return errors.Join(err, os.Remove(filepath.Join(own, CAFile)), pki.Init(other, time.Now()),
				pki.Issue(other, own, names, time.Now()), os.WriteFile(filepath.Join(own, CAFile), text, 0o600))
		},
		"no more there": func() error { return os.Remove(filepath.Join(own, "coordinator.pem")) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if _, err := c.identity.Refresh(time.Now()); err == nil {
			t.Errorf("a certificate that is %s was taken up", name)
		}
	}
	if now := shown(t, c.Addr()); now != first {
		t.Error("a certificate of no use is shown")
	}
	if err := pki.Issue(authority, own, names, time.Now()); err != nil {
		t.Fatal(err)
	}
	second, err := tls.LoadX509KeyPair(filepath.Join(own, "coordinator.pem"), filepath.Join(own, "coordinator-key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(patience)
	for shown(t, c.Addr()) == first {
		if time.Now().After(deadline) {
			t.Fatal("the new certificate is not shown")
		}
	}
	if shown(t, c.RaftAddr(), second) == first {
		t.Error("the raft port shows the old certificate")
	}
}

// A member with a certificate of another authority is told so, and stops trying.
func TestJoiningAForeignAuthorityFailsAtOnce(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t.TempDir())
	cfg.ListenAddr = "127.0.0.1:0"
	c := startTest(t, cfg)
	foreign, joining := t.TempDir(), testConfig(t.TempDir())
	if err := errors.Join(pki.Init(foreign, time.Now()),
		pki.Issue(foreign, filepath.Join(joining.DataDir, "pki"), []string{"localhost", "127.0.0.1", "::1"},
			time.Now())); err != nil {
		t.Fatal(err)
	}
	joining.Join, joining.JoinToken = []string{c.Addr()}, c.AdminToken()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	other, err := Start(ctx, joining)
	if err == nil {
		stopTest(t, other)
	}
	if !errors.Is(err, ErrJoin) || !strings.Contains(err.Error(), "gram pki issue") {
		t.Errorf("joined with %v", err)
	}
}
