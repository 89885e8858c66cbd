package schedule_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// clock is a leader's calendar, the state it proposes to, and the time.
type clock struct {
	*testing.T
	view     state.State
	calendar *schedule.Calendar
	problems []error
}

func newClock(t *testing.T) *clock {
	c := &clock{T: t, view: state.New()}
	c.elect()
	return c
}

func (c *clock) elect() {
	c.calendar = schedule.NewCalendar(time.LoadLocation, func(*state.Schedule, time.Time) (*pb.SubmitJob, error) {
		return &pb.SubmitJob{Kind: "K", SpecHash: "h"}, nil
	})
}

// put makes schedule "n" at 2026-11-21 00:00 UTC, with ticks every ten minutes.
func (c *clock) put(change func(*pb.PutSchedule)) {
	definition := &pb.PutSchedule{
		Id: "n", JobJson: []byte("{}"), Cron: "*/10 * * * *", TimeZone: "UTC",
		Overlap: pb.ScheduleOverlap_SCHEDULE_OVERLAP_ALLOW, CatchUp: pb.CatchUp_CATCH_UP_LATEST,
	}
	change(definition)
	c.apply("2026-11-21T00:00", &pb.Command{Body: &pb.Command_PutSchedule{PutSchedule: definition}})
}

func (c *clock) apply(at string, cmd *pb.Command) state.Reply {
	c.Helper()
	cmd.NowUnixMs = instant(c, at).UnixMilli()
	next, reply := state.Apply(c.view, cmd)
	if reply.Err != nil {
		c.Fatal(reply.Err)
	}
	c.view = next
	return reply
}

// reach lets the leader decide at an instant, until nothing is due.
func (c *clock) reach(at string) {
	c.Helper()
	for {
		agenda := c.calendar.Due(c.view, instant(c, at))
		c.problems = append(c.problems, agenda.Problems...)
		if len(agenda.Commands) == 0 {
			return
		}
		for _, cmd := range agenda.Commands {
			c.apply(at, cmd)
		}
	}
}

// want compares what became of the ticks since the start: a time for each that fired, and
// reason times count for those that were skipped.
func (c *clock) want(want string) {
	c.Helper()
	var got []string
	sched, _ := c.view.Schedule("n")
	for _, r := range sched.Recent {
		if r.JobID != "" {
			got = append(got, time.UnixMilli(r.Tick).UTC().Format("15:04"))
		} else {
			got = append(got, fmt.Sprintf("%sx%d", strings.TrimPrefix(r.Skip.String(), "SKIP_REASON_"), r.Ticks))
		}
	}
	if text := strings.Join(got, " "); text != want {
		c.Errorf("decided %q, want %q", text, want)
	}
}

func (c *clock) endAll() {
	var ids []string
	c.view.EachActive(func(job *state.Job) bool { ids = append(ids, job.ID); return true })
	for _, id := range ids {
		c.apply("2026-11-21T00:00", &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: id}}})
	}
}

func TestTicksFireAsTheyComeDue(t *testing.T) {
	c := newClock(t)
	c.put(func(*pb.PutSchedule) {})
	c.reach("2026-11-21T00:09")
	c.want("")
	if wake := c.calendar.Due(c.view, instant(t, "2026-11-21T00:09")).Wake; !wake.Equal(instant(t,
		"2026-11-21T00:10")) {
		t.Errorf("wakes at %s", wake)
	}
	c.reach("2026-11-21T00:10")
	c.reach("2026-11-21T00:11")
	c.elect() // a new leader knows nothing
	c.reach("2026-11-21T00:12")
	c.reach("2026-11-21T00:20")
	c.reach("2026-11-21T00:03") // the clock goes back
	c.reach("2026-11-21T00:20")
	c.want("00:10 00:20")
}

func TestCatchUp(t *testing.T) {
	for _, p := range []struct {
		policy   pb.CatchUp
		most     uint32
		deadline time.Duration
		want     string
	}{
		{pb.CatchUp_CATCH_UP_NONE, 0, 0, "00:10 MISSEDx4"},
		{pb.CatchUp_CATCH_UP_LATEST, 0, 0, "00:10 MISSEDx3 00:50"},
		{pb.CatchUp_CATCH_UP_ALL, 2, 0, "00:10 MISSEDx2 00:40 00:50"},
		{pb.CatchUp_CATCH_UP_ALL, 100, 0, "00:10 00:20 00:30 00:40 00:50"},
		{pb.CatchUp_CATCH_UP_ALL, 100, 20 * time.Minute, "00:10 LATEx2 00:40 00:50"},
		{pb.CatchUp_CATCH_UP_LATEST, 0, 3 * time.Minute, "00:10 LATEx4"},
	} {
		c := newClock(t)
		c.put(func(d *pb.PutSchedule) {
			d.CatchUp, d.CatchUpMax, d.StartDeadlineMs = p.policy, p.most, p.deadline.Milliseconds()
		})
		c.reach("2026-11-21T00:10")
		c.reach("2026-11-21T00:55") // nobody led for three quarters of an hour
		c.want(p.want)
	}
}

