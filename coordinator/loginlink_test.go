package coordinator

import (
	"bytes"
	"errors"
	"html"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/audit"
	"github.com/gram-compute/gram/coordinator/gate"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/web"
)

// linked is a cluster that listens on loopback, its clock, its audit log, what it logs, and a browser.
type linked struct {
	*browser
	clock *handClock
	trail *ledger
	base  string
}

func startLinked(t *testing.T) *linked {
	t.Helper()
	l := &linked{browser: &browser{T: t}, clock: &handClock{}, trail: &ledger{}}
	l.clock.unix.Store(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).Unix())
	cfg := clockedConfig(t, l.clock)
	cfg.ListenAddr, cfg.AuditTo = "127.0.0.1:0", l.trail
	l.c = startTest(t, cfg)
	l.base = "https://" + l.c.Addr()
	return l
}

func (l *linked) link() string {
	l.Helper()
	link, err := l.c.LoginLink()
	if err != nil {
		l.Fatal(err)
	}
	return link
}

// open shows the page of a link and returns the secret of its form.
func (l *linked) open(link string) string {
	l.Helper()
	res := l.ask("GET", link, nil)
	text := l.text(res)
	_, rest, _ := strings.Cut(text, `name="key" value="`)
	key, _, _ := strings.Cut(rest, `"`)
	if res.StatusCode != 200 || key == "" || len(res.Cookies()) != 0 {
		l.Fatalf("the link's page: %d, %s", res.StatusCode, text)
	}
	if policy := res.Header.Get("Referrer-Policy"); policy != "origin" {
		l.Errorf("Referrer-Policy %q", policy)
	}
	if cache := res.Header.Get("Cache-Control"); cache != "no-store" {
		l.Errorf("Cache-Control %q", cache)
	}
	return html.UnescapeString(key)
}

func (l *linked) post(key string, headers ...string) *http.Response {
	l.Helper()
	return l.ask("POST", l.base+"/login/once", url.Values{"key": {key}}, headers...)
}

func (l *linked) wantRefused(what, key string) {
	l.Helper()
	res := l.post(key)
	if text := l.text(res); res.StatusCode != http.StatusUnauthorized || len(res.Cookies()) != 0 ||
		!strings.Contains(text, "logs in once") {
		l.Errorf("%s: %d, %s", what, res.StatusCode, text)
	}
}

// A link logs in one browser, however often it is looked at before, with a token of its own that may look and submit,
// and that ends by itself or by its revocation. Its secret is in no log.
func TestLoginLink(t *testing.T) {
	l := startLinked(t)
	link := l.link()
	key := l.open(link)
	if l.open(link) != key { // a preview, and then the person
		t.Error("another secret")
	}
	l.ask("HEAD", link, nil)
	res := l.post(key)
	if res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/jobs" || len(res.Cookies()) != 1 {
		t.Fatalf("%d, %s", res.StatusCode, l.text(res))
	}
	cookie := res.Cookies()[0]
	if cookie.Name != web.SecureCookie || !cookie.HttpOnly || !cookie.Secure ||
		cookie.SameSite != http.SameSiteStrictMode {
		t.Errorf("cookie %v", cookie)
	}
	l.wantRefused("a second use", key)
	l.cookie = cookie
	for path, want := range map[string]int{"/jobs": 200, "/cluster": 200, "/jobs/none/cancel": 404} {
		if res := l.ask("GET", l.base+path, nil); res.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, res.StatusCode, want)
		}
	}
	token, err := gate.ParseToken(cookie.Value)
	if err != nil {
		t.Fatal(err)
	}
	record, _ := l.c.lookupToken(token.ID)
	if life := record.ExpiresAt - l.clock.now().UnixMilli(); record.Scope != gate.ScopeSubmit ||
		life != loginTokenLife.Milliseconds() {
		t.Errorf("%+v", record)
	}
	l.trail.mu.Lock()
	trail := l.trail.text.String()
	l.trail.mu.Unlock()
	if strings.Contains(trail, key) || strings.Contains(trail, cookie.Value) {
		t.Errorf("the audit log holds a secret: %s", trail)
	}
	l.wantLines(token.ID)
	revokeToken(t, l.c, token.ID)
	if res := l.ask("GET", l.base+"/jobs", nil); res.StatusCode != http.StatusSeeOther {
		t.Errorf("after the token was revoked: %d", res.StatusCode)
	}
}

