package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// oncePath is where a secret that logs in once is shown. A GET asks whether to log in, and a POST does: a preview, a
// prefetch or a scanner of links follows links, and posts nothing.
const oncePath = "/login/once"

// Once says how a link logs in. All of it is required.
type Once struct {
	Until time.Time // the link logs in before this time
	Now   func() time.Time
	// Grant makes the token that the link is exchanged for, at the request of the browser that holds it.
	Grant func(r *http.Request) (token string, err error)
	// Refused is told of every request whose secret is wrong, spent or expired.
	Refused func(r *http.Request)
}

// onceLink is the one link of a site that logs in. There is none at first: then the pages of the link do not exist.
type onceLink struct {
	mu   sync.Mutex
	of   *Once
	sum  [sha256.Size]byte // of the secret
	used bool
}

// errSpent is that of a secret that logs nobody in. It does not say why.
var errSpent = errors.New("no such link")

// LinkOnce makes a link that logs in once, and ends the one before. It returns the path and query of the link, which
// hold the only copy of the secret.
func (s *Site) LinkOnce(of Once) string {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	text := base64.RawURLEncoding.EncodeToString(secret)
	s.once.mu.Lock()
	defer s.once.mu.Unlock()
	s.once.of, s.once.sum, s.once.used = &of, sha256.Sum256([]byte(text)), false
	return oncePath + "?" + url.Values{"key": {text}}.Encode()
}

// link is how the link logs in; nil where there is none.
func (l *onceLink) link() *Once {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.of
}

// redeem exchanges a secret for a token. The second of two that come at a time waits for the first: a secret is spent
// once a token was made for it, and not before, so that a cluster that does not answer does not take the link away.
func (l *onceLink) redeem(r *http.Request, secret string) (token string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	sum := sha256.Sum256([]byte(secret))
	same := subtle.ConstantTimeCompare(sum[:], l.sum[:]) == 1
	if !same || l.used || !l.of.Now().Before(l.of.Until) {
		return "", errSpent
	}
	if token, err = l.of.Grant(r); err != nil {
		return "", err
	}
	l.used = true
	return token, nil
}

// oncePages are those of the link that logs in once.
type oncePages struct{ *Site }

// askOnce asks whether to log in by the link. It does not look at the secret.
func (s oncePages) askOnce(w http.ResponseWriter, r *http.Request) {
	if s.once.link() == nil {
		s.noLink(w, r)
		return
	}
	// Nothing that the page loads or leads to learns its address. Under no-referrer the form would come from nowhere.
	w.Header().Set("Referrer-Policy", "origin")
	s.show(w, r, http.StatusOK, "once", &page{Title: "Log in", View: r.FormValue("key")})
}

// beginOnce logs in by the secret of the form.
func (s oncePages) beginOnce(w http.ResponseWriter, r *http.Request) {
	link := s.once.link()
	if link == nil {
		s.noLink(w, r)
		return
	}
	// Who goes away meanwhile does not leave a token without a cookie.
	token, err := s.once.redeem(r.WithContext(context.WithoutCancel(r.Context())), r.PostFormValue("key"))
	switch {
	case errors.Is(err, errSpent):
		link.Refused(r)
		s.show(w, r, http.StatusUnauthorized, "login", &page{Title: "Log in", View: login{Next: "/jobs",
			Problem: "This link logs in once, and for some minutes: it was used, it has expired, or it is another's. " +
				"Log in with a token."}})
	case err != nil:
		s.show(w, r, http.StatusBadGateway, "login", &page{Title: "Log in", View: login{Next: "/jobs",
			Problem: "The cluster does not answer: " + message(err)}})
	default:
		http.SetCookie(w, sessionCookie(r, token))
		http.Redirect(w, r, "/jobs", http.StatusSeeOther)
	}
}

// noLink answers where no link logs in, as in every cluster but that of gram dev.
func (s oncePages) noLink(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, http.StatusNotFound, "login", &page{Title: "Log in", View: login{Next: "/jobs",
		Problem: "No link logs in to this cluster. Log in with a token."}})
}