// A tick that an election delays by less than a minute is not missed, whatever the policy.
func TestTicksALittleLateFire(t *testing.T) {
	c := newClock(t)
	c.put(func(d *pb.PutSchedule) { d.CatchUp = pb.CatchUp_CATCH_UP_NONE })
	c.reach("2026-11-21T00:11")
	c.want("00:10")
}

func TestOverlap(t *testing.T) {
	for _, p := range []struct {
		overlap pb.ScheduleOverlap
		want    string
		running int
	}{
		{pb.ScheduleOverlap_SCHEDULE_OVERLAP_ALLOW, "00:10 00:20 00:30", 3},
		{pb.ScheduleOverlap_SCHEDULE_OVERLAP_FORBID, "00:10 OVERLAPx1 OVERLAPx1", 1},
		{pb.ScheduleOverlap_SCHEDULE_OVERLAP_REPLACE, "00:10 00:20 00:30", 1},
		{pb.ScheduleOverlap_SCHEDULE_OVERLAP_QUEUE, "00:10 00:20 00:30", 3},
	} {
		c := newClock(t)
		c.put(func(d *pb.PutSchedule) { d.Overlap = p.overlap })
		for _, at := range []string{"2026-11-21T00:10", "2026-11-21T00:20", "2026-11-21T00:30"} {
			c.reach(at)
		}
		c.want(p.want)
		if got := c.view.JobsOf("n"); got != p.running {
			t.Errorf("%v: %d jobs have not ended, want %d", p.overlap, got, p.running)
		}
		starts := len(schedule.Decide(schedule.DefaultConfig(), c.view))
		if queues := p.overlap == pb.ScheduleOverlap_SCHEDULE_OVERLAP_QUEUE; starts != p.running && !queues ||
			starts != 1 && queues {
			t.Errorf("%v: %d jobs are admitted", p.overlap, starts)
		}
		c.endAll()
		c.reach("2026-11-21T00:40")
		c.want(p.want + " 00:40")
	}
}

func TestAQueueIsBounded(t *testing.T) {
	c := newClock(t)
	c.put(func(d *pb.PutSchedule) {
		d.Cron, d.Overlap, d.CatchUp, d.CatchUpMax = "* * * * *", pb.ScheduleOverlap_SCHEDULE_OVERLAP_QUEUE,
			pb.CatchUp_CATCH_UP_ALL, 100
	})
	c.reach("2026-11-21T01:40")
	c.reach("2026-11-21T01:43")
	sched, _ := c.view.Schedule("n")
	if last := sched.Recent[len(sched.Recent)-1]; sched.Fired != 100 ||
		last.Skip != pb.SkipReason_SKIP_REASON_BACKLOG || last.Ticks != 3 {
		t.Errorf("%d fired, then %+v", sched.Fired, last)
	}
}

func TestPausedTicksAreSkipped(t *testing.T) {
	c := newClock(t)
	c.put(func(d *pb.PutSchedule) { d.CatchUp, d.CatchUpMax = pb.CatchUp_CATCH_UP_ALL, 100 })
	c.apply("2026-11-21T00:05", &pb.Command{Body: &pb.Command_PauseSchedule{PauseSchedule: &pb.PauseSchedule{Id: "n"}}})
	c.reach("2026-11-21T00:15")
	// Nobody leads until after the schedule was resumed.
	c.apply("2026-11-21T00:35", &pb.Command{Body: &pb.Command_ResumeSchedule{
		ResumeSchedule: &pb.ResumeSchedule{Id: "n"}}})
	c.reach("2026-11-21T00:40")
	c.want("PAUSEDx3 00:40")
}

// A paused schedule writes nothing, however long it is paused; when it goes on, what passed is one entry.
func TestPausedScheduleWritesNothing(t *testing.T) {
	c := newClock(t)
	c.put(func(*pb.PutSchedule) {})
	c.apply("2026-11-21T00:05", &pb.Command{Body: &pb.Command_PauseSchedule{PauseSchedule: &pb.PauseSchedule{Id: "n"}}})
	for at := instant(t, "2026-11-21T00:10"); at.Before(instant(t, "2026-11-23T00:00")); at = at.Add(10 * time.Minute) {
		if agenda := c.calendar.Due(c.view, at); len(agenda.Commands) != 0 || !agenda.Wake.IsZero() {
			t.Fatalf("at %s: %d entries, wakes at %s", at, len(agenda.Commands), agenda.Wake)
		}
	}
	c.apply("2026-11-23T00:05", &pb.Command{Body: &pb.Command_ResumeSchedule{
		ResumeSchedule: &pb.ResumeSchedule{Id: "n"}}})
	c.reach("2026-11-23T00:10")
	c.want("PAUSEDx288 00:10")
}

