package listen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/bounds"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/life"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/outcome"
)

const (
	// LeaderWait is how long a call waits for there to be a leader. Elections take one to three seconds.
	LeaderWait = 5 * time.Second
	// dialAgain is the pause before a leader that was not reached is tried again: raft notices
	// its end later than the network does.
	dialAgain = 100 * time.Millisecond
)

// ReasonHeader of an answer tells clients what a code cannot: that members are up and the cluster stands still.
const (
	ReasonHeader   = "Gram-Reason"
	ReasonNoLeader = "no-leader"
)

// Forwarder stands behind the gate: it answers on the leader and carries every other call
// there, so that a client may talk to any member. The leader's gate looks at it again.
type Forwarder struct {
	Leader    Leader
	Local     http.Handler
	Transport http.RoundTripper // to other members
	Tasks     *life.Tasks
	NodeID    string
	Logger    *slog.Logger
}

// Leader tells which member leads.
type Leader interface {
	// WhoLeads tells whether this member leads, else where the leader is ("": unknown), and a
	// channel that is closed when that has changed.
	WhoLeads() (leads bool, address string, news <-chan struct{})
	// NoLeader is the error of a call that found no leader.
	NoLeader() error
}

// ServeHTTP implements http.Handler.
func (f *Forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = unclosed{r.Body} // an attempt that reaches nobody must not close it
	wait, cancel := context.WithTimeout(r.Context(), LeaderWait)
	defer cancel()
	for {
		leads, address, news := f.Leader.WhoLeads()
		if leads {
			f.Local.ServeHTTP(w, r)
			return
		}
		if address != "" && !errors.Is(f.carry(w, r, address), node.ErrUnreached) {
			return
		}
		retry := time.NewTimer(dialAgain)
		select {
		case <-news:
		case <-retry.C:
		case <-f.Tasks.Stopping():
			unavailable(w, r, outcome.ErrShutdown)
			return
		case <-wait.Done():
			unavailable(w, r, f.Leader.NoLeader())
			return
		}
		retry.Stop()
	}
}

// carry hands a call to the leader. It answers the client unless it returns node.ErrUnreached. A call
// that waits for work must not keep this member from ending.
func (f *Forwarder) carry(w http.ResponseWriter, r *http.Request, leader string) (failure error) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if !f.Tasks.Go(func() {
		select {
		case <-f.Tasks.Stopping():
			cancel()
		case <-ctx.Done():
		}
	}) {
		unavailable(w, r, outcome.ErrShutdown)
		return outcome.ErrShutdown
	}
	proxy := httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = "https", leader, ""
			p.Out.Header.Set(gate.RoleHeader, string(gate.CallerOf(r.Context()).Role))
			p.Out.Header.Set(gate.KeyHeader, gate.CallerOf(r.Context()).Key)
			p.Out.Header.Set(gate.SourceHeader, p.In.RemoteAddr)
			p.Out.Header.Set(gate.ViaHeader, f.NodeID)
		},
		Transport:     f.Transport,
		FlushInterval: -1, // streams go on as they come
		ErrorLog:      log.New(bounds.LogWriter{Log: f.Logger}, "", 0),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if failure = err; !errors.Is(err, node.ErrUnreached) {
				unavailable(w, r, fmt.Errorf("%w: the leader did not answer: %w", outcome.ErrUnknownOutcome, err))
			}
		},
	}
	proxy.ServeHTTP(w, r.WithContext(ctx))
	return failure
}

// awaitLead waits, but not for long, while this member takes up the lead that others say it
// has; false means it does not lead.
func awaitLead(ctx context.Context, leader Leader, tasks *life.Tasks) bool {
	ctx, cancel := context.WithTimeout(ctx, LeaderWait)
	defer cancel()
	for {
		leads, other, news := leader.WhoLeads()
		if leads || other != "" {
			return leads
		}
		select {
		case <-news:
		case <-tasks.Stopping():
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// unavailable says that the same call may succeed later. A stream is told by the status
// alone, which every client understands before it has read anything.
func unavailable(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, outcome.ErrNoLeader) {
		w.Header().Set(ReasonHeader, ReasonNoLeader)
	}
	errorWriter := connect.NewErrorWriter()
	if !errorWriter.IsSupported(r) || strings.HasPrefix(r.Header.Get("Content-Type"), "application/connect+") {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	// A failed write means the client has gone; there is nobody to tell.
	_ = errorWriter.Write(w, r, connect.NewError(connect.CodeUnavailable, err))
}

// unclosed is a body that stays readable; the server closes it in the end.
type unclosed struct{ io.Reader }

// Close implements io.Closer.
func (unclosed) Close() error { return nil }
