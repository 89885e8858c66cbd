package coordinator

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/lease"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/internal/seeded"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/hashicorp/raft"
)

// leadership is what lives from an election to its end.
type leadership struct {
	ctx  context.Context // ends with the leadership
	end  context.CancelFunc
	term uint64
	// mu guards what follows. Who shows the board a state reads that state under mu: the board
	// must see states in their order, or it takes note of what an older one does not show yet.
	mu    sync.Mutex
	board *schedule.Board
	freed chan struct{} // closed when leases were freed, then replaced
	// Until when decide sleeps; 0 means until something changes. A lease that is granted meanwhile may want it earlier.
	asleep time.Duration
	peers  peerTable  // what the other members answered
	table  checkTable // what they hashed
	asks   confirmations
	swept  pb.SweepCounters
	began  logTime

	sweeping chan struct{} // holds an element while somebody sweeps
	roused   chan struct{} // holds an element when decide is to look again
}

// followLeadership begins a leadership when raft grants one and ends it when raft takes it away.
func (c *Coordinator) followLeadership(ctx context.Context, leading chan struct{}) {
	var duties sync.WaitGroup
	defer duties.Wait()
	defer c.resign()
	var again <-chan time.Time // to take up what could not be taken up
	for {
		leads := true
		select {
		case leads = <-c.member.Raft.LeaderCh():
		case <-again:
			leads = c.member.Raft.State() == raft.Leader
		case <-ctx.Done():
			return
		}
		c.resign()
		duties.Wait()
		again = nil
		if !leads {
			continue
		}
		err := c.assume(ctx, &duties)
		if errors.Is(err, node.ErrDataDir) {
			c.fail(err)
			return
		}
		if err != nil {
			c.cfg.Logger.Error("cannot take up leadership yet; trying again", "error", err)
			again = time.After(retryDelay)
			continue
		}
		if leading != nil {
			close(leading)
			leading = nil
		}
	}
}

// retryDelay is the pause before something is proposed again that could not be committed.
const retryDelay = time.Second

// assume takes up leadership: everything committed before is applied first, then
// memory is built anew, then duties begin.
func (c *Coordinator) assume(ctx context.Context, duties *sync.WaitGroup) error {
	term := c.member.Raft.CurrentTerm()
	barrier := c.member.Raft.Barrier(c.cfg.ApplyTimeout)
	if err := c.await(ctx, barrier); err != nil {
		return fmt.Errorf("barrier: %w", err)
	}
	if entry, ok := barrier.(raft.IndexFuture); ok {
		c.fsm.Reached(entry.Index())
	}
	life, end := context.WithCancel(ctx)
	lead := &leadership{
		ctx: life, end: end, term: term, freed: make(chan struct{}), sweeping: make(chan struct{}, 1), roused: make(chan struct{}, 1),
	}
	c.firstLook(lead, duties)
	if err := c.initCluster(ctx); err != nil {
		end()
		return err
	}
	if now := c.member.Raft.CurrentTerm(); now != term {
		end()
		return fmt.Errorf("%w: term %d has become %d", outcome.ErrNotLeader, term, now)
	}
	view, _ := c.fsm.View()
	lead.board = schedule.NewBoard(c.cfg.Schedule, term, view, c.now())
	lead.began = logTime{now: view.Now, boot: c.clock.Boot()}
	c.mu.Lock()
	c.lead = lead
	c.tell()
	c.mu.Unlock()
	c.cfg.Logger.Info("leading", "term", term, "jobs_active", view.ActiveCount())
	duties.Go(func() { c.decide(lead) })
	duties.Go(func() { c.fireSlots(lead) })
	duties.Go(func() { c.watchMembers(lead) })
	duties.Go(func() { c.sweepNowAndThen(lead) })
	duties.Go(func() { c.watchStoreClock(lead) })
	return nil
}

func (c *Coordinator) resign() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lead != nil {
		c.lead.end()
		c.lead = nil
		c.clock.Forget()
		c.tell()
	}
}

// initCluster names the cluster and stores its first tokens, once.
func (c *Coordinator) initCluster(ctx context.Context) error {
	view, _ := c.fsm.View()
	commands, err := c.initCommands(view)
	if err != nil {
		return err
	}
	for _, cmd := range commands {
		reply, err := c.propose(ctx, cmd)
		if err == nil && reply.Err != nil {
			err = reply.Err
		}
		if err != nil {
			return fmt.Errorf("initialise the cluster: %w", err)
		}
	}
	view, _ = c.fsm.View()
	return node.MarkInitialized(c.cfg.DataDir, view.ClusterID)
}

// initCommands are what the log still lacks of a cluster's beginning.
func (c *Coordinator) initCommands(view state.State) ([]*pb.Command, error) {
	var commands []*pb.Command
	if view.ClusterID == "" {
		id := uuid.NewString()
		if c.cfg.DataDir != "" {
			var err error
			if id, err = claimID(c.cfg.DataDir); err != nil {
				return nil, err
			}
		}
		commands = append(commands, &pb.Command{Body: &pb.Command_Init{Init: &pb.InitCluster{ClusterId: id, Secret: newSecret()}}})
	} else if len(view.Secret) == 0 { // an older release began it
		commands = append(commands, &pb.Command{Body: &pb.Command_SetSecret{SetSecret: &pb.SetSecret{Secret: newSecret()}}})
	}
	for _, first := range []struct {
		token gate.Token
		scope gate.Scope
		file  string
	}{{c.tokens.admin, gate.ScopeAdmin, AdminTokenFile}, {c.tokens.worker, gate.ScopeWorker, WorkerTokenFile}} {
		if first.token.ID == "" {
			continue // this member holds none: another made the cluster's
		}
		stored, known := view.Token(first.token.ID)
		if view.TokenRevoked(first.token.ID) {
			continue // the file is of no more use
		} else if !known {
			commands = append(commands, &pb.Command{Body: &pb.Command_PutToken{PutToken: &pb.PutToken{
				Id: first.token.ID, SecretSha256: first.token.SecretSHA256(), Scope: string(first.scope), Name: first.file, First: true,
			}}})
		} else if !bytes.Equal(stored.SecretSHA256, first.token.SecretSHA256()) {
			return nil, fmt.Errorf("%w: %s has another secret than the cluster knows for token %s: put the file back as it was, or remove it to have a new token made",
				node.ErrDataDir, filepath.Join(c.cfg.DataDir, first.file), first.token.ID)
		}
	}
	return commands, nil
}

