package coordinator

import (
	"bufio"
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/web"
)

// browser asks for pages as a browser does, and follows nothing.
type browser struct {
	*testing.T
	c      *Coordinator
	cookie *http.Cookie
}

func (b *browser) ask(method, path string, form url.Values, headers ...string) *http.Response {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	req := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(form.Encode()))
	req.Header.Set("Accept", "text/html,*/*")
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if b.cookie != nil {
		req.AddCookie(b.cookie)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Cookie" {
			req.Header.Add("Cookie", headers[i+1])
			continue
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	rec := &oneFlush{httptest.NewRecorder(), cancel}
	b.c.Handler().ServeHTTP(rec, req)
	return rec.Result()
}

// oneFlush leaves after the first piece of a stream.
type oneFlush struct {
	*httptest.ResponseRecorder
	leave func()
}

func (o *oneFlush) Flush() {
	o.ResponseRecorder.Flush()
	o.leave()
}

func (b *browser) text(res *http.Response) string {
	b.Helper()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

// logIn takes the cookie of a login.
func (b *browser) logIn(token gate.Token, next string) {
	b.Helper()
	res := b.ask("POST", "/login", url.Values{"token": {token.Reveal()}, "next": {next}})
	if res.StatusCode != http.StatusSeeOther || len(res.Cookies()) != 1 {
		b.Fatalf("a login answers %d: %s", res.StatusCode, b.text(res))
	}
	b.cookie = res.Cookies()[0]
}

// The patterns of the gate are those of the pages.
func TestSiteIsListed(t *testing.T) {
	if got := slices.Sorted(maps.Keys(gate.Site)); !slices.Equal(got, web.Patterns()) {
		t.Errorf("the gate lists %v, the pages are %v", got, web.Patterns())
	}
	if gate.SiteCookie != web.Cookie || gate.SecureCookie != web.SecureCookie {
		t.Errorf("the gate reads other cookies than the login sets")
	}
}

// Each page opens to the scopes that cover its own, shown by cookie or by header, and to no other.
func TestSiteMatrix(t *testing.T) {
	cfg := testConfig("")
	cfg.limits.Wasted = 1 << 20
	c := startTest(t, cfg)
	shown := map[string]string{"none": "", "malformed": "x", "unknown": gate.NewToken().Reveal()}
	for scope := range covering {
		shown[string(scope)] = makeToken(t, c, scope, 0).Reveal()
	}
	revoked := makeToken(t, c, gate.ScopeAdmin, 0)
	revokeToken(t, c, revoked.ID)
	shown["revoked"] = revoked.Reveal()
	for pattern, need := range gate.Site {
		method, path, _ := strings.Cut(pattern, " ")
		path = strings.NewReplacer("{$}", "", "{id}", "none").Replace(path)
		for who, token := range shown {
			b := &browser{T: t, c: c, cookie: &http.Cookie{Name: gate.SiteCookie, Value: token}}
			opens := need == gate.ScopePublic || slices.Contains(covering[need], gate.Scope(who))
			byCookie := b.ask(method, path, nil, "Accept", "*/*")
			b.cookie = nil
			byHeader := b.ask(method, path, nil, "Accept", "*/*", "Authorization", "Bearer "+token)
			for _, res := range []*http.Response{byCookie, byHeader} {
				text := b.text(res)
				refused := res.StatusCode == 401 || res.StatusCode == 403 && !strings.Contains(text, "<!doctype html>")
				if pattern == "POST /login" {
					refused = false // it looks at the token of the form
				}
				if refused == opens {
					t.Errorf("%s, token %s: %d %.80q", pattern, who, res.StatusCode, text)
				}
			}
		}
	}
}

// A cookie makes no call: it opens pages alone.
func TestCookieOpensNoCall(t *testing.T) {
	c := startTest(t, testConfig(""))
	b := &browser{T: t, c: c}
	b.logIn(makeToken(t, c, gate.ScopeAdmin, 0), "")
	for procedure := range gate.Routes {
		if res := b.ask("POST", procedure, nil, "Content-Type", "application/json"); res.StatusCode != 401 {
			t.Errorf("%s answers a cookie with %d", procedure, res.StatusCode)
		}
	}
	if res := b.ask("GET", gate.MetricsPage, nil); res.StatusCode != 401 {
		t.Errorf("the metrics answer a cookie with %d", res.StatusCode)
	}
}

func TestLogIn(t *testing.T) {
	c := startTest(t, testConfig(""))
	b := &browser{T: t, c: c}
	if res := b.ask("GET", "/jobs?from=x", nil); res.StatusCode != 303 ||
		res.Header.Get("Location") != "/login?next=%2Fjobs%3Ffrom%3Dx" {
		t.Errorf("a stranger is answered %d, %s", res.StatusCode, res.Header.Get("Location"))
	}
	for _, token := range []gate.Token{gate.NewToken(), makeToken(t, c, gate.ScopeWorker, 0)} {
		res := b.ask("POST", "/login", url.Values{"token": {token.Reveal()}})
		text := b.text(res)
		if res.StatusCode != 401 || len(res.Cookies()) != 0 || !strings.Contains(text, `role="alert"`) {
			t.Errorf("a token that opens nothing: %d, %s", res.StatusCode, text)
		}
	}
	token := makeToken(t, c, gate.ScopeRead, 0)
	for next, want := range map[string]string{"": "/jobs", "/cluster": "/cluster", "//evil.example/": "/jobs",
		"https://evil.example/": "/jobs", "/\\evil.example": "/jobs"} {
		res := b.ask("POST", "/login", url.Values{"token": {" " + token.Reveal() + "\n"}, "next": {next}})
		if got := res.Header.Get("Location"); res.StatusCode != 303 || got != want {
			t.Errorf("a login goes on at %q, want %q", got, want)
		}
		cookie := res.Cookies()[0]
		if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" {
			t.Errorf("cookie %v", cookie)
		}
	}
	b.logIn(token, "")
	res := b.ask("GET", "/jobs", nil)
	if text := b.text(res); res.StatusCode != 200 || !strings.Contains(text, "No job has been submitted") {
		t.Errorf("the jobs: %d, %s", res.StatusCode, text)
	}
	if policy := res.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") ||
		strings.Contains(policy, "unsafe") {
		t.Errorf("policy %s", policy)
	}
	revokeToken(t, c, token.ID) // a stolen cookie dies with its token
	if res := b.ask("GET", "/jobs", nil); res.StatusCode != 303 {
		t.Errorf("a cookie of a revoked token: %d", res.StatusCode)
	}
}

