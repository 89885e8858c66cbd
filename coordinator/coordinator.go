package coordinator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gram-compute/gram/coordinator/api"
	"github.com/gram-compute/gram/coordinator/audit"
	"github.com/gram-compute/gram/coordinator/command"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/lead"
	"github.com/gram-compute/gram/coordinator/life"
	"github.com/gram-compute/gram/coordinator/listen"
	"github.com/gram-compute/gram/coordinator/meters"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/pki"
	"github.com/gram-compute/gram/web"
)

// Coordinator is one running member. Start it, serve its Handler or let it listen, and Shutdown.
type Coordinator struct {
	cfg      Config
	identity *pki.Identity // nil in memory
	tokens   bootTokens
	fsm      *node.FSM
	member   *node.Member
	handler  http.Handler
	door     *gate.Gate
	site     *web.Site
	port     *listen.Port           // nil without a listener
	peers    *node.Peers            // nil in memory
	peerPort *listen.PeerPort       // nil in memory
	joinedID atomic.Pointer[string] // the cluster's id, before the log tells it
	askOwner bool                   // the store has not said yet whose it is
	restored *Restored              // nil unless it was begun with a backup
	started  time.Time
	clock    *lead.Clock
	leads    *lead.Leader
	services api.Services
	checks   node.Checks
	ended    chan struct{} // closed when raft has ended
	stopOnce sync.Once
	failed   chan error
	broken   atomic.Bool   // fail was called
	leaving  atomic.Bool   // Shutdown was called
	begun    chan struct{} // closed when the log is applied and calls are answered
	meters   *meters.Meters
	trails   audit.Trails
	commands command.Maker
	cancel   context.CancelFunc
	tasks    *life.Tasks
}

// Restored tells what came of Config.Restore; nil without it.
func (c *Coordinator) Restored() *Restored { return c.restored }

// clusterID is "" before the first start of a new cluster has named it.
func (c *Coordinator) clusterID() string {
	if view, _ := c.fsm.View(); view.ClusterID != "" {
		return view.ClusterID
	}
	if id := c.joinedID.Load(); id != nil {
		return *id
	}
	return ""
}

// fail reports what this process cannot go on with; the first counts.
func (c *Coordinator) fail(err error) {
	c.broken.Store(true)
	c.cfg.Logger.Error("coordinator failed", "error", err)
	select {
	case c.failed <- err:
	default:
	}
}

// Failed yields an error when the process must end at once, without waiting for
// Shutdown: a log store that fails or hangs.
func (c *Coordinator) Failed() <-chan error { return c.failed }

// Handler is the whole API behind the gate.
func (c *Coordinator) Handler() http.Handler { return c.handler }

// Addr is the address of the API, or "" without a listener.
func (c *Coordinator) Addr() string {
	return c.port.Addr()
}

// RaftAddr is the address of the port between coordinators, or "" in memory.
func (c *Coordinator) RaftAddr() string { return string(c.member.Address) }

// CAPEM is the authority clients verify the API with; nil in memory.
func (c *Coordinator) CAPEM() []byte {
	if c.identity == nil {
		return nil
	}
	return c.identity.CAPEM
}

// AdminToken and WorkerToken are the credentials made at first start.
func (c *Coordinator) AdminToken() gate.Token { return c.tokens.admin }

// WorkerToken is the credential workers register with.
func (c *Coordinator) WorkerToken() gate.Token { return c.tokens.worker }

// Shutdown stops serving, lets running calls end until ctx does, and stops raft. It
// returns an error when ctx ends first, as it must when the disk hangs. Only the
// first call does anything.
func (c *Coordinator) Shutdown(ctx context.Context) (err error) {
	c.stopOnce.Do(func() { err = c.shutdown(ctx) })
	return err
}

func (c *Coordinator) shutdown(ctx context.Context) error {
	c.leaving.Store(true)
	if c.leads != nil {
		c.leads.HandOver(ctx)
	}
	c.tasks.Stop()
	var failures []error
	failures = append(failures, c.port.Shutdown(ctx))
	if c.peerPort != nil {
		failures = append(failures, c.peerPort.Shutdown(ctx))
		c.peers.Transport.CloseIdleConnections()
	}
	if c.cancel != nil {
		c.cancel()
	}
	var closeErr error
	go func() { // waited for below, unless the disk hangs
		defer close(c.ended)
		closeErr = c.closeMember()
	}()
	select {
	case <-c.ended:
		failures = append(failures, closeErr)
	case <-ctx.Done():
		failures = append(failures, fmt.Errorf("raft has not ended: %w", context.Cause(ctx)))
	}
	return errors.Join(failures...)
}

// closeMember ends raft after all that waits for it: raft leaves some futures
// (VerifyLeader's) without an answer when it ends before them.
func (c *Coordinator) closeMember() error {
	c.tasks.Wait()
	if c.member == nil {
		return c.trails.Log.Close()
	}
	return errors.Join(c.member.Close(), c.trails.Log.Close())
}
