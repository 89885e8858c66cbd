package coordinator

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/pki"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// makeToken has the cluster take a token; with a time to live that is over when this returns, if any.
func makeToken(t *testing.T, c *Coordinator, scope gate.Scope, life time.Duration) gate.Token {
	t.Helper()
	token := gate.NewToken()
	res, err := c.services.Tokens.CreateToken(t.Context(), connect.NewRequest(&pb.CreateTokenRequest{
		Id: token.ID, SecretSha256: token.SecretSHA256(), Scope: string(scope), TtlMs: life.Milliseconds(),
	}))
	if err != nil {
		t.Fatal(err)
	}
	if life > 0 {
		timer := time.NewTimer(time.Until(time.UnixMilli(res.Msg.GetToken().GetExpiresUnixMs() + 1)))
		<-timer.C
	}
	return token
}

func revokeToken(t *testing.T, c *Coordinator, id string) {
	t.Helper()
	if _, err := c.services.Tokens.RevokeToken(t.Context(),
		connect.NewRequest(&pb.RevokeTokenRequest{Id: id})); err != nil {
		t.Fatal(err)
	}
}

// clientShowing speaks TLS to a coordinator's API, with a certificate or without.
func clientShowing(t *testing.T, c *Coordinator, shows ...tls.Certificate) *http.Client {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.CAPEM())
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: shows},
		ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// ask makes a call and returns its status; -1 when the connection was refused.
func ask(t *testing.T, client *http.Client, url, authorization string) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	res, err := client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			t.Fatalf("%s: %v", url, err)
		}
		return -1
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode
}

// covering is written by hand, apart from gate.Scope.Covers.
var covering = map[gate.Scope][]gate.Scope{
	gate.ScopeRead:   {gate.ScopeRead, gate.ScopeSubmit, gate.ScopeAdmin},
	gate.ScopeSubmit: {gate.ScopeSubmit, gate.ScopeAdmin},
	gate.ScopeAdmin:  {gate.ScopeAdmin},
	gate.ScopeWorker: {gate.ScopeWorker},
}

// matrix is a coordinator with a token of every kind, and clients with every kind of certificate.
type matrix struct {
	*testing.T
	url     string
	good    map[gate.Scope]string // Authorization headers
	bad     map[string]string
	clients map[string]*http.Client
}

func newMatrix(t *testing.T) *matrix {
	cfg := testConfig(t.TempDir())
	cfg.ListenAddr, cfg.WorkerCertificates = "127.0.0.1:0", true
	cfg.limits.Wasted = 1 << 20 // most of its calls are refused
	c := startTest(t, cfg)
	strange := t.TempDir()
	if _, err := pki.LoadOrCreate(filepath.Join(strange, "pki"), nil, time.Now()); err != nil {
		t.Fatal(err)
	}
	m := &matrix{T: t, url: "https://" + c.Addr(), good: map[gate.Scope]string{},
		bad: map[string]string{"none": "", "malformed": "Bearer x"}}
	for scope := range covering {
		m.good[scope] = "Bearer " + makeToken(t, c, scope, 0).Reveal()
		m.bad["expired "+string(scope)] = "Bearer " + makeToken(t, c, scope, time.Millisecond).Reveal()
		m.bad["unknown "+string(scope)] = "Bearer " + gate.NewToken().Reveal()
		revoked := makeToken(t, c, scope, 0)
		revokeToken(t, c, revoked.ID)
		m.bad["revoked "+string(scope)] = "Bearer " + revoked.Reveal()
		m.bad["wrong "+string(scope)] = m.good[scope][:len(m.good[scope])-4] + "AAAA"
	}
	m.clients = map[string]*http.Client{
		"no certificate":       clientShowing(t, c),
		"a worker":             clientShowing(t, c, certificate(t, cfg.DataDir, "worker")),
		"a coordinator":        clientShowing(t, c, certificate(t, cfg.DataDir, "coordinator")),
		"a role of no meaning": clientShowing(t, c, certificate(t, cfg.DataDir, "admin")),
		"a stranger's worker":  clientShowing(t, c, certificate(t, strange, "worker")),
	}
	return m
}

// want is the status that a call must have where it is denied; 0 where it must be let in.
func (m *matrix) want(need, has gate.Scope, client string) int {
	covered := false
	for _, scope := range covering[need] {
		covered = covered || scope == has
	}
	worker := client == "a worker"
	switch {
	case client == "a stranger's worker":
		return -1
	case client == "a role of no meaning":
		return http.StatusForbidden
	case has == "":
		return http.StatusUnauthorized
	case need == "nothing":
		return http.StatusNotFound
	case !covered, worker != (need == gate.ScopeWorker):
		return http.StatusForbidden
	}
	return 0
}

func (m *matrix) check(path string, need, has gate.Scope, token, authorization, client string) {
	m.Helper()
	got, want := ask(m.T, m.clients[client], m.url+path, authorization), m.want(need, has, client)
	let := got != http.StatusUnauthorized && got != http.StatusForbidden && got != -1
	if want == 0 && !let || want != 0 && got != want {
		m.Errorf("%s, token %s, %s: status %d, want %d", path, token, client, got, want)
	}
}

// Over a real port: every route, every token that is not enough, every certificate. gate_test.go holds the table
// against the services, so no route is left out here.
func TestEveryRouteOverTLS(t *testing.T) {
	t.Parallel()
	m := newMatrix(t)
	for path, need := range gate.Routes {
		for client := range m.clients {
			for token, authorization := range m.bad {
				m.check(path, need, "", token, authorization, client)
			}
			for scope, authorization := range m.good {
				if path == gramv1connect.WorkerServiceLeaseProcedure && m.want(need, scope, client) == 0 {
					continue // tested where there are workers
				}
				m.check(path, need, scope, string(scope), authorization, client)
			}
		}
	}
	for path, need := range gate.Pages { // with POST they are no routes; pages_test.go reads them
		for client := range m.clients {
			m.check(path, "nothing", gate.ScopeAdmin, string(need), m.good[gate.ScopeAdmin], client)
		}
	}
	for _, path := range []string{"/", "/gram.v1.PeerService/Health", "/gram.v1.JobService/None", "/debug/pprof/"} {
		for client := range m.clients {
			for scope, authorization := range m.good {
				m.check(path, "nothing", scope, string(scope), authorization, client)
			}
			m.check(path, "nothing", "", "none", "", client)
		}
	}
}
