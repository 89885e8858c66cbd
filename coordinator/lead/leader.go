package lead

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gram-compute/gram/coordinator/command"
	"github.com/gram-compute/gram/coordinator/life"
	"github.com/gram-compute/gram/coordinator/meters"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/schedule"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/report/forecast"
	"github.com/hashicorp/raft"
)

// Leader leads while raft has it lead.
type Leader struct {
	cfg      Config
	fsm      *node.FSM
	member   *node.Member
	peers    *node.Peers // nil in memory
	checks   *node.Checks
	clock    *Clock
	log      *Log
	members  *Members
	meters   *meters.Meters
	commands command.Maker
	tasks    *life.Tasks
	lowDisk  atomic.Bool // the data directory's disk is nearly full
	etas     recentETAs

	mu   sync.Mutex
	lead *Leadership   // nil while not leading
	news chan struct{} // closed when the leader is another, then replaced
}

// Leadership is what lives from an election to its end.
type Leadership struct {
	Ctx  context.Context // ends with the leadership
	end  context.CancelFunc
	Term uint64
	// mu guards what follows. Who shows the board a state reads that state under mu: the board
	// must see states in their order, or it takes note of what an older one does not show yet.
	mu    sync.Mutex
	board *schedule.Board
	freed chan struct{} // closed when leases were freed, then replaced
	// A lease that is granted while decide sleeps may want it earlier.
	deciding sleeper
	waiting  waiting
	peers    peerTable  // what the other members answered
	table    checkTable // what they hashed
	asks     confirmations
	swept    pb.SweepCounters
	began    logTime

	sweeping chan struct{} // holds an element while somebody sweeps
}

// Follow begins a leadership when raft grants one and ends it when raft takes it away.
func (c *Leader) Follow(ctx context.Context, leading chan struct{}) {
	var duties sync.WaitGroup
	defer duties.Wait()
	defer c.Resign()
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
		if err := c.member.Pace(leads); err != nil {
			c.cfg.Logger.Warn("the interval of heartbeats stays as it is", "error", err)
		}
		c.Resign()
		duties.Wait()
		again = nil
		if !leads {
			continue
		}
		err := c.assume(ctx, &duties)
		if errors.Is(err, node.ErrDataDir) {
			c.cfg.Fail(err)
			return
		}
		if err != nil {
			c.cfg.Logger.Error("cannot take up leadership yet; trying again", "error", err)
			again = time.After(RetryDelay)
			continue
		}
		if leading != nil {
			close(leading)
			leading = nil
		}
	}
}

// RetryDelay is the pause before something is proposed again that could not be committed.
const RetryDelay = time.Second

// assume takes up leadership: everything committed before is applied first, then
// memory is built anew, then duties begin.
func (c *Leader) assume(ctx context.Context, duties *sync.WaitGroup) error {
	term := c.member.Raft.CurrentTerm()
	barrier := c.member.Raft.Barrier(c.cfg.ApplyTimeout)
	if err := c.log.Await(ctx, barrier); err != nil {
		return fmt.Errorf("barrier: %w", err)
	}
	if entry, ok := barrier.(raft.IndexFuture); ok {
		c.fsm.Reached(entry.Index())
	}
	life, end := context.WithCancel(ctx)
	lead := &Leadership{
		Ctx: life, end: end, Term: term, freed: make(chan struct{}), sweeping: make(chan struct{}, 1),
		deciding: sleeper{roused: make(chan struct{}, 1)},
		waiting:  waiting{sleep: sleeper{roused: make(chan struct{}, 1)}},
	}
	timekeeper{c}.firstLook(lead, duties)
	if err := (Founder{c}).initCluster(ctx); err != nil {
		end()
		return err
	}
	if now := c.member.Raft.CurrentTerm(); now != term {
		end()
		return fmt.Errorf("%w: term %d has become %d", outcome.ErrNotLeader, term, now)
	}
	view, _ := c.fsm.View()
	lead.board = schedule.NewBoard(c.cfg.Schedule, term, view, c.clock.Mono())
	lead.board.Foresee = func(o forecast.Open, take func([]float64)) { Workers{c}.foresee(lead, o, take) }
	lead.began = logTime{now: view.Now, boot: c.clock.trust.Boot()}
	c.mu.Lock()
	c.lead = lead
	c.tell()
	c.mu.Unlock()
	c.cfg.Logger.Info("leading", "term", term, "jobs_active", view.ActiveCount())
	duties.Go(func() { decider{c}.decide(lead) })
	duties.Go(func() { Workers{c}.serve(lead) })
	duties.Go(func() { tickFirer{c}.fireTicks(lead) })
	duties.Go(func() { c.members.watchMembers(lead) })
	duties.Go(func() { c.sweepNowAndThen(lead) })
	duties.Go(func() { timekeeper{c}.watchStoreClock(lead) })
	duties.Go(func() { reporter{c}.reportEnds(lead, view) })
	return nil
}

// Resign ends this leadership, if there is one.
func (c *Leader) Resign() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lead != nil {
		c.lead.end()
		c.lead = nil
		c.clock.trust.Forget()
		c.tell()
	}
}

// decider proposes what follows from the view.
type decider struct{ *Leader }

// decide proposes what follows from the view, whenever it changes or time frees a task.
func (c decider) decide(lead *Leadership) {
	for {
		view, changed := c.fsm.View()
		committed := c.proposeAll(lead, schedule.Decide(c.cfg.Schedule, view))
		now := c.clock.Mono()
		lead.mu.Lock()
		if lead.board.Expire(now) > 0 {
			lead.signal()
		}
		current, _ := c.fsm.View()
		condemned := append(lead.board.Deaths.Condemned(current, now), lead.board.Fit.Misfits(current, now)...)
		condemned = append(condemned, lead.board.Audits.Waivers(current, now)...)
		wake, timed := lead.board.NextWake(now)
		lead.deciding.until(wake, timed)
		freed := lead.freed
		lead.mu.Unlock()
		committed = c.proposeAll(lead, condemned) && committed
		if retry := now + RetryDelay; !committed && (!timed || retry < wake) {
			wake, timed = retry, true
		}
		if !c.sleepUntil(lead.Ctx, wake, timed, changed, freed, lead.deciding.roused) {
			return
		}
	}
}

// proposeAll reports whether every decision was committed.
func (c decider) proposeAll(lead *Leadership, commands []*pb.Command) bool {
	for _, cmd := range commands {
		if _, err := c.log.Propose(lead.Ctx, cmd); err != nil {
			if lead.Ctx.Err() == nil {
				c.cfg.Logger.Warn("decision not committed; it will be proposed again", "error", err)
			}
			return false
		}
	}
	return true
}

// sleepUntil waits for a change or the time; false means the leadership ended.
func (c *Leader) sleepUntil(
	ctx context.Context, wake time.Duration, timed bool, changed, freed, roused <-chan struct{},
) bool {
	var timer <-chan time.Time
	if timed {
		t := time.NewTimer(wake - c.clock.Mono())
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

// Update changes the board and wakes who waits for work.
func (l *Leadership) Update(change func(board *schedule.Board)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(l.board)
	l.signal()
}

// signal wakes who waits for work. The caller holds lead.mu.
func (l *Leadership) signal() {
	close(l.freed)
	l.freed = make(chan struct{})
}

// Leadership returns the present leadership, or ErrNotLeader.
func (c *Leader) Leadership() (*Leadership, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lead == nil {
		return nil, outcome.ErrNotLeader
	}
	return c.lead, nil
}
