package pki_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/pki"
)

var (
	hosts = []string{"localhost", "127.0.0.1"}
	born  = time.Now().Truncate(time.Second)
)

func load(t *testing.T, dir string, hosts []string, now time.Time) *pki.Identity {
	t.Helper()
	id, err := pki.LoadOrCreate(dir, hosts, now)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func serial(id *pki.Identity) string { return id.Certificate().Leaf.SerialNumber.String() }

func TestIdentityStaysTheSame(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	first := load(t, dir, hosts, born)
	again := load(t, dir, hosts[:1], born.Add(time.Hour))
	if serial(first) != serial(again) || !bytes.Equal(first.CAPEM, again.CAPEM) {
		t.Error("loading made another identity")
	}
}

func TestCertificateIsRenewedByTheSameAuthority(t *testing.T) {
	for name, again := range map[string]struct {
		hosts []string
		now   time.Time
		renew bool
	}{
		"long before expiry":  {hosts, born.Add(pki.CertLifetime - pki.RenewBefore - time.Hour), false},
		"near expiry":         {hosts, born.Add(pki.CertLifetime - pki.RenewBefore + time.Hour), true},
		"after expiry":        {hosts, born.Add(2 * pki.CertLifetime), true},
		"a host was added":    {append(hosts[:2:2], "gram.example.org"), born, true},
		"an address as well":  {append(hosts[:2:2], "192.0.2.7"), born, true},
		"before it was valid": {hosts, born.Add(-2 * time.Hour), true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			first := load(t, dir, hosts, born)
			second := load(t, dir, again.hosts, again.now)
			if (serial(first) != serial(second)) != again.renew {
				t.Errorf("renewed: %v, want %v", serial(first) != serial(second), again.renew)
			}
			if !bytes.Equal(first.CAPEM, second.CAPEM) {
				t.Error("another authority")
			}
			for _, host := range again.hosts {
				if err := second.Certificate().Leaf.VerifyHostname(host); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestDamagedFiles(t *testing.T) {
	replaced := map[string]bool{"coordinator.pem": true, "coordinator-key.pem": true} // by the same authority
	for _, file := range []string{"coordinator.pem", "coordinator-key.pem", "ca.pem", "ca-key.pem"} {
		for _, damage := range []string{"missing", "empty", "another's"} {
			t.Run(file+" "+damage, func(t *testing.T) {
				dir, other := t.TempDir(), t.TempDir()
				first := load(t, dir, hosts, born)
				load(t, other, hosts, born)
				harm(t, filepath.Join(dir, file), filepath.Join(other, file), damage)
				second, err := pki.LoadOrCreate(dir, hosts, born)
				switch {
				case replaced[file] && (err != nil || !bytes.Equal(first.CAPEM, second.CAPEM)):
					t.Errorf("not replaced by the same authority: %v", err)
				case replaced[file]:
				case file == "ca-key.pem" && damage == "missing": // it may be kept elsewhere
					if err != nil || serial(first) != serial(second) {
						t.Errorf("another identity: %v", err)
					}
				case file == "ca.pem" && damage == "missing": // its key alone has vouched for nothing yet
					if err != nil || bytes.Equal(first.CAPEM, second.CAPEM) {
						t.Errorf("no new authority: %v", err)
					}
					handshake(t, second, second, nil)
				case err == nil:
					t.Error("a damaged authority was accepted or replaced in silence")
				}
			})
		}
	}
}

func harm(t *testing.T, file, other, damage string) {
	t.Helper()
	var err error
	switch damage {
	case "missing":
		err = os.Remove(file)
	case "empty":
		err = os.Truncate(file, 0)
	default:
		err = os.Rename(other, file)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Where the authority's key is not, a good certificate does, and a bad one is explained.
func TestWithoutTheAuthoritysKey(t *testing.T) {
	for name, c := range map[string]struct {
		hosts []string
		now   time.Time
		good  bool
	}{
		"good":                  {hosts, born, true},
		"soon to be renewed":    {hosts, born.Add(pki.CertLifetime - time.Hour), true},
		"expired":               {hosts, born.Add(pki.CertLifetime + time.Hour), false},
		"of another host":       {[]string{"gram.example.org"}, born, false},
		"without a certificate": {nil, born, false},
	} {
		t.Run(name, func(t *testing.T) {
			authority, dir := t.TempDir(), filepath.Join(t.TempDir(), "pki")
			if err := pki.Init(authority, born); err != nil {
				t.Fatal(err)
			}
			if err := pki.Issue(authority, dir, hosts, born); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(dir, "ca-key.pem")); err == nil {
				t.Error("the authority's key was given away")
			}
			if c.hosts == nil {
				if err := os.Remove(filepath.Join(dir, "coordinator.pem")); err != nil {
					t.Fatal(err)
				}
			}
			id, err := pki.LoadOrCreate(dir, c.hosts, c.now)
			switch {
			case c.good && err != nil:
				t.Fatal(err)
			case c.good && c.now.Equal(born):
				if err := handshake(t, id, id, nil); err != nil {
					t.Error(err)
				}
			case !c.good && (err == nil || !strings.Contains(err.Error(), "put the key back") ||
				!strings.Contains(err.Error(), "gram pki issue")):
				t.Errorf("%v does not say what to do", err)
			}
		})
	}
}

func TestIssueAndInitReplaceNoAuthority(t *testing.T) {
	first, second, dir := t.TempDir(), t.TempDir(), t.TempDir()
	if err := errors.Join(pki.Init(first, born), pki.Init(second, born), pki.Issue(first, dir, hosts, born),
		pki.Issue(first, dir, hosts, born)); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"init": pki.Init(first, born), "issue": pki.Issue(second, dir, hosts, born),
	} {
		if !errors.Is(err, pki.ErrExists) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := pki.Issue(t.TempDir(), dir, hosts, born); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without an authority: %v", err)
	}
}

func TestKeysAreForTheOwnerOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	load(t, dir, hosts, born)
	load(t, dir, hosts, born.Add(pki.CertLifetime)) // renewed
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		switch {
		case entry.IsDir():
			want = 0o700
		case !strings.HasSuffix(path, "-key.pem"):
			want = 0o644
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %v, want %v", entry.Name(), got, want)
		}
		return nil
	})
	if entries, readErr := os.ReadDir(dir); err != nil || readErr != nil || len(entries) != 4 {
		t.Errorf("%d files, want 4: %v %v", len(entries), err, readErr)
	}
}

func TestWriteFileLeavesTheOldOneWhenItFails(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	if err := os.MkdirAll(filepath.Join(name, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := pki.WriteFile(name, []byte("x"), 0o600); err == nil {
		t.Fatal("replaced a folder")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%d entries left, %v", len(entries), err)
	}
}

// handshake lets client and server meet over loopback and returns the server's error.
func handshake(t *testing.T, server, client *pki.Identity, change func(*tls.Config)) error {
	t.Helper()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", server.PeerConfig(pki.RoleCoordinator))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	served := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			err = errors.Join(conn.(*tls.Conn).Handshake(), conn.Close())
		}
		served <- err
	}()
	config := client.PeerConfig(pki.RoleCoordinator)
	if change != nil {
		change(config)
	}
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 5 * time.Second}, "tcp", listener.Addr().String(), config)
	if err == nil {
		conn.Close()
	}
	return <-served
}

