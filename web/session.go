package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Cookie is the name of the cookie that holds the token of the one who looks.
const Cookie = "gram"

// SecureCookie is its name over TLS: browsers take it from no other host.
const SecureCookie = "__Host-" + Cookie

// cookieDays is how long a browser keeps it. The token's own end comes first where it has one.
const cookieDays = 30

// sessionCookie holds a token, or takes it away where it is "".
func sessionCookie(r *http.Request, token string) *http.Cookie {
	c := &http.Cookie{Name: Cookie, Value: token, Path: "/", HttpOnly: true, Secure: r.TLS != nil,
		SameSite: http.SameSiteStrictMode, MaxAge: int(cookieDays * 24 * time.Hour / time.Second)}
	if r.TLS != nil {
		c.Name = SecureCookie
	}
	if token == "" {
		c.MaxAge = -1
	}
	return c
}

// tokenOf is the token that a request shows; the gate has looked at it.
func tokenOf(r *http.Request) string {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return token
}

// formKey is what a form for a path must carry: nobody knows it who does not know the token.
func formKey(r *http.Request, path string) string {
	mac := hmac.New(sha256.New, []byte(tokenOf(r)))
	_, _ = mac.Write([]byte("form " + path)) // never fails
	return hex.EncodeToString(mac.Sum(nil))
}

// checkForm reports whether a posted form is one of ours.
func checkForm(r *http.Request) bool {
	return hmac.Equal([]byte(r.PostFormValue("key")), []byte(formKey(r, r.URL.Path)))
}

// signIn shows the login.
func (s *Site) signIn(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, http.StatusOK, "login", &page{Title: "Log in", View: login{Next: local(r.FormValue("next"))}})
}

type login struct{ Next, Problem string }

// begin sets the cookie if the token opens anything.
func (s *Site) begin(w http.ResponseWriter, r *http.Request) {
	token, next := strings.TrimSpace(r.PostFormValue("token")), local(r.PostFormValue("next"))
	r.Header.Set("Authorization", "Bearer "+token)
	_, err := s.cluster.Status(s.as(r), call(r, &pb.StatusRequest{Brief: true}))
	if err != nil {
		s.show(w, r, loginStatus(err), "login",
			&page{Title: "Log in", View: login{Next: next, Problem: loginProblem(err)}})
		return
	}
	http.SetCookie(w, sessionCookie(r, token))
	http.Redirect(w, r, next, http.StatusSeeOther)
}

// loginStatus is the status of a refused login: not that of a bad token where the cluster does not answer.
func loginStatus(err error) int {
	switch connect.CodeOf(err) {
	case connect.CodeUnauthenticated, connect.CodePermissionDenied:
		return http.StatusUnauthorized
	}
	return http.StatusBadGateway
}

func loginProblem(err error) string {
	switch connect.CodeOf(err) {
	case connect.CodeUnauthenticated:
		return "This is no valid token of this cluster. It may be mistyped, revoked or expired."
	case connect.CodePermissionDenied:
		return "This token may not look: it takes one of scope read, submit or admin."
	}
	return "The cluster does not answer: " + message(err)
}

// end takes the cookie away.
func (s *Site) end(w http.ResponseWriter, r *http.Request) {
	if !checkForm(r) {
		s.refuseForm(w, r)
		return
	}
	http.SetCookie(w, sessionCookie(r, ""))
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

// local is a path of this site to go on at: that of the jobs for any other.
func local(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.Contains(next, `\`) ||
		strings.ContainsFunc(next, protocol.Steers) || len(next) > 512 { // browsers drop tabs: /<tab>/host is //host
		return "/jobs"
	}
	return next
}

// message is what an error of a call says.
func message(err error) string {
	if told := new(connect.Error); errors.As(err, &told) {
		return told.Message()
	}
	return err.Error()
}
