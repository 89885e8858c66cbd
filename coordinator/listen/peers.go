package listen

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"

	"github.com/gram-compute/gram/coordinator/bounds"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/life"
	"github.com/gram-compute/gram/coordinator/outcome"
)

// Carried serves clients' calls that another member hands on. Certificates with the role stand in for tokens
// between members; such a call has its token with it, and passes the leader's gate too.
func Carried(leader Leader, tasks *life.Tasks, api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !awaitLead(r.Context(), leader, tasks) { // it may not know its tokens yet, and hands nothing on twice
			unavailable(w, r, outcome.ErrNotLeader)
			return
		}
		api.ServeHTTP(w, gate.HandedOn(r))
	})
}

// PeerPort serves the calls that other members make on the raft port.
type PeerPort struct {
	server  *http.Server
	serving sync.WaitGroup
}

// ServePeers begins to serve; fail hears of an end that nobody asked for.
func ServePeers(
	calls net.Listener, handler http.Handler, limits bounds.Limits, logger *slog.Logger, fail func(error),
) *PeerPort {
	p := &PeerPort{server: limits.Server(handler, logger)}
	p.serving.Go(func() {
		if err := p.server.Serve(calls); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			fail(err)
		}
	})
	return p
}

// Shutdown lets running calls end until ctx does.
func (p *PeerPort) Shutdown(ctx context.Context) error {
	err := p.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, p.server.Close())
	}
	p.serving.Wait()
	return err
}