func TestPeersMustShowTheRole(t *testing.T) {
	dir := t.TempDir()
	member, stranger := load(t, dir, hosts, born), load(t, t.TempDir(), hosts, born)
	worker, err := pki.IssueRole(dir, "worker", born)
	if err != nil {
		t.Fatal(err)
	}
	trusting := func(change func(*tls.Config)) func(*tls.Config) { // a client that believes any server
		return func(c *tls.Config) {
			c.InsecureSkipVerify, c.VerifyConnection = true, nil
			change(c)
		}
	}
	for name, c := range map[string]struct {
		client  *pki.Identity
		change  func(*tls.Config)
		allowed bool
	}{
		"a member":             {member, nil, true},
		"a worker":             {member, func(c *tls.Config) { c.Certificates = []tls.Certificate{worker} }, false},
		"no certificate":       {member, func(c *tls.Config) { c.Certificates = nil }, false},
		"of another authority": {stranger, trusting(func(*tls.Config) {}), false},
		"TLS 1.2 by a member": {member,
			func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS12, tls.VersionTLS12 }, false},
		"a member, server unknown": {member, trusting(func(*tls.Config) {}), true},
	} {
		if err := handshake(t, member, c.client, c.change); (err == nil) != c.allowed {
			t.Errorf("%s: %v, allowed %v", name, err, c.allowed)
		}
	}
	// The other way round: a member does not speak to a server that is no coordinator.
	other, err := pki.IssueRole(dir, "operator", born)
	if err != nil {
		t.Fatal(err)
	}
	impostor := func(c *tls.Config) { c.Certificates = []tls.Certificate{other} }
	if err := handshakeAs(t, member, impostor); !errors.Is(err, pki.ErrRole) {
		t.Errorf("a server with a certificate of no role: %v", err)
	}
	impostor = func(c *tls.Config) { c.Certificates = []tls.Certificate{worker} }
	if err := handshakeAs(t, member, impostor); err == nil {
		t.Error("a server with a worker's certificate was spoken to")
	}
}

// handshakeAs dials a server that shows another certificate and returns the client's error.
func handshakeAs(t *testing.T, member *pki.Identity, change func(*tls.Config)) error {
	t.Helper()
	config := member.PeerConfig(pki.RoleCoordinator)
	change(config)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	served := make(chan struct{})
	go func() {
		defer close(served)
		if conn, err := listener.Accept(); err == nil {
			_ = conn.(*tls.Conn).Handshake() // the client's error is the one that counts
			conn.Close()
		}
	}()
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 5 * time.Second}, "tcp", listener.Addr().String(),
		member.PeerConfig(pki.RoleCoordinator))
	if err == nil {
		conn.Close()
	}
	<-served
	return err
}
