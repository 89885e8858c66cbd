package coordinator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
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

// Start opens the log, joins the cluster, begins to serve, and returns when this
// member leads (a cluster of one elects itself) or follows and is up to date, or ctx ends.
func Start(ctx context.Context, cfg Config) (*Coordinator, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	c := unstarted(cfg)
	if err := c.start(ctx); err != nil {
		// A disk that hangs would keep raft from ending.
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.cfg.DiskLimit)
		defer cancel()
		return nil, errors.Join(err, c.Shutdown(end))
	}
	return c, nil
}

func unstarted(cfg Config) *Coordinator {
	c := &Coordinator{
		begun: make(chan struct{}),
		cfg:   cfg, fsm: node.NewFSM(), started: time.Now(),
		tasks: life.New(), ended: make(chan struct{}), failed: make(chan error, 1),
	}
	c.clock = lead.NewClock(cfg.wallClock, cfg.bootClock, c.fsm, cfg.Store)
	c.trails = audit.Trails{Now: c.clock.Wall}
	c.commands = command.Maker{StoreURI: cfg.StoreURI, Validate: cfg.Validate}
	c.meters = meters.New()
	return c
}

func (c *Coordinator) start(ctx context.Context) error {
	// The log first: its lock keeps every other process from the files made next.
	c.member = node.New(c.tasks)
	stores, err := c.member.OpenStores(c.cfg.node(), c.fail)
	if err != nil {
		return err
	}
	if c.cfg.NodeID, err = node.ID(c.cfg.node(), stores.Log); err != nil {
		return err
	}
	c.trails.Member = c.cfg.NodeID
	for _, prepare := range []func() error{c.openAudit, c.identify, c.bind,
		func() error { return c.enter(ctx, stores) }} {
		if err := prepare(); err != nil {
			return err
		}
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.cancel = cancel
	c.prepareToLead()
	c.routes()
	c.port.Serve(c.handler, c.cfg.Logger, c.fail)
	c.keepWatch(life)
	leading, following := make(chan struct{}), make(chan struct{})
	c.tasks.Go(func() { c.leads.Follow(life, leading) })
	c.tasks.Go(func() { c.awaitFollowing(life, following) })
	c.leads.Work(life)
	c.tasks.Go(func() { c.watchOwner(life) })
	c.tasks.Go(func() { c.member.KeepLogSmall(life, c.cfg.Logger) })
	select {
	case <-leading:
	case <-following:
	case err := <-c.failed:
		c.failed <- err
		return err
	case <-ctx.Done():
		return fmt.Errorf("wait for a leader: %w", context.Cause(ctx))
	}
	close(c.begun)
	return nil
}

// bind opens the API's port.
func (c *Coordinator) bind() (err error) {
	c.port, err = listen.Bind(c.cfg.ListenAddr, c.identity, c.cfg.limits)
	return err
}

// identify reads or makes this member's certificate.
func (c *Coordinator) identify() error {
	if c.cfg.DataDir == "" {
		return nil
	}
	if err := checkAuthority(c.cfg); err != nil {
		return err
	}
	issued, err := pki.IssuedElsewhere(filepath.Join(c.cfg.DataDir, "pki"))
	if err != nil {
		return err
	}
	names, err := certificateNames(c.cfg, !issued)
	if err != nil {
		return err
	}
	c.identity, err = pki.LoadOrCreate(filepath.Join(c.cfg.DataDir, "pki"), names, time.Now())
	return err
}

// enter makes this process a member: of the cluster its log tells of, of the one it is
// told to join, or of a new one.
func (c *Coordinator) enter(ctx context.Context, stores node.Stores) error {
	if err := node.CheckDiverged(c.cfg.DataDir); err != nil {
		return err
	}
	marked, err := node.CheckMarker(c.cfg.DataDir, stores.Log)
	if err != nil {
		return err
	}
	c.joinedID.Store(&marked)
	if err := c.member.OpenTransport(c.cfg.node(), c.identity, c.clusterID); err != nil {
		return err
	}
	joining := len(c.cfg.Join) > 0 && marked == ""
	if joining {
		begins, err := c.begins(ctx)
		if err != nil {
			return err
		}
		joining = !begins
	}
	if joining {
		id, err := c.join(ctx, stores)
		if err != nil {
			return err
		}
		c.joinedID.Store(&id)
	}
	if err := c.ownStore(ctx, stores); err != nil {
		return err
	}
	if err := c.member.Start(c.cfg.node(), stores, c.fsm, joining); err != nil {
		return err
	}
	alone := false // then it makes what tokens are missing
	if !joining {
		servers, _, err := c.member.Servers()
		if err != nil {
			return err
		}
		alone = len(servers) == 1
	}
	c.tokens, err = loadTokens(c.cfg.DataDir, alone)
	return err
}

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
