package lead

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gram-compute/gram/coordinator/clock"
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

// errClock: the wall clock is not trusted, so nothing is done that cannot be taken back and rests on the time.
var errClock = errors.New("the leader's clock is not trusted")

// MayTime returns nil while this member leads and its decisions may rest on the time, else why not.
func (c *Leader) MayTime() error {
	lead, err := c.Leadership()
	if err != nil {
		return err
	}
	return c.mayTime(lead)
}

// mayTime returns nil if decisions may rest on the time, else why not.
func (c *Leader) mayTime(lead *Leadership) error {
	v := c.clock.Verdict()
	if !v.Trusted() {
		return fmt.Errorf("%w: %s", errClock, ClockText(v))
	}
	if v.Others > 0 {
		return nil
	}
	if c.voters() > 1 && lead.silent() {
		return fmt.Errorf("%w yet: no other member has told its time", errClock)
	}
	return nil
}

// voters counts the members with a vote; 0 where raft is ending.
func (c *Leader) voters() (n int) {
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

// timekeeper is what every member and the leader do about the time.
type timekeeper struct{ *Leader }

// watchClock judges the clock until ctx ends, says what changes, and does what a leader owes the others.
func (c timekeeper) watchClock(ctx context.Context) {
	pause := clockPoll
	if c.member.Port == nil {
		pause = longestNap // nobody waits for this member to hand the lead over
	}
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	jumps := clockWatch{wall: c.clock.wall(), mono: c.clock.trust.Boot()}
	last := clock.None
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		now := c.clock.wall()
		v := c.clock.Verdict()
		if jump := jumps.look(now, c.clock.trust.Boot()); jump.Abs() > clock.JumpLimit {
			c.cfg.Logger.Warn("the wall clock jumped", "by", jump.String(), "now", now.UTC(), "trusted", v.Trusted())
		}
		switch {
		case v.Doubt == last:
		case v.Trusted():
			c.cfg.Logger.Warn("the clock is trusted again")
		default:
			c.cfg.Logger.Error("the clock is not trusted: no tick fires, and nothing is retired or swept", "why",
				ClockText(v))
		}
		last = v.Doubt
		if lead, err := c.Leadership(); err == nil {
			c.clockDuties(ctx, lead, v)
		}
	}
}

// clockDuties hands the lead over when this clock is wrong, and sets the log's time back when that ran ahead.
func (c timekeeper) clockDuties(ctx context.Context, lead *Leadership, v clock.Verdict) {
	if v.Doubt == clock.Disagrees {
		c.leadElsewhere(ctx, "its clock disagrees with the others'",
			func(p peer) bool { return p.clock != nil && p.clock.GetTrusted() })
	}
	if err := c.mayTime(lead); err != nil || !v.Confirmed {
		return
	}
	if view, _ := c.fsm.View(); view.Now-c.clock.Wall().UnixMilli() > logAhead.Milliseconds() {
		if _, err := c.setClock(lead.Ctx); err != nil && lead.Ctx.Err() == nil {
			c.cfg.Logger.Warn("the log's time is ahead, and was not set back yet; trying again", "error", err)
		}
	}
}

// setClock sets the log's time to this member's, and returns how far that was back.
func (c timekeeper) setClock(ctx context.Context) (backMs int64, err error) {
	view, _ := c.fsm.View()
	now := c.clock.Wall().UnixMilli()
	reply, err := c.log.Propose(ctx, &pb.Command{Body: &pb.Command_SetClock{SetClock: &pb.SetClock{NowUnixMs: now}}})
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
func (c timekeeper) firstLook(lead *Leadership, duties *sync.WaitGroup) {
	c.clock.trust.Forget()
	servers, _, err := c.member.Servers()
	if err != nil || c.member.Port == nil {
		servers = nil
	}
	answered := make(chan struct{}, len(servers)+1)
	asked := 1
	duties.Go(func() {
		c.clock.askStore(lead.Ctx)
		answered <- struct{}{}
	})
	for _, s := range servers {
		if s.ID == raft.ServerID(c.cfg.NodeID) {
			continue
		}
		asked++
		duties.Go(func() {
			c.members.probeMember(lead, s)
			answered <- struct{}{}
		})
	}
	for left := asked; left > 0; left-- {
		if v := c.clock.Verdict(); v.Trusted() && 2*(v.Others+1) > asked && v.Others > 0 {
			break
		}
		select {
		case <-answered:
		case <-lead.Ctx.Done():
			return
		}
	}
	view, _ := c.fsm.View()
	c.clock.trust.NotBefore(time.UnixMilli(view.Now))
}

// watchStoreClock compares the clock with the store's until the leadership ends.
func (c timekeeper) watchStoreClock(lead *Leadership) {
	if _, dated := c.cfg.Store.(objstore.Dater); !dated {
		return
	}
	ticker := time.NewTicker(storePoll)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			c.clock.askStore(lead.Ctx)
		case <-lead.Ctx.Done():
			return
		}
	}
}

// logTime is the log's time at an instant of the boot clock.
type logTime struct {
	now  int64 // Unix milliseconds
	boot time.Duration
}

// retiring is the time that jobs are retired by. What no other clock and no person confirms does not count
// faster than the boot clock since this leadership began: a step of the wall clock alone retires nothing.
func (c *Leader) retiring(lead *Leadership) int64 {
	now := c.clock.Wall().UnixMilli()
	if c.clock.Verdict().Confirmed || lead.began.now == 0 {
		return now
	}
	return min(now, lead.began.now+(c.clock.trust.Boot()-lead.began.boot).Milliseconds())
}

// heedTime takes what the leader says of the time; 0 is nothing.
func (c *Leader) heedTime(unixMs int64) {
	if _, err := c.Leadership(); err != nil && unixMs != 0 {
		c.clock.trust.Note(leaderClock, time.UnixMilli(unixMs), c.clock.trust.Boot(), true)
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

// AcceptClock trusts this leader's wall clock as it is. The other members follow within seconds where theirs agree
// with it.
func (c *Leader) AcceptClock(ctx context.Context) (*pb.AcceptClockResponse, error) {
	if _, _, err := c.Read(ctx); err != nil {
		return nil, err
	}
	res := &pb.AcceptClockResponse{Accepted: !c.clock.Verdict().Trusted()}
	if res.Accepted {
		c.clock.Accept()
		c.cfg.Logger.Warn("the clock was accepted by a person", "now", c.clock.Wall().UTC())
	}
	view, _ := c.fsm.View()
	if view.Now-c.clock.Wall().UnixMilli() > clock.JumpLimit.Milliseconds() {
		back, err := timekeeper{c}.setClock(ctx)
		if err != nil {
			return nil, err
		}
		res.Accepted, res.SetBackMs = true, back
	}
	res.NowUnixMs = c.clock.Wall().UnixMilli()
	return res, nil
}
