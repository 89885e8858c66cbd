package coordinator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gram-compute/gram/coordinator/clock"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/internal/seeded"
	"github.com/gram-compute/gram/objstore"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/hashicorp/raft"
)

const (
	// clockPoll is how often a member judges its clock, besides whenever it reads it.
	clockPoll = time.Second
	// storePoll is how often the leader asks the store for the time.
	storePoll = 10 * time.Second
	// storeWait bounds one such question.
	storeWait = 2 * time.Second
	// slowAnswer makes an answer useless as a clock: its time may be that of any instant in between.
	slowAnswer = 10 * time.Second
	// logAhead is how far the log's time may be ahead of the agreed one before it is set back: each of two
	// leaders' clocks may have been off by clock.MaxSkew.
	logAhead = 2 * clock.MaxSkew
)

// The names of clocks that are no member's; a member's id has no colon.
const (
	leaderClock = "leader:"
	storeClock  = "store:"
)

// wall is the time as this member takes it to be: its wall clock while that is trusted.
func (c *Coordinator) wall() time.Time {
	if seeded.Is(seeded.ClockTrusted) {
		return c.cfg.wallClock()
	}
	return c.clock.Now()
}

// verdict is what this member knows of its wall clock.
func (c *Coordinator) verdict() clock.Verdict {
	if seeded.Is(seeded.ClockTrusted) {
		return clock.Verdict{}
	}
	return c.clock.Verdict()
}

// admitted is the time that tokens are judged by. What the log's time has passed stays expired.
func (c *Coordinator) admitted() time.Time {
	now := c.wall()
	if view, _ := c.fsm.View(); !seeded.Is(seeded.ClockTrusted) && now.UnixMilli() < view.Now {
		return time.UnixMilli(view.Now)
	}
	return now
}

// errClock: the wall clock is not trusted, so nothing is done that cannot be taken back and rests on the time.
var errClock = errors.New("the leader's clock is not trusted")

// mayTime returns nil if decisions may rest on the time, else why not.
func (c *Coordinator) mayTime(lead *leadership) error {
	v := c.verdict()
	if !v.Trusted() {
		return fmt.Errorf("%w: %s", errClock, clockText(v))
	}
	if v.Others > 0 || seeded.Is(seeded.ClockTrusted) {
		return nil
	}
	if c.voters() > 1 && lead.silent() {
		return fmt.Errorf("%w yet: no other member has told its time", errClock)
	}
	return nil
}

// voters counts the members with a vote; 0 where raft is ending.
func (c *Coordinator) voters() (n int) {
	servers, _, err := c.member.Servers()
	if err != nil {
		return 0
	}
	for _, s := range servers {
		if s.Suffrage == raft.Voter {
			n++
		}
	}
	return n
}

// clockText says why a clock is not trusted, and what to do; empty where it is.
func clockText(v clock.Verdict) string {
	by, way := v.Offset.Abs().Round(time.Millisecond), "ahead of"
	if v.Offset < 0 {
		way = "behind"
	}
	const advice = "Set it right, or say `gram cluster clock accept` if it is right"
	switch v.Doubt {
	case clock.Disagrees:
		return fmt.Sprintf("it is %s %s the other clocks. %s", by, way, advice)
	case clock.Jumped:
		return fmt.Sprintf("it jumped, and is %s %s the time since boot. %s", by, way, advice)
	case clock.Behind:
		return fmt.Sprintf("it is %s behind the last entry of the log. %s", by, advice)
	}
	return ""
}

// watchClock judges the clock until ctx ends, says what changes, and does what a leader owes the others.
func (c *Coordinator) watchClock(ctx context.Context) {
	pause := clockPoll
	if c.member.Port == nil {
		pause = longestNap // nobody waits for this member to hand the lead over
	}
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	jumps := clockWatch{wall: c.cfg.wallClock(), mono: c.clock.Boot()}
	last := clock.None
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		now := c.cfg.wallClock()
		v := c.verdict()
		if jump := jumps.look(now, c.clock.Boot()); jump.Abs() > clock.JumpLimit {
			c.cfg.Logger.Warn("the wall clock jumped", "by", jump.String(), "now", now.UTC(), "trusted", v.Trusted())
		}
		switch {
		case v.Doubt == last:
		case v.Trusted():
			c.cfg.Logger.Warn("the clock is trusted again")
		default:
			c.cfg.Logger.Error("the clock is not trusted: no slot fires, and nothing is retired or swept", "why", clockText(v))
		}
		last = v.Doubt
		if lead, err := c.leader(); err == nil {
			c.clockDuties(ctx, lead, v)
		}
	}
}

// clockDuties hands the lead over when this clock is wrong, and sets the log's time back when that ran ahead.
func (c *Coordinator) clockDuties(ctx context.Context, lead *leadership, v clock.Verdict) {
	if v.Doubt == clock.Disagrees {
		c.leadElsewhere(ctx, "its clock disagrees with the others'", func(p peer) bool { return p.clock != nil && p.clock.GetTrusted() })
	}
	if err := c.mayTime(lead); err != nil || !v.Confirmed {
		return
	}
	if view, _ := c.fsm.View(); view.Now-c.wall().UnixMilli() > logAhead.Milliseconds() {
		if _, err := c.setClock(lead.ctx); err != nil && lead.ctx.Err() == nil {
			c.cfg.Logger.Warn("the log's time is ahead, and was not set back yet; trying again", "error", err)
		}
	}
}

