package s3_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/s3"
)

func TestAddressesWithoutStores(t *testing.T) {
	for address, want := range map[string][2]bool{ // refused: as it is, declared local
		"93.184.216.34": {false, false}, "10.0.0.5": {false, false}, "192.168.1.1": {false, false},
		"2001:db8::1": {false, false}, "fd12::1": {false, false},
		"127.0.0.1": {true, false}, "127.8.8.8": {true, false}, "::1": {true, false}, "::ffff:127.0.0.1": {true, false},
		"64:ff9b::7f00:1": {true, false},
		"169.254.169.254": {true, true}, "169.254.170.2": {true, true}, "::ffff:169.254.169.254": {true, true},
		"64:ff9b::a9fe:a9fe": {true, true},
		"fe80::1":            {true, true}, "fe80::1%eth0": {true, true}, "fd00:ec2::254": {true, true},
		"100.100.100.200": {true, true}, "168.63.129.16": {true, true},
		"0.0.0.0": {true, true}, "::": {true, true}, "224.0.0.1": {true, true}, "ff02::1": {true, true},
	} {
		ip := netip.MustParseAddr(address)
		if got := [2]bool{s3.Forbidden(ip, false) != "", s3.Forbidden(ip, true) != ""}; got != want {
			t.Errorf("%s: refused %v, want %v", address, got, want)
		}
	}
}

// A name that leads to this machine is checked when it is resolved, and nothing is sent.
func TestANameThatLeadsHere(t *testing.T) {
	clearEnv(t)
	asked := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Path }))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	name := "store.localhost" // RFC 6761: loopback; else this machine's own name may be
	if addresses, err := net.DefaultResolver.LookupHost(t.Context(), name); err != nil || len(addresses) == 0 ||
		!net.ParseIP(addresses[0]).IsLoopback() {
		if name, err = os.Hostname(); err != nil {
			t.Fatal(err)
		}
		addresses, err := net.DefaultResolver.LookupHost(t.Context(), name)
		if err != nil || !net.ParseIP(addresses[0]).IsLoopback() {
			t.Skipf("no name but localhost leads to this machine: %v %v", addresses, err)
		}
	}
	cfg := s3.Config{Bucket: "bucket", Endpoint: "http://" + name + ":" + port, AccessKey: "a", SecretKey: "s"}
	for op, err := range everyCall(t.Context(), openStore(t, cfg)) {
		if !errors.Is(err, objstore.ErrInvalidURI) || !strings.Contains(err.Error(), "declare the store local") {
			t.Errorf("%s: %v", op, err)
		}
	}
	if len(asked) != 0 {
		t.Fatalf("the server was asked for %s", <-asked)
	}
	cfg.Local = true
	for range everyCall(t.Context(), openStore(t, cfg)) {
		continue
	}
	if len(asked) == 0 {
		t.Error("declared local, it was not asked")
	}
}

func TestMetadataAsAnEndpoint(t *testing.T) {
	clearEnv(t)
	for _, host := range []string{"169.254.169.254", "[fd00:ec2::254]", "[fe80::1]"} {
		for op, err := range everyCall(t.Context(),
			openStore(t, s3.Config{Bucket: "bucket", Endpoint: "http://" + host, AccessKey: "a", SecretKey: "s",
				Local: true})) {
			if !errors.Is(err, objstore.ErrInvalidURI) {
				t.Errorf("%s, %s: %v", host, op, err)
			}
		}
	}
}
