package coordinator

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"slices"
	"testing"
)

func TestCertificateNames(t *testing.T) {
	t.Parallel()
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		cfg   Config
		names []string
		own   bool
	}{
		"loopback": {Config{ListenAddr: "127.0.0.1:1", RaftAddr: "localhost:2"},
			[]string{"localhost", "127.0.0.1", "::1"}, false},
		"one address": {Config{ListenAddr: "192.0.2.7:1", RaftAddr: "m.example.org:2"},
			[]string{"192.0.2.7", "m.example.org", "::1"}, false},
		"every address": {Config{ListenAddr: "0.0.0.0:1", RaftAddr: "127.0.0.1:2"}, []string{"127.0.0.1"}, true},
		"every IPv6":    {Config{ListenAddr: "[::]:1"}, []string{"127.0.0.1"}, true},
		"no host":       {Config{RaftAddr: ":1"}, []string{"localhost"}, true},
		"reached elsewhere": {Config{RaftAddr: "127.0.0.1:1", AdvertiseAddr: "m.example.org:1"},
			[]string{"127.0.0.1", "m.example.org"}, false},
		"a name in advance": {Config{RaftAddr: "127.0.0.1:1", Names: []string{"gram.example.org"}},
			[]string{"gram.example.org", "localhost"}, false},
	} {
		names, err := certificateNames(c.cfg, true)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range c.names {
			if !slices.Contains(names, want) {
				t.Errorf("%s: no %s in %v", name, want, names)
			}
		}
		if got := slices.Contains(names, own); got != c.own && own != "localhost" {
			t.Errorf("%s: the host name in it: %v, want %v", name, got, c.own)
		}
	}
	// The issuer of a certificate chose its names: a container's address is not known to them.
	if names, err := certificateNames(Config{ListenAddr: ":1", AdvertiseAddr: "m.example.org:1"}, false); err != nil ||
		len(names) != 4 || slices.Contains(names, own) {
		t.Errorf("issued: %v, %v", names, err)
	}
	for _, wrong := range []Config{{ListenAddr: "nowhere"}, {Names: []string{""}},
		{Names: []string{"gram.example.org:7480"}}, {Names: []string{"https://gram"}}} {
		if names, err := certificateNames(wrong, true); err == nil {
			t.Errorf("%+v: %v", wrong, names)
		}
	}
}

// A certificate made for the names is what a client meets.
func TestCertificateCoversItsNames(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t.TempDir())
	cfg.ListenAddr, cfg.Names = "0.0.0.0:0", []string{"gram.example.org", "192.0.2.7"}
	c := startTest(t, cfg)
	own, err := ownNames()
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.CAPEM())
	_, port, err := net.SplitHostPort(c.Addr())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(own, cfg.Names...) {
		conn, err := tls.Dial("tcp", net.JoinHostPort("127.0.0.1", port), &tls.Config{RootCAs: roots, ServerName: name})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		conn.Close()
	}
}