// wantLines are those of a token that a link was exchanged for, and of a secret that was refused.
func (l *linked) wantLines(token string) {
	l.Helper()
	var made, refused []audit.Record
	for _, r := range l.trail.take(l.T, false) {
		switch {
		case r.Who == "login link":
			made = append(made, r)
		case r.Result == audit.Refused && r.What == "/login/once":
			refused = append(refused, r)
		}
	}
	if len(made) != 1 || made[0].Object != token || made[0].What != "TokenService.CreateToken" ||
		made[0].RaftIndex == 0 || made[0].Source == "" || len(refused) != 1 || refused[0].Who != "stranger" {
		l.Errorf("made %+v, refused %+v", made, refused)
	}
}

// Wrong secrets, those of a link before, and those that come too late log nobody in, and spend nothing.
func TestLoginLinkRefuses(t *testing.T) {
	l := startLinked(t)
	if res := l.post("x"); res.StatusCode != http.StatusNotFound || l.ask("GET", l.base+"/login/once?key=x",
		nil).StatusCode != http.StatusNotFound {
		t.Error("a link is there before one was made")
	}
	old := l.open(l.link())
	link := l.link()
	key := l.open(link)
	for _, wrong := range []string{"", "x", old, key + "x", key[:len(key)-1]} {
		l.wantRefused("a wrong secret", wrong)
	}
	for name, headers := range map[string][]string{
		"a form of another site":    {"Sec-Fetch-Site", "cross-site"},
		"a form of another origin":  {"Origin", "https://evil.example"},
		"a form of a hidden origin": {"Origin", "null"},
	} {
		if res := l.post(key, headers...); res.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %d", name, res.StatusCode)
		}
	}
	if res := l.ask("POST", link, nil); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("a secret in the address of a form: %d", res.StatusCode)
	}
	l.clock.unix.Add(int64(LoginLinkLife/time.Second) - 1)
	if res := l.post(key); res.StatusCode != http.StatusSeeOther {
		t.Errorf("in its last second: %d, %s", res.StatusCode, l.text(res))
	}
	key = l.open(l.link())
	l.clock.unix.Add(int64(LoginLinkLife / time.Second))
	l.wantRefused("an expired link", key)
}

// Of many that hold the secret one logs in.
func TestLoginLinkAtOnce(t *testing.T) {
	l := startLinked(t)
	key := l.open(l.link())
	var at sync.WaitGroup
	codes := make(chan int, 8)
	for range cap(codes) {
		at.Go(func() { codes <- l.post(key).StatusCode })
	}
	at.Wait()
	close(codes)
	count := map[int]int{}
	for code := range codes {
		count[code]++
	}
	if count[http.StatusSeeOther] != 1 || count[http.StatusUnauthorized] != cap(codes)-1 {
		t.Errorf("%v", count)
	}
}

// A secret is not spent while the cluster makes no token for it.
func TestLoginLinkOutlivesAFailure(t *testing.T) {
	l := startLinked(t)
	failing := true
	key := l.open(l.base + l.c.site.LinkOnce(web.Once{Until: l.clock.now().Add(time.Hour), Now: l.clock.now,
		Refused: func(*http.Request) { t.Error("it was refused") },
		Grant: func(r *http.Request) (string, error) {
			if failing {
				return "", errors.New("no leader")
			}
			return l.c.grantLogin(r)
		}}))
	if res := l.post(key); res.StatusCode != http.StatusBadGateway || len(res.Cookies()) != 0 {
		t.Errorf("%d, %s", res.StatusCode, l.text(res))
	}
	failing = false
	if res := l.post(key); res.StatusCode != http.StatusSeeOther {
		t.Errorf("the next try: %d, %s", res.StatusCode, l.text(res))
	}
}

