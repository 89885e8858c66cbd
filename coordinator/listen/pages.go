package listen

import (
	"io"
	"net/http"

	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/life"
	"github.com/gram-compute/gram/coordinator/outcome"
)

// Health is what a member reports of itself.
type Health interface {
	Unhealthy() error // why this process should be started anew; nil: it should not
	NotReady() error  // why callers should turn to another member; nil: they need not
	Note() string     // more, where it is ready
}

// Pages serves what every member reports of itself; all other requests go on to next.
func Pages(of Health, metrics, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case gate.HealthPage:
			say(w, of.Unhealthy(), "")
		case gate.ReadyPage:
			say(w, of.NotReady(), of.Note())
		case gate.MetricsPage:
			metrics.ServeHTTP(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// Site serves the live pages; all other requests go on to next.
func Site(site, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := gate.OfSite(r); ok {
			site.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// say answers a probe: ok and perhaps a note, or 503 and the reason.
func say(w http.ResponseWriter, problem error, note string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	text := "ok\n" + note
	if problem != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		text = problem.Error() + "\n"
	}
	_, _ = io.WriteString(w, text) // who asked may have gone
}

// Hold keeps calls until the log is applied: before that no token is known, and a good one would be
// refused. Probes are answered at once.
func Hold(next http.Handler, begun <-chan struct{}, tasks *life.Tasks) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gate.Pages[r.URL.Path] != gate.ScopePublic && !closed(begun) {
			select {
			case <-begun:
			case <-r.Context().Done():
				return
			case <-tasks.Stopping():
				unavailable(w, r, outcome.ErrShutdown)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
