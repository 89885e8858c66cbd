package coordinator

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gram-compute/gram/coordinator/audit"
	"github.com/gram-compute/gram/coordinator/command"
	"github.com/gram-compute/gram/coordinator/lead"
	"github.com/gram-compute/gram/coordinator/life"
	"github.com/gram-compute/gram/coordinator/listen"
	"github.com/gram-compute/gram/coordinator/meters"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/pki"
)

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

// ownStore makes sure that the store is this cluster's: of one that is restored or begun here, or of the one it belongs
// to.
func (c *Coordinator) ownStore(ctx context.Context, stores node.Stores) (err error) {
	switch id := c.clusterID(); {
	case c.cfg.Restore != "":
		return c.restore(ctx, stores)
	case id != "":
		c.askOwner, err = c.checkOwner(ctx, id)
		return err
	}
	return c.claim(ctx, "")
}
