package gate_test

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/pki"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// callerOf returns the caller that a service sees.
func callerOf(t *testing.T, req *http.Request, wrap func(http.Handler) http.Handler) (caller gate.Caller) {
	t.Helper()
	rec := httptest.NewRecorder()
	service := func(_ http.ResponseWriter, r *http.Request) { caller = gate.CallerOf(r.Context()) }
	wrap(http.HandlerFunc(service)).ServeHTTP(rec, req)
	if rec.Code != http.StatusOK {
		t.Fatalf("refused with %d", rec.Code)
	}
	return caller
}

// A service learns its caller's token, scope and certificate. A certificate is known by its key, since a worker's id is
// bound to the key; what a client writes of it into the headers is ignored.
func TestAServiceLearnsItsCaller(t *testing.T) {
	var tokens records
	token := tokens.put(gate.ScopeWorker, 0)
	g := gate.New(gate.Policy{Lookup: tokens.lookup, Now: time.Now})
	keyOf := func(key string) string {
		sum := sha256.Sum256([]byte(key))
		return hex.EncodeToString(sum[:])
	}
	shown := func(keys ...string) *tls.ConnectionState {
		var with tls.ConnectionState
		for _, key := range keys {
			role := &url.URL{Scheme: "gram", Host: "role", Path: "/worker"}
			one := &x509.Certificate{URIs: []*url.URL{role}, RawSubjectPublicKeyInfo: []byte(key)}
			with.PeerCertificates = append(with.PeerCertificates, one)
		}
		return &with
	}
	for name, c := range map[string]struct {
		tls  *tls.ConnectionState
		role pki.Role
		key  string
	}{
		"no TLS":                            {nil, "", ""},
		"TLS without a certificate":         {shown(), "", ""},
		"a certificate":                     {shown("one"), pki.RoleWorker, keyOf("one")},
		"another":                           {shown("two"), pki.RoleWorker, keyOf("two")},
		"a certificate and its authority's": {shown("one", "two"), pki.RoleWorker, keyOf("one")},
	} {
		req := request(gramv1connect.WorkerServiceLeaseProcedure, token)
		req.TLS = c.tls
		req.Header.Set(gate.RoleHeader, "coordinator")
		req.Header.Set(gate.KeyHeader, "forged")
		want := gate.Caller{TokenID: token.ID, Scope: gate.ScopeWorker, Role: c.role, Key: c.key}
		if got := callerOf(t, req, g.Wrap); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// Another member hands a call on: the service learns what that member saw of the caller, not the member's own
// certificate.
func TestACarriedCallKeepsItsCaller(t *testing.T) {
	var tokens records
	token := tokens.put(gate.ScopeWorker, 0)
	g := gate.New(gate.Policy{Lookup: tokens.lookup, Now: time.Now})
	req := request(gramv1connect.WorkerServiceLeaseProcedure, token)
	req.Header.Set(gate.RoleHeader, "worker")
	req.Header.Set(gate.KeyHeader, "abcd")
	req.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{{RawSubjectPublicKeyInfo: []byte(
		"a member's")}}}
	want := gate.Caller{TokenID: token.ID, Scope: gate.ScopeWorker, Role: pki.RoleWorker, Key: "abcd"}
	if got := callerOf(t, req, g.WrapCarried); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
