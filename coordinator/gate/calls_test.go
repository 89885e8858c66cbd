package gate_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// records is a set of tokens that changes.
type records struct {
	mu sync.Mutex
	of map[string]gate.Record
}

func (r *records) lookup(id string) (gate.Record, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	record, ok := r.of[id]
	return record, ok
}

func (r *records) put(scope gate.Scope, expires int64) gate.Token {
	r.mu.Lock()
	defer r.mu.Unlock()
	token := gate.NewToken()
	if r.of == nil {
		r.of = map[string]gate.Record{}
	}
	r.of[token.ID] = gate.Record{SecretSHA256: token.SecretSHA256(), Scope: scope, ExpiresAt: expires}
	return token
}

func (r *records) revoke(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of, id)
}

func request(path string, token gate.Token) *http.Request {
	req := httptest.NewRequest(http.MethodPost, path, nil)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token.Reveal())
	return req
}

// open begins a call and returns what ends it, and a channel with the reason why it ended.
func open(g *gate.Gate, path string, token gate.Token) (hangUp func(), ended <-chan error) {
	begun, reasons := make(chan struct{}), make(chan error, 1)
	release := make(chan struct{})
	handler := g.Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		select {
		case <-r.Context().Done():
			reasons <- context.Cause(r.Context())
		case <-release:
			reasons <- nil
		}
	}))
	go handler.ServeHTTP(httptest.NewRecorder(), request(path, token))
	<-begun
	return func() { close(release) }, reasons
}

func TestRevokedTokensEndTheirCalls(t *testing.T) {
	var tokens records
	g := gate.New(gate.Policy{Lookup: tokens.lookup, Now: time.Now})
	revoked, kept := tokens.put(gate.ScopeRead, 0), tokens.put(gate.ScopeRead, 0)
	watch := gramv1connect.JobServiceWatchProcedure
	_, ended := open(g, watch, revoked)
	hangUp, other := open(g, watch, kept)
	tokens.revoke(revoked.ID)
	g.Recheck()
	if err := <-ended; !errors.Is(err, gate.ErrUnauthenticated) {
		t.Errorf("ended with %v", err)
	}
	hangUp()
	if err := <-other; err != nil {
		t.Errorf("the other token's call ended with %v", err)
	}
	admin := tokens.put(gate.ScopeAdmin, 0) // what revokes its own token is answered
	hangUp, ended = open(g, gramv1connect.TokenServiceRevokeTokenProcedure, admin)
	tokens.revoke(admin.ID)
	g.Recheck()
	hangUp()
	if err := <-ended; err != nil {
		t.Errorf("ended with %v", err)
	}
	brief := tokens.put(gate.ScopeRead, time.Now().Add(50*time.Millisecond).UnixMilli())
	_, ended = open(g, watch, brief)
	if err := <-ended; !errors.Is(err, gate.ErrUnauthenticated) {
		t.Errorf("an expired token's call ended with %v", err)
	}
}

func status(g *gate.Gate, req *http.Request) (code int, header http.Header) {
	rec := httptest.NewRecorder()
	g.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(rec, req)
	return rec.Code, rec.Header()
}

func TestCallsOfATokenAreMetered(t *testing.T) {
	var tokens records
	now := time.UnixMilli(1_000_000)
	g := gate.New(gate.Policy{Lookup: tokens.lookup, Now: func() time.Time { return now }, Rate: 2})
	busy, other, fleet := tokens.put(gate.ScopeSubmit, 0), tokens.put(gate.ScopeSubmit, 0),
		tokens.put(gate.ScopeWorker, 0)
	calls := func(token gate.Token, path string, n int) (admitted int) {
		for range n {
			if code, _ := status(g, request(path, token)); code == http.StatusOK {
				admitted++
			}
		}
		return admitted
	}
	get, cancel := gramv1connect.JobServiceGetProcedure, gramv1connect.JobServiceCancelProcedure
	if n := calls(busy, get, 10); n != 4 {
		t.Errorf("%d of a burst of 10 were admitted, want 4", n)
	}
	code, header := status(g, request(get, busy))
	if code != http.StatusTooManyRequests || header.Get("Retry-After") != "1" {
		t.Errorf("status %d, Retry-After %q", code, header.Get("Retry-After"))
	}
	if n := calls(busy, cancel, 10); n != 10 {
		t.Errorf("%d of 10 to cancel were admitted", n)
	}
	if n := calls(other, get, 3); n != 3 {
		t.Errorf("%d calls of another token were admitted, want 3", n)
	}
	if n := calls(fleet, gramv1connect.WorkerServiceHeartbeatProcedure, 60); n != 40 {
		t.Errorf("%d of 60 calls of workers were admitted, want 40", n)
	}
	now = now.Add(time.Second)
	if n := calls(busy, get, 10); n != 2 {
		t.Errorf("%d were admitted a second later, want 2", n)
	}
	wrong, err := gate.ParseToken("gram_" + busy.ID + "_wrong")
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Second)
	calls(wrong, get, 10) // take nothing from the one who has the secret
	if n := calls(busy, get, 10); n != 2 {
		t.Errorf("%d were admitted after wrong tries, want 2", n)
	}
}

