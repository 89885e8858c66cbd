package schedule

import (
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

const (
	// slotGrace is how late a slot may fire and not count as missed: elections take seconds.
	slotGrace = time.Minute
	// maxSlotQueue bounds the jobs of one schedule that have not ended, where they queue.
	maxSlotQueue = 100
	// maxDueSlots bounds the slots looked at in one go. Of more, the last are looked at again
	// among those that follow, for the catch-up policy is about the newest.
	maxDueSlots = 4096
)

// decider goes through the slots of one schedule that have come due, in order.
type decider struct {
	calendar *Calendar
	view     state.State
	entry    *entry
	now      time.Time
	room     int   // jobs that may still be made
	last     int64 // the last slot decided
	running  int   // jobs of the schedule that have not ended
	commands []*pb.Command
}

type dueSlot struct{ at, due time.Time }

func (d *decider) run() {
	slots, more := d.due()
	d.running = d.view.JobsOf(d.entry.sched.ID())
	decide := len(slots)
	if more {
		decide -= state.MaxCatchUp
	}
	for i, slot := range slots[:decide] {
		if !d.decide(slot, len(slots)-1-i) {
			d.calendar.blocked = true
			return
		}
	}
}

// due lists the slots that have come due; more says that it is not all of them.
func (d *decider) due() (slots []dueSlot, more bool) {
	e := d.entry
	at, next, due := e.next, e.after, e.due
	for !at.IsZero() && !d.now.Before(due) {
		if len(slots) == maxDueSlots {
			return slots, true
		}
		slots = append(slots, dueSlot{at, due})
		if at = next; !at.IsZero() {
			next = e.table.Next(at)
			due = dueAt(e.sched, at, next)
		}
	}
	return slots, false
}

// decide fires or skips one slot, with later ones due as well. It reports
// false when there is no room for the job: the slot then waits.
func (d *decider) decide(slot dueSlot, later int) bool {
	sched := d.entry.sched
	reason := missed(sched, slot, d.now, later)
	if reason == pb.SkipReason_SKIP_REASON_UNSPECIFIED {
		reason = d.overlaps()
	}
	if reason != pb.SkipReason_SKIP_REASON_UNSPECIFIED {
		d.skip(slot.at, reason)
		return true
	}
	job, err := d.calendar.job(sched, slot.at)
	if err != nil {
		d.skip(slot.at, pb.SkipReason_SKIP_REASON_INVALID)
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
	d.propose(&pb.FireSlot{Job: job}, slot.at)
	return true
}

// missed says why a slot does not fire, whatever else runs.
func missed(sched *state.Schedule, slot dueSlot, now time.Time, later int) pb.SkipReason {
	definition, late := sched.Definition, now.Sub(slot.due)
	deadline := time.Duration(definition.GetStartDeadlineMs()) * time.Millisecond
	switch {
	case sched.Paused || slot.at.UnixMilli() <= sched.Since:
		return pb.SkipReason_SKIP_REASON_PAUSED
	case deadline > 0 && late > deadline:
		return pb.SkipReason_SKIP_REASON_LATE
	case late > slotGrace && later >= madeUpFor(definition):
		return pb.SkipReason_SKIP_REASON_MISSED
	}
	return pb.SkipReason_SKIP_REASON_UNSPECIFIED
}

// madeUpFor is how many of the newest missed slots fire.
func madeUpFor(definition *pb.PutSchedule) int {
	switch definition.GetCatchUp() {
	case pb.CatchUp_CATCH_UP_LATEST:
		return 1
	case pb.CatchUp_CATCH_UP_ALL:
		return int(definition.GetCatchUpMax())
	}
	return 0
}

// overlaps says why a slot does not fire while earlier jobs of its schedule have not ended.
func (d *decider) overlaps() pb.SkipReason {
	switch overlap := d.entry.sched.Definition.GetOverlap(); {
	case overlap == pb.ScheduleOverlap_SCHEDULE_OVERLAP_FORBID && d.running > 0:
		return pb.SkipReason_SKIP_REASON_OVERLAP
	case overlap == pb.ScheduleOverlap_SCHEDULE_OVERLAP_QUEUE && d.running >= maxSlotQueue:
		return pb.SkipReason_SKIP_REASON_BACKLOG
	}
	return pb.SkipReason_SKIP_REASON_UNSPECIFIED
}

// skip records a slot without a job, in the entry of the one before it if its reason is the same.
func (d *decider) skip(at time.Time, reason pb.SkipReason) {
	if n := len(d.commands); n > 0 {
		if before := d.commands[n-1].GetFireSlot(); before.GetSkip() == reason {
			before.SlotUnixMs, before.Slots = at.UnixMilli(), before.Slots+1
			d.last = before.SlotUnixMs
			return
		}
	}
	d.propose(&pb.FireSlot{Skip: reason, FirstUnixMs: at.UnixMilli(), Slots: 1}, at)
}

func (d *decider) propose(cmd *pb.FireSlot, at time.Time) {
	sched := d.entry.sched
	cmd.ScheduleId, cmd.Revision, cmd.AfterUnixMs, cmd.SlotUnixMs = sched.ID(), sched.Revision, d.last, at.UnixMilli()
	d.last = cmd.SlotUnixMs
	d.commands = append(d.commands, &pb.Command{Body: &pb.Command_FireSlot{FireSlot: cmd}})
}
