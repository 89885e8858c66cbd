package gate

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// Site is the table of the live pages: the scope that each pattern of http.ServeMux needs. What is not in it is denied.
// A test checks it against the pages.
var Site = map[string]Scope{
	"GET /{$}":                    ScopeRead,
	"GET /login":                  ScopePublic,
	"POST /login":                 ScopePublic,
	"GET /login/once":             ScopePublic, // not found but in gram dev
	"POST /login/once":            ScopePublic, // it looks at the secret in the form
	"POST /logout":                ScopeRead,
	"GET /style.css":              ScopePublic,
	"GET /live.js":                ScopePublic,
	"GET /icon.svg":               ScopePublic,
	"GET /jobs":                   ScopeRead,
	"GET /jobs/{id}":              ScopeRead,
	"GET /jobs/{id}/live":         ScopeRead,
	"GET /jobs/{id}/logs":         ScopeRead,
	"GET /jobs/{id}/logs/live":    ScopeRead,
	"GET /jobs/{id}/report":       ScopeRead,
	"GET /jobs/{id}/cancel":       ScopeSubmit,
	"POST /jobs/{id}/cancel":      ScopeSubmit,
	"GET /jobs/{id}/again":        ScopeSubmit,
	"POST /jobs/{id}/again":       ScopeSubmit,
	"GET /compare":                ScopeRead,
	"GET /models":                 ScopeRead,
	"GET /schedules":              ScopeRead,
	"GET /schedules/{id}":         ScopeRead,
	"GET /schedules/{id}/pause":   ScopeSubmit,
	"POST /schedules/{id}/pause":  ScopeSubmit,
	"GET /schedules/{id}/resume":  ScopeSubmit,
	"POST /schedules/{id}/resume": ScopeSubmit,
	"GET /cluster":                ScopeRead,
	"GET /live/cluster":           ScopeRead,
	"GET /live/jobs":              ScopeRead,
}

// SiteCookie is the name of the cookie in which a browser shows its token. It opens pages of the site alone, never a
// procedure: a browser sends it with whatever it is told to ask for.
const SiteCookie = "gram"

// SecureCookie is its name over TLS: no other host can set a cookie of such a name.
const SecureCookie = "__Host-" + SiteCookie

// sitePatterns finds the pattern of a request.
var sitePatterns = func() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern := range Site { // in any order
		mux.HandleFunc(pattern, http.NotFound)
	}
	return mux
}()

// OfSite reports whether a request is for a page of the site, and the scope that it needs.
func OfSite(r *http.Request) (need Scope, ok bool) {
	need, ok = Site[sitePattern(r)]
	return need, ok
}

// sitePattern is the pattern of a request, "" for none.
func sitePattern(r *http.Request) string {
	if path.Clean(r.URL.Path) != r.URL.Path { // it would be sent to another path
		return ""
	}
	_, pattern := sitePatterns.Handler(r)
	return pattern
}

// showCookie takes the token of a request for a page of the site from its cookie, where it shows none otherwise.
func showCookie(r *http.Request) {
	if _, ok := OfSite(r); !ok || r.Header.Get("Authorization") != "" {
		return
	}
	name := SiteCookie
	if r.TLS != nil {
		name = SecureCookie
	}
	if cookies := r.CookiesNamed(name); len(cookies) == 1 { // of two, one is not ours
		r.Header.Set("Authorization", "Bearer "+cookies[0].Value)
	}
}

// askLogin sends a browser that asks for a page without a valid token to the login. It reports whether it did.
func askLogin(w http.ResponseWriter, r *http.Request, err error) bool {
	_, ok := OfSite(r)
	if !ok || !errors.Is(err, ErrUnauthenticated) || !strings.Contains(r.Header.Get("Accept"), "text/html") {
		return false
	}
	to := "/login"
	if r.Method == http.MethodGet && r.URL.Path != "/" {
		to += "?" + url.Values{"next": {r.URL.RequestURI()}}.Encode()
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return true
}

// Anonymous reports whether a request for a page of the site is refused because it shows no token at all: a browser
// before its login, which is no offense.
func Anonymous(r *http.Request, err error) bool {
	_, ok := OfSite(r)
	return ok && r.Header.Get("Authorization") == "" && errors.Is(err, ErrUnauthenticated)
}
