package schedule

import (
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

const (
	// tickGrace is how late a tick may fire and not count as missed: elections take seconds.
	tickGrace = time.Minute
	// maxTickQueue bounds the jobs of one schedule that have not ended, where they queue.
	maxTickQueue = 100
	// maxDueTicks bounds the ticks looked at in one go. Of more, the last are looked at again
	// among those that follow, for the catch-up policy is about the newest.
	maxDueTicks = 4096
)

// decider goes through the ticks of one schedule that have come due, in order.
type decider struct {
	calendar *Calendar
	view     state.State
	entry    *entry
	now      time.Time
	room     int   // jobs that may still be made
	last     int64 // the last tick decided
	running  int   // jobs of the schedule that have not ended
	commands []*pb.Command
}

type dueTick struct{ at, due time.Time }

func (d *decider) run() {
	ticks, more := d.due()
	d.running = d.view.JobsOf(d.entry.sched.ID())
	decide := len(ticks)
	if more {
		decide -= state.MaxCatchUp
	}
	for i, tick := range ticks[:decide] {
		if !d.decide(tick, len(ticks)-1-i) {
			d.calendar.blocked = true
			return
		}
	}
}

// due lists the ticks that have come due; more says that it is not all of them.
func (d *decider) due() (ticks []dueTick, more bool) {
	e := d.entry
	at, next, due := e.next, e.after, e.due
	for !at.IsZero() && !d.now.Before(due) {
		if len(ticks) == maxDueTicks {
			return ticks, true
		}
		ticks = append(ticks, dueTick{at, due})
		if at = next; !at.IsZero() {
			next = e.table.Next(at)
			due = dueAt(e.sched, at, next)
		}
	}
	return ticks, false
}

// decide fires or skips one tick, with later ones due as well. It reports
// false when there is no room for the job: the tick then waits.
func (d *decider) decide(tick dueTick, later int) bool {
	sched := d.entry.sched
	reason := missed(sched, tick, d.now, later)
	if reason == pb.SkipReason_SKIP_REASON_UNSPECIFIED {
		reason = d.overlaps()
	}
	if reason != pb.SkipReason_SKIP_REASON_UNSPECIFIED {
		d.skip(tick.at, reason)
		return true
	}
	job, err := d.calendar.job(sched, tick.at)
	if err != nil {
		d.skip(tick.at, pb.SkipReason_SKIP_REASON_INVALID)
		return true
	}
	if sched.Definition.GetOverlap() == pb.ScheduleOverlap_SCHEDULE_OVERLAP_REPLACE {
		d.room, d.running = d.room+d.running, 0
	}
	if d.room <= 0 {
		return false
	}
	d.room--
	d.running++
	d.propose(&pb.FireTick{Job: job}, tick.at)
	return true
}

// missed says why a tick does not fire, whatever else runs.
func missed(sched *state.Schedule, tick dueTick, now time.Time, later int) pb.SkipReason {
	definition, late := sched.Definition, now.Sub(tick.due)
	deadline := time.Duration(definition.GetStartDeadlineMs()) * time.Millisecond
	switch {
	case sched.Paused || tick.at.UnixMilli() <= sched.Since:
		return pb.SkipReason_SKIP_REASON_PAUSED
	case deadline > 0 && late > deadline:
		return pb.SkipReason_SKIP_REASON_LATE
	case late > tickGrace && later >= madeUpFor(definition):
		return pb.SkipReason_SKIP_REASON_MISSED
	}
	return pb.SkipReason_SKIP_REASON_UNSPECIFIED
}

// madeUpFor is how many of the newest missed ticks fire.
func madeUpFor(definition *pb.PutSchedule) int {
	switch definition.GetCatchUp() {
	case pb.CatchUp_CATCH_UP_LATEST:
		return 1
	case pb.CatchUp_CATCH_UP_ALL:
		return int(definition.GetCatchUpMax())
	}
	return 0
}

// overlaps says why a tick does not fire while earlier jobs of its schedule have not ended.
func (d *decider) overlaps() pb.SkipReason {
	switch overlap := d.entry.sched.Definition.GetOverlap(); {
	case overlap == pb.ScheduleOverlap_SCHEDULE_OVERLAP_FORBID && d.running > 0:
		return pb.SkipReason_SKIP_REASON_OVERLAP
	case overlap == pb.ScheduleOverlap_SCHEDULE_OVERLAP_QUEUE && d.running >= maxTickQueue:
		return pb.SkipReason_SKIP_REASON_BACKLOG
	}
	return pb.SkipReason_SKIP_REASON_UNSPECIFIED
}

// skip records a tick without a job, in the entry of the one before it if its reason is the same.
func (d *decider) skip(at time.Time, reason pb.SkipReason) {
	if n := len(d.commands); n > 0 {
		if before := d.commands[n-1].GetFireTick(); before.GetSkip() == reason {
			before.TickUnixMs, before.Ticks = at.UnixMilli(), before.Ticks+1
			d.last = before.TickUnixMs
			return
		}
	}
	d.propose(&pb.FireTick{Skip: reason, FirstUnixMs: at.UnixMilli(), Ticks: 1}, at)
}

func (d *decider) propose(cmd *pb.FireTick, at time.Time) {
	sched := d.entry.sched
	cmd.ScheduleId, cmd.Revision, cmd.AfterUnixMs, cmd.TickUnixMs = sched.ID(), sched.Revision, d.last, at.UnixMilli()
	d.last = cmd.TickUnixMs
	d.commands = append(d.commands, &pb.Command{Body: &pb.Command_FireTick{FireTick: cmd}})
}
