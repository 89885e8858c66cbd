package coordinator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/bounds"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/internal/seeded"
	"github.com/hashicorp/raft"
)

const (
	// leaderWait is how long a call waits for there to be a leader. Elections take one to three seconds.
	leaderWait = 5 * time.Second
	// dialAgain is the pause before a leader that was not reached is tried again: raft notices
	// its end later than the network does.
	dialAgain = 100 * time.Millisecond
)

// ReasonHeader of an answer tells clients what a code cannot: that members are up and the cluster stands still.
const (
	ReasonHeader   = "Gram-Reason"
	ReasonNoLeader = "no-leader"
)

// forwarder stands behind the gate: it answers on the leader and carries every other call
// there, so that a client may talk to any member. The leader's gate looks at it again.
type forwarder struct {
	c     *Coordinator
	local http.Handler
}

// ServeHTTP implements http.Handler.
func (f *forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = unclosed{r.Body} // an attempt that reaches nobody must not close it
	wait, cancel := context.WithTimeout(r.Context(), leaderWait)
	defer cancel()
	for {
		leads, address, news := f.c.whoLeads()
		if leads || seeded.Is(seeded.StaleRead) && strings.HasSuffix(r.URL.Path, "/Get") {
			f.local.ServeHTTP(w, r)
			return
		}
		if address != "" && !errors.Is(f.carry(w, r, address), node.ErrUnreached) {
			return
		}
		retry := time.NewTimer(dialAgain)
		select {
		case <-news:
		case <-retry.C:
		case <-f.c.tasks.Stopping():
			unavailable(w, r, outcome.ErrShutdown)
			return
		case <-wait.Done():
			unavailable(w, r, f.c.errNoLeader())
			return
		}
		retry.Stop()
	}
}

// carry hands a call to the leader. It answers the client unless it returns errDial. A call
// that waits for work must not keep this member from ending.
func (f *forwarder) carry(w http.ResponseWriter, r *http.Request, leader string) (failure error) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if !f.c.tasks.Go(func() {
		select {
		case <-f.c.tasks.Stopping():
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
			p.Out.Header.Set(sourceHeader, p.In.RemoteAddr)
			p.Out.Header.Set(viaHeader, f.c.cfg.NodeID)
		},
		Transport:     f.c.peers.Transport,
		FlushInterval: -1, // streams go on as they come
		ErrorLog:      log.New(bounds.LogWriter{Log: f.c.cfg.Logger}, "", 0),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if failure = err; !errors.Is(err, node.ErrUnreached) {
				unavailable(w, r, fmt.Errorf("%w: the leader did not answer: %w", outcome.ErrUnknownOutcome, err))
			}
		},
	}
	proxy.ServeHTTP(w, r.WithContext(ctx))
	return failure
}

// whoLeads tells whether this member leads, else where the leader is ("": unknown), and a
// channel that is closed when that has changed.
func (c *Coordinator) whoLeads() (leads bool, address string, news <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lead != nil {
		return true, "", c.news
	}
	at, id := c.member.Raft.LeaderWithID()
	if id == raft.ServerID(c.cfg.NodeID) {
		at = "" // elected, but not up to date yet
	}
	return false, string(at), c.news
}

// awaitLead waits, but not for long, while this member takes up the lead that others take it
// to have; false means it does not lead.
func (c *Coordinator) awaitLead(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, leaderWait)
	defer cancel()
	for {
		leads, other, news := c.whoLeads()
		if leads || other != "" {
			return leads
		}
		select {
		case <-news:
		case <-c.tasks.Stopping():
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// tell wakes who waits for a leader. The caller holds c.mu.
func (c *Coordinator) tell() {
	close(c.news)
	c.news = make(chan struct{})
}

// watchLeader tells of the leaders that raft hears of.
func (c *Coordinator) watchLeader(ctx context.Context) {
	heard := make(chan raft.Observation, 1)
	observer := raft.NewObserver(heard, false, func(o *raft.Observation) bool {
		_, ok := o.Data.(raft.LeaderObservation)
		return ok
	})
	c.member.Raft.RegisterObserver(observer)
	defer c.member.Raft.DeregisterObserver(observer)
	for {
		select {
		case <-heard:
			c.mu.Lock()
			c.tell()
			c.mu.Unlock()
		case <-ctx.Done():
			return
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