// setClock sets the log's time to this member's, and returns how far that was back.
func (c *Coordinator) setClock(ctx context.Context) (backMs int64, err error) {
	view, _ := c.fsm.View()
	now := c.wall().UnixMilli()
	reply, err := c.propose(ctx, &pb.Command{Body: &pb.Command_SetClock{SetClock: &pb.SetClock{NowUnixMs: now}}})
	if err == nil && reply.Err != nil {
		err = reply.Err
	}
	if err != nil {
		return 0, err
	}
	c.cfg.Logger.Warn("the log's time was set", "from", utc(view.Now), "to", utc(now))
	return max(0, view.Now-now), nil
}

// firstLook asks the other members and the store for the time before this member leads: until most clocks agree
// with its own, or all have answered or are given up.
func (c *Coordinator) firstLook(lead *leadership, duties *sync.WaitGroup) {
	c.clock.Forget()
	servers, _, err := c.member.Servers()
	if err != nil || c.member.Port == nil {
		servers = nil
	}
	answered := make(chan struct{}, len(servers)+1)
	asked := 1
	duties.Go(func() {
		c.askStore(lead.ctx)
		answered <- struct{}{}
	})
	for _, s := range servers {
		if s.ID == raft.ServerID(c.cfg.NodeID) {
			continue
		}
		asked++
		duties.Go(func() {
			c.probeMember(lead, s)
			answered <- struct{}{}
		})
	}
	for left := asked; left > 0; left-- {
		if v := c.verdict(); v.Trusted() && 2*(v.Others+1) > asked && v.Others > 0 {
			break
		}
		select {
		case <-answered:
		case <-lead.ctx.Done():
			return
		}
	}
	view, _ := c.fsm.View()
	c.clock.NotBefore(time.UnixMilli(view.Now))
}

// watchStoreClock compares the clock with the store's until the leadership ends.
func (c *Coordinator) watchStoreClock(lead *leadership) {
	if _, dated := c.cfg.Store.(objstore.Dater); !dated {
		return
	}
	ticker := time.NewTicker(storePoll)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			c.askStore(lead.ctx)
		case <-lead.ctx.Done():
			return
		}
	}
}

// askStore notes the store's time, if it tells one.
func (c *Coordinator) askStore(ctx context.Context) {
	store, dated := c.cfg.Store.(objstore.Dater)
	if !dated {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	c.askTime(storeClock, func() (time.Time, error) {
		at, err := store.Date(ctx)
		return at, err
	})
}

// askTime notes what a clock shows: halfway between question and answer.
func (c *Coordinator) askTime(name string, ask func() (time.Time, error)) {
	before := c.clock.Boot()
	shown, err := ask()
	took := c.clock.Boot() - before
	if err != nil || shown.IsZero() || took > slowAnswer {
		return
	}
	c.clock.Note(name, shown, before+took/2, false)
}

// silent reports whether other members were asked, and none that answers has told its time. Those of an
// earlier release answer without one.
func (l *leadership) silent() bool {
	l.peers.mu.Lock()
	defer l.peers.mu.Unlock()
	for _, p := range l.peers.peers { // in any order
		if p.healthy && p.clock == nil {
			return false
		}
	}
	return len(l.peers.peers) > 0
}

// logTime is the log's time at an instant of the boot clock.
type logTime struct {
	now  int64 // Unix milliseconds
	boot time.Duration
}

// retiring is the time that jobs are retired by. What no other clock and no person confirms does not count
// faster than the boot clock since this leadership began: a step of the wall clock alone retires nothing.
func (c *Coordinator) retiring(lead *leadership) int64 {
	now := c.wall().UnixMilli()
	if c.verdict().Confirmed || seeded.Is(seeded.ClockTrusted) || lead.began.now == 0 {
		return now
	}
	return min(now, lead.began.now+(c.clock.Boot()-lead.began.boot).Milliseconds())
}

// agreedTime is the time on which this leader's clock and others agree; zero where they do not.
func (c *Coordinator) agreedTime() time.Time {
	if v := c.verdict(); !v.Trusted() || !v.Confirmed {
		return time.Time{}
	}
	return c.wall()
}

// heedTime takes what the leader says of the time; 0 is nothing.
func (c *Coordinator) heedTime(unixMs int64) {
	if _, err := c.leader(); err != nil && unixMs != 0 {
		c.clock.Note(leaderClock, time.UnixMilli(unixMs), c.clock.Boot(), true)
	}
}

// clockOf is what a member told of its clock; nil where it is of an earlier release.
func clockOf(answer *pb.HealthResponse) *pb.ClockStatus {
	if answer.GetClockUnixMs() == 0 {
		return nil
	}
	return &pb.ClockStatus{Trusted: answer.GetClockTrusted(), OffsetMs: answer.GetClockOffsetMs(), NowUnixMs: answer.GetClockUnixMs()}
}

// clockStatus is the clock as people see it.
func (c *Coordinator) clockStatus(view state.State) *pb.ClockStatus {
	v := c.verdict()
	now := c.wall().UnixMilli()
	return &pb.ClockStatus{
		Trusted: v.Trusted(), Reason: clockText(v), OffsetMs: v.Offset.Milliseconds(), Others: uint32(v.Others), NowUnixMs: now,
		LogAheadMs: max(0, view.Now-now),
	}
}

// clockWatch compares the wall clock with the boot clock.
type clockWatch struct {
	wall time.Time
	mono time.Duration
}

// look returns how much further the wall clock went than the boot clock since the last look.
func (w *clockWatch) look(wall time.Time, mono time.Duration) time.Duration {
	wall = wall.Round(0) // without its monotonic reading, which Sub would take
	jump := wall.Sub(w.wall.Round(0)) - (mono - w.mono)
	w.wall, w.mono = wall, mono
	return jump
}