// Restored from a backup, no tick is decided before the release; then the catch-up policy has the word.
func TestHeldTicks(t *testing.T) {
	c := newClock(t)
	c.put(func(d *pb.PutSchedule) { d.CatchUp, d.CatchUpMax = pb.CatchUp_CATCH_UP_ALL, 2 })
	c.reach("2026-11-21T00:10")
	c.view = c.view.Restored()
	for _, at := range []string{"2026-11-21T00:20", "2026-11-21T01:05"} {
		if agenda := c.calendar.Due(c.view, instant(t, at)); len(agenda.Commands) != 0 || !agenda.Wake.IsZero() {
			t.Fatalf("at %s: %d entries, wakes at %s", at, len(agenda.Commands), agenda.Wake)
		}
	}
	c.apply("2026-11-21T01:05", &pb.Command{Body: &pb.Command_ReleaseSchedules{
		ReleaseSchedules: &pb.ReleaseSchedules{}}})
	c.reach("2026-11-21T01:05")
	c.want("00:10 MISSEDx3 00:50 01:00")
}

func TestJitterKeepsOrderAndDoesNotChange(t *testing.T) {
	c := newClock(t)
	c.put(func(d *pb.PutSchedule) { d.JitterMs = time.Hour.Milliseconds() }) // beyond the ten minutes there are
	seen := make(map[time.Duration]bool)
	for tick := instant(t, "2026-11-21T00:10"); tick.Before(instant(t,
		"2026-11-21T05:00")); tick = tick.Add(10 * time.Minute) {
		agenda := c.calendar.Due(c.view, tick.Add(-1))
		c.elect()
		if again := c.calendar.Due(c.view, tick.Add(-1)); !again.Wake.Equal(agenda.Wake) {
			t.Fatalf("another leader fires at %s, not %s", again.Wake, agenda.Wake)
		}
		late := agenda.Wake.Sub(tick)
		if late < 0 || late >= 10*time.Minute {
			t.Fatalf("tick %s comes due at %s", tick, agenda.Wake)
		}
		seen[late] = true
		due := c.calendar.Due(c.view, agenda.Wake)
		if len(due.Commands) != 1 || due.Commands[0].GetFireTick().GetTickUnixMs() != tick.UnixMilli() {
			t.Fatalf("%d decisions at %s", len(due.Commands), agenda.Wake)
		}
		c.apply("2026-11-21T00:00", due.Commands[0])
	}
	if len(seen) < 20 {
		t.Errorf("only %d different delays in 29 ticks", len(seen))
	}
}

func TestWhatCannotBeFollowedIsSaidOnce(t *testing.T) {
	c := newClock(t)
	c.put(func(d *pb.PutSchedule) { d.TimeZone = "Mars/Olympus" })
	c.put(func(d *pb.PutSchedule) { d.Id, d.Cron = "other", "0 0 30 2 *" })
	c.reach("2026-11-21T00:10")
	c.reach("2026-11-21T00:20")
	if len(c.problems) != 2 || !errors.Is(c.problems[1], schedule.ErrCron) ||
		!strings.Contains(c.problems[0].Error(), "schedule n") {
		t.Errorf("%v", c.problems)
	}
}

// A tick without room waits for it and fires then.
func TestTicksWaitForRoom(t *testing.T) {
	c := newClock(t)
	c.put(func(*pb.PutSchedule) {})
	for i := range state.MaxActiveJobs {
		c.apply("2026-11-21T00:00", submit(fmt.Sprint("j", i)))
	}
	c.reach("2026-11-21T00:10")
	c.want("")
	c.endAll()
	c.reach("2026-11-21T00:10")
	c.want("00:10")
}

// After a year without a leader the ticks are gone through in pieces, and the newest fires,
// with the one a minute before it, which is not late yet.
func TestAYearOfMissedTicks(t *testing.T) {
	c := newClock(t)
	c.put(func(d *pb.PutSchedule) { d.Cron = "* * * * *" })
	c.reach("2027-11-21T00:00")
	sched, _ := c.view.Schedule("n")
	if sched.Fired != 2 || sched.Skipped != 365*24*60-2 || sched.LastTick != instant(t,
		"2027-11-21T00:00").UnixMilli() {
		t.Errorf("%d fired, %d skipped, the last %d", sched.Fired, sched.Skipped, sched.LastTick)
	}
}

// A job by hand waits for no job of its schedule, whatever the policy.
func TestJobsByHandDoNotQueue(t *testing.T) {
	c := newClock(t)
	c.put(func(d *pb.PutSchedule) { d.Overlap = pb.ScheduleOverlap_SCHEDULE_OVERLAP_QUEUE })
	c.reach("2026-11-21T00:10")
	sched, _ := c.view.Schedule("n")
	tick := sched.LastTick - 1
	byHand := submit(sched.TickJobID(tick))
	byHand.GetSubmit().ScheduleId, byHand.GetSubmit().TickUnixMs = "n", tick
	c.view = run(t, c.view, byHand)
	if starts := len(schedule.Decide(schedule.DefaultConfig(), c.view)); starts != 2 {
		t.Errorf("%d jobs are admitted, want the tick's and that by hand", starts)
	}
}
