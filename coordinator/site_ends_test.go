package coordinator

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gram-compute/gram/coordinator/gate"
)

// A browser that watches a job by a follower may go, its token may be revoked, and the leader may end: each ends one
// answer, and no process.
func TestLiveByAFollowerEnds(t *testing.T) {
	q := &quorum{T: t, members: make(map[string]*Coordinator)}
	q.authorise()
	for i := range 2 {
		id := fmt.Sprint("c", i+1)
		if _, err := q.start(id, t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	q.awaitVotes(2)
	submitTest(t, q.leader(), "a")
	follower := q.follower()
	client := clientShowing(t, follower)
	watch := func(ctx context.Context, token gate.Token) (*http.Response, *bufio.Scanner) {
		t.Helper()
		var res *http.Response
		q.poll("the follower to know the token", func() bool {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+follower.Addr()+"/jobs/a/live", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.AddCookie(&http.Cookie{Name: gate.SecureCookie, Value: token.Reveal()})
			if res, err = client.Do(req); err != nil {
				t.Fatal(err)
			}
			if res.StatusCode != http.StatusOK {
				res.Body.Close()
			}
			return res.StatusCode == http.StatusOK
		})
		lines := bufio.NewScanner(res.Body)
		if !lines.Scan() || lines.Text() != "event: piece" {
			t.Fatalf("%d %q %v", res.StatusCode, lines.Text(), lines.Err())
		}
		return res, lines
	}
	token := makeToken(t, q.leader(), gate.ScopeRead, 0)
	ctx, cancel := context.WithCancel(t.Context())
	res, _ := watch(ctx, token) // a tab that is closed
	cancel()
	res.Body.Close()
	res, lines := watch(t.Context(), token)
	defer res.Body.Close()
	revokeToken(t, q.leader(), token.ID)
	for lines.Scan() { // until it ends
	}
	token = makeToken(t, q.leader(), gate.ScopeRead, 0)
	res, lines = watch(t.Context(), token)
	defer res.Body.Close()
	q.stop(q.leader().cfg.NodeID)
	for lines.Scan() { // until it ends
	}
}

// Browsers leave tabs out of what they are sent to.
func TestLoginGoesNowhereElse(t *testing.T) {
	c := startTest(t, testConfig(""))
	b := &browser{T: t, c: c}
	token := makeToken(t, c, gate.ScopeRead, 0)
	for _, next := range []string{"/\t/evil.example/", "\t//evil.example", "/%zz\t", "/\x7f", "/\u202e"} {
		res := b.ask("POST", "/login", url.Values{"token": {token.Reveal()}, "next": {next}})
		if got := res.Header.Get("Location"); got != "/jobs" {
			t.Errorf("%q: sent to %q", next, got)
		}
	}
	text := b.text(b.ask("GET", "/login?next=%2F%09%2Fevil.example%2F", nil))
	if strings.Contains(text, "evil") {
		t.Error("the login carries it")
	}
}

type closer struct{ *bytes.Buffer }

func (closer) Close() error { return nil }

// What another site begins is refused and written down, though the browser shows no other token than its cookie.
func TestForgedPageIsWrittenDown(t *testing.T) {
	var trail bytes.Buffer
	cfg := testConfig("")
	cfg.AuditTo = closer{&trail}
	c := startTest(t, cfg)
	b := &browser{T: t, c: c}
	b.logIn(makeToken(t, c, gate.ScopeSubmit, 0), "")
	trail.Reset()
	if res := b.ask("POST", "/jobs/a/cancel", url.Values{}, "Sec-Fetch-Site", "cross-site"); res.StatusCode != 403 {
		t.Error(res.StatusCode)
	}
	if !strings.Contains(trail.String(), "/jobs/a/cancel") {
		t.Errorf("no line: %q", trail.String())
	}
}

// A job that is shown by a reference is cancelled as itself; what ends work does not wait for the rate of its token.
func TestCancelAtAnyRate(t *testing.T) {
	cfg := testConfig("")
	cfg.CallRate = 0.5
	c := startTest(t, cfg)
	submitTest(t, c, "a")
	b := &browser{T: t, c: c}
	b.logIn(makeToken(t, c, gate.ScopeSubmit, 0), "")
	for range 5 {
		b.ask("GET", "/jobs", nil)
	}
	if res := b.ask("GET", "/jobs", nil); res.StatusCode != 429 {
		t.Errorf("the rate is not spent: %d", res.StatusCode)
	}
	for _, method := range []string{"GET", "POST"} {
		res := b.ask(method, "/jobs/a/cancel", nil)
		if want := map[string]int{"GET": 429, "POST": 403}[method]; res.StatusCode != want {
			t.Errorf("%s: %d, want %d", method, res.StatusCode, want)
		}
	}
}

// What is no UTF-8, or cannot be read, is the fault of the one who asks.
func TestPagesOfNoUTF8(t *testing.T) {
	c := startTest(t, testConfig(""))
	b := &browser{T: t, c: c}
	b.logIn(makeToken(t, c, gate.ScopeSubmit, 0), "")
	for _, path := range []string{"/jobs/%ff", "/jobs?from=%ff", "/jobs/%ff/cancel", "/jobs/%ff/live",
		"/jobs?state=%zz", "/jobs?state=failed;name=a", "/models?kind=%ff&x=%zz"} { // nothing is left out of a filter
		if res := b.ask("GET", path, nil); res.StatusCode != 400 {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
}

// Another host of the same domain can add a cookie of the same name: which is the user's is not to be told.
func TestTwoCookies(t *testing.T) {
	c := startTest(t, testConfig(""))
	b := &browser{T: t, c: c}
	token := makeToken(t, c, gate.ScopeRead, 0)
	b.logIn(token, "")
	if res := b.ask("GET", "/jobs", nil, "Cookie", gate.SiteCookie+"="+token.Reveal()); res.StatusCode != 303 {
		t.Errorf("two cookies: %d", res.StatusCode)
	}
}