// A job that waits for a worker is listed, shown, and cancelled by a form of ours alone.
func TestJobPage(t *testing.T) {
	c := startTest(t, testConfig(""))
	spec := `{"apiVersion":"v1","kind":"NaiveBayes","metadata":{"name":"<b>bold</b>\u202e"},"spec":{"input":` +
		`{"uri":"mem://jobs/x.csv","format":"csv","label":"y"},"output":{},"params":{},"repro":{"seed":1},"run":{}}}`
	if _, err := c.services.Jobs.Submit(t.Context(),
		connect.NewRequest(&pb.SubmitRequest{Id: "a-job", SpecJson: spec})); err != nil {
		t.Fatal(err)
	}
	b := &browser{T: t, c: c}
	b.logIn(makeToken(t, c, gate.ScopeSubmit, 0), "")
	for _, path := range []string{"/jobs", "/jobs/a-job", "/jobs/a-job/cancel"} {
		res := b.ask("GET", path, nil)
		text := b.text(res)
		if res.StatusCode != 200 || !strings.Contains(text, "a-job") || strings.Contains(text, "<b>") ||
			strings.ContainsRune(text, 0x202e) {
			t.Errorf("%s: %d, %s", path, res.StatusCode, text)
		}
	}
	if res := b.ask("GET", "/jobs/another", nil); res.StatusCode != 404 {
		t.Errorf("a job that is not: %d", res.StatusCode)
	}
	for _, headers := range [][]string{nil, {"Sec-Fetch-Site", "cross-site"}} {
		if res := b.ask("POST", "/jobs/a-job/cancel", url.Values{"key": {"00"}}, headers...); res.StatusCode != 403 {
			t.Errorf("a form that is not ours: %d", res.StatusCode)
		}
	}
	_, rest, _ := strings.Cut(b.text(b.ask("GET", "/jobs/a-job/cancel", nil)), `action="/jobs/a-job/cancel"`)
	_, rest, _ = strings.Cut(rest, `name="key" value="`)
	key, _, _ := strings.Cut(rest, `"`)
	if res := b.ask("POST", "/jobs/a-job/cancel", url.Values{"key": {key}}); res.StatusCode != 303 {
		t.Errorf("cancel: %d, %s", res.StatusCode, b.text(res))
	}
	if text := b.text(b.ask("GET", "/jobs/a-job", nil)); !strings.Contains(text, "cancelled") {
		t.Errorf("after its cancellation: %s", text)
	}
}

// The moving part of a job's page comes at once and after each change; it ends when the token is revoked.
func TestLivePieces(t *testing.T) {
	c := startTest(t, testConfig(""))
	spec := `{"apiVersion":"v1","kind":"NaiveBayes","metadata":{"name":"n"},"spec":{"input":{"uri":` +
		`"mem://jobs/x.csv","format":"csv","label":"y"},"output":{},"params":{},"repro":{"seed":1},"run":{}}}`
	if _, err := c.services.Jobs.Submit(t.Context(),
		connect.NewRequest(&pb.SubmitRequest{Id: "a-job", SpecJson: spec})); err != nil {
		t.Fatal(err)
	}
	await(t, c, "a-job admitted", inStage("a-job", pb.JobState_JOB_STATE_PLANNING))
	server := httptest.NewServer(c.Handler())
	defer server.Close()
	watch := func(token gate.Token) (*http.Response, *bufio.Scanner) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/jobs/a-job/live", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.AddCookie(&http.Cookie{Name: gate.SiteCookie, Value: token.Reveal()})
		res, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		return res, bufio.NewScanner(res.Body)
	}
	token := makeToken(t, c, gate.ScopeRead, 0)
	res, lines := watch(token)
	defer res.Body.Close()
	if !lines.Scan() || lines.Text() != "event: piece" || !lines.Scan() || !lines.Scan() ||
		!strings.Contains(lines.Text(), "waits for a worker") {
		t.Fatalf("%d, %s, error %v", res.StatusCode, lines.Text(), lines.Err())
	}
	revokeToken(t, c, token.ID)
	for lines.Scan() { // until it ends
	}
	res, lines = watch(makeToken(t, c, gate.ScopeRead, 0))
	defer res.Body.Close()
	if _, err := c.services.Jobs.Cancel(context.WithoutCancel(t.Context()),
		connect.NewRequest(&pb.CancelRequest{Id: "a-job"})); err != nil {
		t.Fatal(err)
	}
	ended := false
	for lines.Scan() {
		ended = ended || lines.Text() == "event: end"
	}
	if !ended || lines.Err() != nil {
		t.Errorf("the end was not told: %v", lines.Err())
	}
}
