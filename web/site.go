package web

import (
	"bytes"
	"context"
	"embed"
	"encoding/hex"
	"html/template"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
	"github.com/gram-compute/gram/report/style"
)

// Site is the live pages. It implements http.Handler.
type Site struct {
	mux       *http.ServeMux
	jobs      gramv1connect.JobServiceClient
	compares  gramv1connect.CompareServiceClient
	models    gramv1connect.ModelServiceClient
	schedules gramv1connect.ScheduleServiceClient
	cluster   gramv1connect.ClusterServiceClient
	logger    *slog.Logger
	hub       hub
	once      onceLink

	feeds    feeds
	stopping <-chan struct{} // closed when streams are to end
}

// New returns the pages of a cluster whose calls go to the handler: its door, which examines each call. The gate in
// front of the pages has looked at the token of the one who looks, and left it in the Authorization header. Streams end
// when stopping is closed.
func New(calls http.Handler, stopping <-chan struct{}, logger *slog.Logger) *Site {
	client := &http.Client{Transport: inProcess{calls, logger}}
	const base = "http://cluster"                            // is not resolved
	plain := connect.WithAcceptCompression("gzip", nil, nil) // nothing leaves the process
	s := &Site{mux: http.NewServeMux(), logger: logger, stopping: stopping,
		jobs:      gramv1connect.NewJobServiceClient(client, base, plain),
		compares:  gramv1connect.NewCompareServiceClient(client, base, plain),
		models:    gramv1connect.NewModelServiceClient(client, base, plain),
		schedules: gramv1connect.NewScheduleServiceClient(client, base, plain),
		cluster:   gramv1connect.NewClusterServiceClient(client, base, plain)}
	for pattern, serve := range s.routes() { // in any order
		s.mux.HandleFunc(pattern, serve)
	}
	return s
}

// routes is what serves each pattern of a page.
func (s *Site) routes() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"GET /{$}":                    http.RedirectHandler("/jobs", http.StatusSeeOther).ServeHTTP,
		"GET /login":                  s.signIn,
		"POST /login":                 s.begin,
		"GET /login/once":             oncePages{s}.askOnce,
		"POST /login/once":            oncePages{s}.beginOnce,
		"POST /logout":                s.end,
		"GET /style.css":              asset("text/css", style.CSS+sheet),
		"GET /live.js":                asset("text/javascript", script),
		"GET /icon.svg":               asset("image/svg+xml", icon),
		"GET /jobs":                   s.listJobs,
		"GET /jobs/{id}":              s.job,
		"GET /jobs/{id}/live":         jobWatch{s}.jobLive,
		"GET /jobs/{id}/logs":         s.logPage,
		"GET /jobs/{id}/logs/live":    s.logLive,
		"GET /jobs/{id}/report":       s.report,
		"GET /jobs/{id}/cancel":       s.askCancel,
		"POST /jobs/{id}/cancel":      s.cancel,
		"GET /jobs/{id}/again":        s.askAgain,
		"POST /jobs/{id}/again":       s.again,
		"GET /compare":                s.comparePage,
		"GET /models":                 s.listModels,
		"GET /schedules":              schedulePages{s}.listSchedules,
		"GET /schedules/{id}":         schedulePages{s}.schedule,
		"GET /schedules/{id}/pause":   schedulePages{s}.askSchedule("pause"),
		"POST /schedules/{id}/pause":  schedulePages{s}.decideSchedule("pause"),
		"GET /schedules/{id}/resume":  schedulePages{s}.askSchedule("resume"),
		"POST /schedules/{id}/resume": schedulePages{s}.decideSchedule("resume"),
		"GET /cluster":                s.clusterPage,
		"GET /live/cluster":           s.clusterLive,
		"GET /live/jobs":              s.jobsLive,
	}
}

// Patterns are those of all pages, as http.ServeMux takes them.
func Patterns() []string { return slices.Sorted(maps.Keys(new(Site).routes())) }