// newSecret draws what a cluster keeps to itself. A machine without randomness has ended the program by then.
func newSecret() []byte {
	secret := make([]byte, 32)
	rand.Read(secret) // never fails (crypto/rand)
	return secret
}

// decide proposes what follows from the view, whenever it changes or time frees a task.
func (c *Coordinator) decide(lead *leadership) {
	for {
		view, changed := c.fsm.View()
		committed := c.proposeAll(lead, schedule.Decide(c.cfg.Schedule, view))
		now := c.now()
		lead.mu.Lock()
		if lead.board.Expire(now) > 0 {
			lead.signal()
		}
		current, _ := c.fsm.View()
		condemned := append(lead.board.Condemned(current, now), lead.board.Misfits(current, now)...)
		condemned = append(condemned, lead.board.Waivers(current, now)...)
		wake, timed := lead.board.NextWake(now)
		lead.asleep = 0
		if timed {
			lead.asleep = wake
		}
		freed := lead.freed
		lead.mu.Unlock()
		committed = c.proposeAll(lead, condemned) && committed
		if retry := now + retryDelay; !committed && (!timed || retry < wake) {
			wake, timed = retry, true
		}
		if !c.sleepUntil(lead.ctx, wake, timed, changed, freed, lead.roused) {
			return
		}
	}
}

// proposeAll reports whether every decision was committed.
func (c *Coordinator) proposeAll(lead *leadership, commands []*pb.Command) bool {
	for _, cmd := range commands {
		if _, err := c.propose(lead.ctx, cmd); err != nil {
			if lead.ctx.Err() == nil {
				c.cfg.Logger.Warn("decision not committed; it will be proposed again", "error", err)
			}
			return false
		}
	}
	return true
}

// sleepUntil waits for a change or the time; false means the leadership ended.
func (c *Coordinator) sleepUntil(ctx context.Context, wake time.Duration, timed bool, changed, freed, roused <-chan struct{}) bool {
	var timer <-chan time.Time
	if timed {
		t := time.NewTimer(wake - c.now())
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-timer:
	case <-changed:
	case <-freed:
	case <-roused:
	}
	return true
}

// rouse wakes decide where it would sleep beyond the time at which the board wants it. The caller holds lead.mu.
func (l *leadership) rouse(wake time.Duration) {
	if l.asleep != 0 && l.asleep <= wake {
		return
	}
	select {
	case l.roused <- struct{}{}:
	default: // it has been
	}
}

// granted reports whether a result comes under a lease that this cluster granted its worker, and what the lease has it
// made from. A lease of before a restore is void.
func (c *Coordinator) granted(
	l *leadership, workerID string, h schedule.Held, mac []byte,
) (basis [sha256.Size]byte, ok bool) {
	view, _ := c.fsm.View()
	l.mu.Lock()
	defer l.mu.Unlock()
	basis, ok = lease.Authentic(view.Secret, workerID, h, mac)
	return basis, ok && l.board.Granted(h.Token)
}

// signal wakes who waits for work. The caller holds lead.mu.
func (l *leadership) signal() {
	close(l.freed)
	l.freed = make(chan struct{})
}

// now reads the monotonic clock.
func (c *Coordinator) now() time.Duration {
	if seeded.Is(seeded.WallClockLease) {
		return c.cfg.wallClock().Round(0).Sub(c.started.Round(0))
	}
	return time.Since(c.started)
}

// leader returns the present leadership, or ErrNotLeader.
func (c *Coordinator) leader() (*leadership, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lead == nil {
		return nil, outcome.ErrNotLeader
	}
	return c.lead, nil
}

// read returns a state that holds every write acknowledged before the call. This
// member has applied all of earlier terms (the barrier) and answers a write of its
// own term after applying it, so it is enough that it leads still (confirm).
func (c *Coordinator) read(ctx context.Context) (state.State, <-chan struct{}, error) {
	if seeded.Is(seeded.StaleRead) {
		view, changed := c.fsm.View()
		return view, changed, nil
	}
	lead, err := c.leader()
	if err != nil {
		return state.State{}, nil, err
	}
	if err := c.confirm(ctx, lead); err != nil {
		return state.State{}, nil, readError(ctx, err)
	}
	if now, err := c.leader(); err != nil || now != lead {
		return state.State{}, nil, outcome.ErrNotLeader
	}
	view, changed := c.fsm.View()
	return view, changed, nil
}

// readError: a read that was not confirmed has changed nothing, whatever raft says.
func readError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, outcome.ErrShutdown):
		return outcome.ErrShutdown
	}
	return fmt.Errorf("%w, as far as it can tell (%v)", outcome.ErrNotLeader, err)
}
