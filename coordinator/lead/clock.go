package lead

import (
	"context"
	"fmt"
	"time"

	"github.com/gram-compute/gram/coordinator/clock"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/objstore"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// The names of clocks that are no member's; a member's id has no colon.
const (
	leaderClock = "leader:"
	storeClock  = "store:"
)

// Clock is this member's time: its wall clock as far as that is trusted, and its monotonic clock.
type Clock struct {
	trust   *clock.Clock
	wall    func() time.Time // what the machine shows
	fsm     *node.FSM
	store   objstore.Store // asked for its time
	started time.Time
}

// NewClock begins to judge the wall clock, by the time since the machine's boot first of all.
func NewClock(wall func() time.Time, boot func() time.Duration, fsm *node.FSM, store objstore.Store) *Clock {
	return &Clock{trust: clock.New(wall, boot), wall: wall, fsm: fsm, store: store, started: time.Now()}
}

// Accept trusts the wall clock as it is.
func (c *Clock) Accept() { c.trust.Accept() }

// Started is when Mono was 0.
func (c *Clock) Started() time.Time { return c.started }

// Wall is the time as this member takes it to be: its wall clock while that is trusted.
func (c *Clock) Wall() time.Time {
	return c.trust.Now()
}

// Verdict is what this member knows of its wall clock.
func (c *Clock) Verdict() clock.Verdict {
	return c.trust.Verdict()
}

// Admitted is the time that tokens are judged by. What the log's time has passed stays expired.
func (c *Clock) Admitted() time.Time {
	now := c.Wall()
	if view, _ := c.fsm.View(); now.UnixMilli() < view.Now {
		return time.UnixMilli(view.Now)
	}
	return now
}

// ClockText says why a clock is not trusted, and what to do; empty where it is.
func ClockText(v clock.Verdict) string {
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

// askStore notes the store's time, if it tells one.
func (c *Clock) askStore(ctx context.Context) {
	store, dated := c.store.(objstore.Dater)
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
func (c *Clock) askTime(name string, ask func() (time.Time, error)) {
	before := c.trust.Boot()
	shown, err := ask()
	took := c.trust.Boot() - before
	if err != nil || shown.IsZero() || took > slowAnswer {
		return
	}
	c.trust.Note(name, shown, before+took/2, false)
}

// agreedTime is the time on which this leader's clock and others agree; zero where they do not.
func (c *Clock) agreedTime() time.Time {
	if v := c.Verdict(); !v.Trusted() || !v.Confirmed {
		return time.Time{}
	}
	return c.Wall()
}

// clockOf is what a member told of its clock; nil where it is of an earlier release.
func clockOf(answer *pb.HealthResponse) *pb.ClockStatus {
	if answer.GetClockUnixMs() == 0 {
		return nil
	}
	return &pb.ClockStatus{Trusted: answer.GetClockTrusted(), OffsetMs: answer.GetClockOffsetMs(),
		NowUnixMs: answer.GetClockUnixMs()}
}

// Status is the clock as people see it.
func (c *Clock) Status(view state.State) *pb.ClockStatus {
	v := c.Verdict()
	now := c.Wall().UnixMilli()
	return &pb.ClockStatus{
		Trusted: v.Trusted(), Reason: ClockText(v), OffsetMs: v.Offset.Milliseconds(), Others: uint32(v.Others),
		NowUnixMs:  now,
		LogAheadMs: max(0, view.Now-now),
	}
}

// Mono reads the monotonic clock, from the start on.
func (c *Clock) Mono() time.Duration {
	return time.Since(c.started)
}
