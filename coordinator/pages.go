package coordinator

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/gram-compute/gram/coordinator/clock"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/hashicorp/raft"
)

// pages serves what every member says of itself; all other requests go on to next.
func (c *Coordinator) pages(next http.Handler) http.Handler {
	metrics := c.meters.handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case gate.HealthPage:
			say(w, c.unhealthy(), "")
		case gate.ReadyPage:
			say(w, c.notReady(), c.clockNote())
		case gate.MetricsPage:
			metrics.ServeHTTP(w, r)
		default:
			next.ServeHTTP(w, r)
		}
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

// What a probe is told. Strangers may ask, so it names no addresses and no paths.
var (
	errFailed   = errors.New("this coordinator has failed and is about to end; its log says why")
	errStarting = errors.New("starting: the log is not applied yet")
	errNoLeader = errors.New("no leader is known")
)

// unhealthy says why this process should be started anew; nil: it should not.
func (c *Coordinator) unhealthy() error {
	if c.broken.Load() {
		return errFailed
	}
	return nil
}

// notReady says why callers should turn to another member; nil: they need not.
func (c *Coordinator) notReady() error {
	switch {
	case c.broken.Load():
		return errFailed
	case c.leaving.Load():
		return outcome.ErrShutdown
	case !c.hasBegun():
		return errStarting
	}
	if v := c.verdict(); v.Doubt == clock.Disagrees && c.hasOthers() {
		return fmt.Errorf("this member's clock is not trusted: %s", clockText(v))
	}
	if leads, _, _ := c.whoLeads(); leads {
		return nil
	}
	switch _, leader := c.member.Raft.LeaderWithID(); leader {
	case "":
		return errNoLeader
	case raft.ServerID(c.cfg.NodeID):
		return fmt.Errorf("%w: this member is taking up the lead", errStarting)
	}
	return nil
}

// clockNote tells of a clock that is not trusted where that is no reason to turn to another member.
func (c *Coordinator) clockNote() string {
	if v := c.verdict(); !v.Trusted() {
		return "the clock is not trusted: " + clockText(v) + "\n"
	}
	return ""
}

// hasOthers reports whether the cluster has other members.
func (c *Coordinator) hasOthers() bool {
	servers, _, err := c.member.Servers()
	return err == nil && len(servers) > 1
}

// hasBegun reports whether calls are answered.
func (c *Coordinator) hasBegun() bool {
	select {
	case <-c.begun:
		return true
	default:
		return false
	}
}

// held keeps calls until the log is applied: before that no token is known, and a good one would be
// refused. Probes are answered at once.
func (c *Coordinator) held(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gate.Pages[r.URL.Path] != gate.ScopePublic && !c.hasBegun() {
			select {
			case <-c.begun:
			case <-r.Context().Done():
				return
			case <-c.tasks.Stopping():
				unavailable(w, r, outcome.ErrShutdown)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
