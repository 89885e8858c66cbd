package schedule_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// fill takes places of jobs until this number is left.
func (c *clock) fill(left int) {
	c.Helper()
	for i := 0; c.view.ActiveCount() < state.MaxActiveJobs-left; i++ {
		c.apply("2026-11-21T00:00", submit(fmt.Sprint("j", i)))
	}
}

// Of schedules that come due in one moment, the first two fire where two places are left.
func TestSchedulesShareTheRoom(t *testing.T) {
	for _, ids := range [][]string{{"k", "m"}, {"k", "m", "n"}} {
		c := newClock(t)
		for _, id := range ids {
			c.put(func(d *pb.PutSchedule) { d.Id = id })
		}
		c.fill(2)
		var fire []string
		for _, cmd := range c.calendar.Due(c.view, instant(t, "2026-11-21T00:10")).Commands {
			fire = append(fire, cmd.GetFireTick().GetScheduleId())
		}
		if !slices.Equal(fire, ids[:2]) {
			t.Errorf("of %v fire %v", ids, fire)
		}
	}
}

// A tick that replaces the job of the one before needs no place but that.
func TestReplacingNeedsNoRoom(t *testing.T) {
	c := newClock(t)
	c.put(func(d *pb.PutSchedule) { d.Overlap = pb.ScheduleOverlap_SCHEDULE_OVERLAP_REPLACE })
	c.reach("2026-11-21T00:10")
	c.fill(0)
	c.reach("2026-11-21T00:20")
	c.want("00:10 00:20")
}

// Of ticks that are made up for in one go, the first keeps the others from firing where jobs may not overlap.
func TestTicksOfOneGoOverlap(t *testing.T) {
	c := newClock(t)
	c.put(func(d *pb.PutSchedule) {
		d.Overlap, d.CatchUp, d.CatchUpMax = pb.ScheduleOverlap_SCHEDULE_OVERLAP_FORBID, pb.CatchUp_CATCH_UP_ALL, 100
	})
	c.reach("2026-11-21T00:35")
	c.want("00:10 OVERLAPx2")
}

// A changed schedule is followed as it is now.
func TestAChangedSchedule(t *testing.T) {
	c := newClock(t)
	c.put(func(*pb.PutSchedule) {})
	c.reach("2026-11-21T00:10")
	c.put(func(d *pb.PutSchedule) { d.Cron, d.Replace = "*/15 * * * *", true })
	c.reach("2026-11-21T00:15")
	c.reach("2026-11-21T00:20")
	c.want("00:10 00:15")
}

// Readings near the hour that a clock skips or shows twice, from both sides, east and west of Greenwich.
func TestInstantsBesideAChangeOfOffset(t *testing.T) {
	for _, c := range []struct{ zone, cron, at, prev, next string }{
		{"Europe/Berlin", "30 1 * * *", "2026-03-28T12:00", "2026-03-28T00:30", "2026-03-29T00:30"},
		{"Europe/Berlin", "30 3 * * *", "2026-03-29T00:00", "2026-03-28T02:30", "2026-03-29T01:30"},
		{"Europe/Berlin", "30 2 * * *", "2026-10-25T01:10", "2026-10-25T00:30", "2026-10-26T01:30"},
		{"America/New_York", "30 1 * * *", "2026-11-01T06:10", "2026-11-01T05:30", "2026-11-02T06:30"},
		{"America/New_York", "30 3 * * *", "2026-03-08T06:00", "2026-03-07T08:30", "2026-03-08T07:30"},
		{"UTC", "30 1 * * *", "2026-03-28T01:30", "2026-03-27T01:30", "2026-03-29T01:30"},
		// The last change of a zone: 23:30 of +8:30 became 24:00 of +9:00, and no later offset is that of before.
		{"Asia/Pyongyang", "15 23 * * *", "2018-05-04T12:00", "2018-05-03T14:45", "2018-05-04T14:45"},
	} {
		table, at := timetable(t, c.cron, c.zone), instant(t, c.at)
		if got := table.Next(at); !got.Equal(instant(t, c.next)) {
			t.Errorf("%s in %s after %s: %s, want %s", c.cron, c.zone, c.at, got, c.next)
		}
		if got := table.Prev(at); !got.Equal(instant(t, c.prev)) {
			t.Errorf("%s in %s before %s: %s, want %s", c.cron, c.zone, c.at, got, c.prev)
		}
	}
	tick := instant(t, "2026-03-28T01:30")
	if got := timetable(t, "30 1 * * *", "UTC").Prev(tick.Add(time.Nanosecond)); !got.Equal(tick) {
		t.Errorf("a nanosecond after the tick: %s before", got)
	}
}

// A tick that is as late as it may be still fires, and one of the very moment of the resumption was still paused.
func TestTicksAtTheirDeadline(t *testing.T) {
	for at, want := range map[string]string{"2026-11-21T00:15": "00:10", "2026-11-21T00:16": "LATEx1"} {
		c := newClock(t)
		c.put(func(d *pb.PutSchedule) { d.StartDeadlineMs = 5 * time.Minute.Milliseconds() })
		c.reach(at)
		c.want(want)
	}
	c := newClock(t)
	c.put(func(*pb.PutSchedule) {})
	c.apply("2026-11-21T00:05", &pb.Command{Body: &pb.Command_PauseSchedule{PauseSchedule: &pb.PauseSchedule{Id: "n"}}})
	c.apply("2026-11-21T00:10", &pb.Command{Body: &pb.Command_ResumeSchedule{
		ResumeSchedule: &pb.ResumeSchedule{Id: "n"}}})
	c.reach("2026-11-21T00:20")
	c.want("PAUSEDx1 00:20")
}

// Of two ticks that are made up for in one go, one fires where there is one place.
func TestTicksOfOneGoShareTheRoom(t *testing.T) {
	c := newClock(t)
	c.put(func(d *pb.PutSchedule) { d.CatchUp, d.CatchUpMax = pb.CatchUp_CATCH_UP_ALL, 100 })
	c.fill(1)
	if agenda := c.calendar.Due(c.view, instant(t, "2026-11-21T00:25")); len(agenda.Commands) != 1 {
		t.Errorf("%d fire", len(agenda.Commands))
	}
}