// Where other machines reach the API there is no link, nor without a port of one's own.
func TestLoginLinkNeedsLoopback(t *testing.T) {
	for _, listen := range []string{"", "0.0.0.0:0"} {
		cfg := testConfig(t.TempDir())
		cfg.ListenAddr = listen
		if link, err := startTest(t, cfg).LoginLink(); !errors.Is(err, ErrNotLoopback) {
			t.Errorf("listening on %q: %s, %v", listen, link, err)
		}
	}
}

// A peer that asks without a token, or by a wrong link again and again is hung up on, as one that shows wrong
// tokens is; one that does so now and then is not.
func TestStrangersOfPagesAreHungUpOn(t *testing.T) {
	t.Parallel()
	var trail ledger
	cfg := testConfig(t.TempDir())
	cfg.ListenAddr, cfg.AuditTo = "127.0.0.1:0", &trail
	c := startTest(t, cfg)
	if _, err := c.LoginLink(); err != nil {
		t.Fatal(err)
	}
	const head = " HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n"
	const form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 5\r\n\r\nkey=x"
	for name, request := range map[string]string{"without a token": "GET /jobs" + head + "\r\n",
		"with a wrong link": "POST /login/once" + head + form} {
		for times, open := range map[int]bool{100: true, 700: false} {
			conn := secure(t, c, "http/1.1")
			if got := answers(t, conn, request, times); (got == times) != open {
				t.Errorf("%s: %d of %d requests were answered", name, got, times)
			}
		}
	}
	for _, r := range trail.take(t, false) {
		if r.What == "/jobs" {
			t.Fatalf("a browser before its login left a line: %+v", r)
		}
	}
}

// A worker's certificate does not reach the login: its calls are a worker's.
func TestWorkersDoNotLogIn(t *testing.T) {
	cfg := testConfig(t.TempDir())
	cfg.ListenAddr = "127.0.0.1:0"
	c := startTest(t, cfg)
	admin := c.AdminToken().Reveal()
	for role, want := range map[string]int{"worker": http.StatusForbidden, "coordinator": http.StatusSeeOther} {
		client := clientShowing(t, c, certificate(t, c.cfg.DataDir, role))
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		res, err := client.PostForm("https://"+c.Addr()+"/login", url.Values{"token": {admin}})
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		_, err = text.ReadFrom(res.Body)
		if err := errors.Join(err, res.Body.Close()); err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != want || (len(res.Cookies()) == 1) != (want == http.StatusSeeOther) {
			t.Errorf("a %s logs in: %d, %s", role, res.StatusCode, &text)
		}
	}
}

// A cookie whose token expires opens nothing more.
func TestACookieDiesWithItsToken(t *testing.T) {
	l := startLinked(t)
	token := gate.NewToken()
	if _, err := l.c.services.Tokens.CreateToken(t.Context(), connect.NewRequest(&pb.CreateTokenRequest{Id: token.ID,
		SecretSha256: token.SecretSHA256(), Scope: string(gate.ScopeRead), TtlMs: 60_000})); err != nil {
		t.Fatal(err)
	}
	l.cookie = &http.Cookie{Name: gate.SecureCookie, Value: token.Reveal()}
	for _, c := range []struct{ after, want int }{{0, 200}, {59, 200}, {1, 303}} {
		l.clock.unix.Add(int64(c.after))
		if res := l.ask("GET", l.base+"/jobs", nil); res.StatusCode != c.want {
			t.Errorf("%d s later: %d, want %d", c.after, res.StatusCode, c.want)
		}
	}
}