// ServeHTTP serves a page.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; "+
		"connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	w.Header().Set("Referrer-Policy", "same-origin")
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if !utf8.ValidString(r.URL.Path) || !validForm(r) {
		http.Error(w, "the address of this page cannot be read, or is no UTF-8", http.StatusBadRequest)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// validForm reports whether what a request asks by is text: calls take nothing else. An address that cannot be read is
// refused whole: without the part that cannot, it asks for something else.
func validForm(r *http.Request) bool {
	if _, err := url.ParseQuery(r.URL.RawQuery); err != nil {
		return false
	}
	_ = r.ParseForm() // what a body lacks is not there; what needs it says so
	for _, values := range r.Form {
		if !utf8.ValidString(strings.Join(values, "")) {
			return false
		}
	}
	return true
}

// maxForm bounds what a form may send.
const maxForm = 64 << 10

// page is what the templates show.
type page struct {
	Title string
	Here  string // the entry of the menu
	Out   string // the key of the form that logs out; "" before the login
	View  any
}

var (
	//go:embed *.html
	sources embed.FS
	//go:embed site.css
	sheet string
	//go:embed live.js
	script string
	//go:embed icon.svg
	icon string

	templates = template.Must(template.New("web").Funcs(template.FuncMap{
		"clock": style.Clock, "moment": moment, "between": between, "ago": ago, "size": size, "digest": digest,
		"count": anyCount, "counted": protocol.Counted[uint32], "many": protocol.Counted[int],
		"number": number, "eta": etaText, "hex": hex.EncodeToString,
		"numeral": numeral, "change": change, "either": either, "ulps": ulps, "apart": apart, "plain": plain,
		"day": day, "breaks": breaks,
	}).ParseFS(sources, "*.html"))
)

// show renders a page. Characters that would steer the page are shown as such.
func (s *Site) show(w http.ResponseWriter, r *http.Request, status int, name string, p *page) {
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, name, p); err != nil {
		s.logger.Error("render a page", "page", name, "error", err)
		http.Error(w, "this page could not be rendered; the coordinator's log says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = io.WriteString(w, protocol.VisibleLines(out.String())) // who asked may have gone
	}
}

// view shows a page behind the login.
func (s *Site) view(w http.ResponseWriter, r *http.Request, name, here, title string, view any) {
	s.show(w, r, http.StatusOK, name, &page{Title: title, Here: here, Out: formKey(r, "/logout"), View: view})
}

// fail shows why a call was refused.
func (s *Site) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, title := http.StatusBadGateway, "The cluster does not answer"
	switch connect.CodeOf(err) {
	case connect.CodeUnauthenticated:
		http.Redirect(w, r, "/login", http.StatusSeeOther)
		return
	case connect.CodePermissionDenied:
		status, title = http.StatusForbidden, "Not allowed"
	case connect.CodeNotFound:
		status, title = http.StatusNotFound, "Not found"
	case connect.CodeInvalidArgument, connect.CodeFailedPrecondition:
		status, title = http.StatusBadRequest, "Not possible"
	case connect.CodeResourceExhausted:
		status, title = http.StatusTooManyRequests, "Too many calls"
	}
	s.show(w, r, status, "problem", &page{Title: title, Out: formKey(r, "/logout"), View: message(err)})
}

// as is the context of calls in the name of the one who looks.
func (s *Site) as(r *http.Request) context.Context {
	return context.WithValue(r.Context(), callerKey{}, r)
}

// call is a call in the name of the one who looks.
func call[T any](r *http.Request, body *T) *connect.Request[T] {
	req := connect.NewRequest(body)
	req.Header().Set("Authorization", r.Header.Get("Authorization"))
	return req
}

// asset serves a file of ours.
func asset(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind+"; charset=utf-8")
		w.Header().Set("Cache-Control", "max-age=300")
		if r.Method != http.MethodHead {
			_, _ = io.WriteString(w, text) // who asked may have gone
		}
	}
}