func TestOtherSitesAndNames(t *testing.T) {
	var tokens records
	g := gate.New(gate.Policy{Lookup: tokens.lookup, Now: time.Now,
		Host: func(name string) bool { return name == "gram.example" }})
	token := tokens.put(gate.ScopeAdmin, 0)
	for name, c := range map[string]struct {
		method string
		set    func(*http.Request)
		code   int
	}{
		"no browser":     {http.MethodPost, func(*http.Request) {}, http.StatusOK},
		"without a port": {http.MethodPost, func(r *http.Request) { r.Host = "gram.example" }, http.StatusOK},
		"same origin": {http.MethodPost,
			func(r *http.Request) { r.Header.Set("Origin", "https://gram.example:7480") }, http.StatusOK},
		"another origin": {http.MethodPost,
			func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, http.StatusForbidden},
		"another origin, GET": {http.MethodGet,
			func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, http.StatusForbidden},
		"another origin, DELETE": {http.MethodDelete,
			func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, http.StatusForbidden},
		"a null origin": {http.MethodPost, func(r *http.Request) { r.Header.Set("Origin", "null") },
			http.StatusForbidden},
		"cross-site": {http.MethodPost,
			func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, http.StatusForbidden},
		"a rebound name": {http.MethodPost, func(r *http.Request) { r.Host = "evil.example:7480" },
			http.StatusForbidden},
		"an address": {http.MethodPost, func(r *http.Request) { r.Host = "127.0.0.1:7480" },
			http.StatusForbidden},
	} {
		req := request(gramv1connect.JobServiceListProcedure, token)
		req.Method, req.Host = c.method, "gram.example:7480"
		c.set(req)
		code, header := status(g, req)
		if code != c.code {
			t.Errorf("%s: %d, want %d", name, code, c.code)
		}
		if header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.Contains(header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
			t.Errorf("%s: headers %v", name, header)
		}
	}
}

// Certificates narrow what a token may do, and never widen it.
func TestCertificatesNarrowTokens(t *testing.T) {
	var tokens records
	admin, worker := tokens.put(gate.ScopeAdmin, 0), tokens.put(gate.ScopeWorker, 0)
	list, lease := gramv1connect.JobServiceListProcedure, gramv1connect.WorkerServiceLeaseProcedure
	const ok, no = http.StatusOK, http.StatusForbidden
	for _, c := range []struct {
		path   string
		token  gate.Token
		role   string // "-" for no certificate
		free   int
		strict int // with WorkerCertificates
	}{
		{list, admin, "-", ok, ok}, {list, admin, "coordinator", ok, ok}, {list, admin, "worker", no, no},
		{list, admin, "operator", no, no}, {list, admin, "", no, no},
		{list, worker, "-", no, no}, {list, worker, "worker", no, no},
		{lease, worker, "-", ok, no}, {lease, worker, "worker", ok, ok}, {lease, worker, "coordinator", ok, no},
		{lease, worker, "operator", no, no},
		{lease, admin, "worker", no, no},
	} {
		for strict, want := range map[bool]int{false: c.free, true: c.strict} {
			g := gate.New(gate.Policy{Lookup: tokens.lookup, Now: time.Now, WorkerCertificates: strict})
			req := request(c.path, c.token)
			req.Header.Set(gate.RoleHeader, "worker") // believed of members only
			if c.role != "-" {
				shown := &x509.Certificate{URIs: []*url.URL{{Scheme: "gram", Host: "role", Path: "/" + c.role}}}
				req.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{shown}}
			}
			if code, _ := status(g, req); code != want {
				t.Errorf("%s, role %q, strict %v: %d, want %d", c.path, c.role, strict, code, want)
			}
		}
	}
}

// A member hands on what its gate has seen: the role goes along, the token is looked at again.
func TestCarriedCalls(t *testing.T) {
	var tokens records
	admin, worker := tokens.put(gate.ScopeAdmin, 0), tokens.put(gate.ScopeWorker, 0)
	g := gate.New(gate.Policy{Lookup: tokens.lookup, Now: time.Now, WorkerCertificates: true, Rate: 0.001})
	carried := g.WrapCarried(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, c := range []struct {
		path  string
		token gate.Token
		role  string
		code  int
	}{
		{gramv1connect.WorkerServiceLeaseProcedure, worker, "worker", http.StatusOK},
		{gramv1connect.WorkerServiceLeaseProcedure, worker, "", http.StatusForbidden},
		{gramv1connect.JobServiceListProcedure, admin, "", http.StatusOK},
		{gramv1connect.JobServiceListProcedure, admin, "", http.StatusOK}, // metered where it came in
		{gramv1connect.JobServiceListProcedure, admin, "worker", http.StatusForbidden},
		{gramv1connect.JobServiceListProcedure, gate.NewToken(), "", http.StatusUnauthorized},
	} {
		req, rec := request(c.path, c.token), httptest.NewRecorder()
		req.Header.Set(gate.RoleHeader, c.role)
		if carried.ServeHTTP(rec, req); rec.Code != c.code {
			t.Errorf("%s, role %q: %d, want %d", c.path, c.role, rec.Code, c.code)
		}
	}
}
