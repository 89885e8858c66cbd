package schedule

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Calendar is one leader's memory of the schedules: when each comes due. Losing it
// costs nothing but the time to make it anew. It is not safe for concurrent use.
type Calendar struct {
	zone    func(name string) (*time.Location, error)
	job     func(sched *state.Schedule, tick time.Time) (*pb.SubmitJob, error)
	entries map[string]*entry
	view    state.State // that entries were made from
	seen    bool
	at      time.Time // of the last plan
	wake    time.Time
	blocked bool // a tick waits for room
}

// Agenda is what is due.
type Agenda struct {
	Commands []*pb.Command // FireTick, to be proposed in order; what is refused is decided anew
	Wake     time.Time     // by the wall clock; zero when nothing will come due
	Problems []error       // schedules that cannot be followed, each once
}

// entry is a schedule as the calendar knows it.
type entry struct {
	sched *state.Schedule
	table Timetable
	err   error
	next  time.Time // the first tick not decided
	after time.Time // the tick after that
	due   time.Time // when next may fire: itself and the jitter
}

// NewCalendar makes an empty calendar. Zones and the jobs of ticks come from functions:
// reading zone files is no business of a decision, nor is what a spec may hold.
func NewCalendar(
	zone func(name string) (*time.Location, error), job func(sched *state.Schedule, tick time.Time) (*pb.SubmitJob,
		error),
) *Calendar {
	return &Calendar{zone: zone, job: job, entries: make(map[string]*entry)}
}

// Due decides on the ticks that have come due. Those that pass while their schedule is paused are
// decided when it goes on, all in a row: a schedule that stays paused writes nothing. Asked again before anything has
// changed, it answers the same; when nothing is due, at once.
func (c *Calendar) Due(view state.State, now time.Time) Agenda {
	if view.Held() { // since a restore; the release changes no schedule, so all are looked at anew
		c.seen = false
		return Agenda{}
	}
	same := c.seen && view.SameSchedules(c.view)
	if same && !c.blocked && !now.Before(c.at) && (c.wake.IsZero() || now.Before(c.wake)) {
		return Agenda{Wake: c.wake}
	}
	var agenda Agenda
	if !same {
		agenda.Problems = c.sync(view)
	}
	c.at, c.blocked = now, false
	room := state.MaxActiveJobs - view.ActiveCount()
	view.EachSchedule(func(sched *state.Schedule) bool {
		e := c.entries[sched.ID()]
		if e.err == nil && !e.due.IsZero() && !sched.Paused && !now.Before(e.due) {
			own := min(room, view.Room(sched.Definition.GetSubmittedBy()))
			d := &decider{calendar: c, view: view, entry: e, now: now, room: own, last: sched.LastTick}
			d.run()
			agenda.Commands, room = append(agenda.Commands, d.commands...), room+d.room-own
		}
		if e.err == nil && !e.due.IsZero() && !sched.Paused && (agenda.Wake.IsZero() || e.due.Before(agenda.Wake)) {
			agenda.Wake = e.due
		}
		return true
	})
	c.wake = agenda.Wake
	return agenda
}

// sync makes the entries those of the view; what has not changed is kept.
func (c *Calendar) sync(view state.State) (problems []error) {
	entries := make(map[string]*entry, view.ScheduleCount())
	view.EachSchedule(func(sched *state.Schedule) bool {
		e := c.entries[sched.ID()]
		switch {
		case e == nil || e.sched.Revision != sched.Revision:
			e = c.newEntry(sched)
			if e.err != nil {
				problems = append(problems, e.err)
			}
		case e.sched != sched && e.err == nil:
			e.moveTo(sched)
		}
		entries[sched.ID()] = e
		return true
	})
	c.entries, c.view, c.seen = entries, view, true
	return problems
}

func (c *Calendar) newEntry(sched *state.Schedule) *entry {
	e := &entry{sched: sched}
	zone, err := c.zone(sched.Definition.GetTimeZone())
	if err == nil {
		e.table, err = ParseCron(sched.Definition.GetCron(), zone)
	}
	if err != nil {
		e.err = fmt.Errorf("schedule %s cannot be followed: %w", sched.ID(), err)
		return e
	}
	e.moveTo(sched)
	return e
}

// moveTo takes the schedule as it is after more decisions.
func (e *entry) moveTo(sched *state.Schedule) {
	e.sched = sched
	last := time.UnixMilli(sched.LastTick).UTC()
	if !e.next.IsZero() && e.next.Equal(last) {
		e.next = e.after // the common case, found already
	} else {
		e.next = e.table.Next(last)
	}
	e.after, e.due = time.Time{}, time.Time{}
	if !e.next.IsZero() {
		e.after = e.table.Next(e.next)
		e.due = dueAt(sched, e.next, e.after)
	}
}

// dueAt is the tick, put off by a share of the jitter that follows from schedule and tick,
// but never to the next tick or beyond: ticks come due in order.
func dueAt(sched *state.Schedule, tick, next time.Time) time.Time {
	span := sched.Definition.GetJitterMs()
	if !next.IsZero() {
		span = min(span, next.Sub(tick).Milliseconds()-1)
	}
	if span <= 0 {
		return tick
	}
	sum := sha256.Sum256([]byte("gram schedule jitter\x00" + sched.TickJobID(tick.UnixMilli())))
	share := binary.BigEndian.Uint64(sum[:]) % uint64(span+1)
	return tick.Add(time.Duration(share) * time.Millisecond)
}
