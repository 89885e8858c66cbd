package coordinator

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// tickSpec reads what has come since the tick before.
func tickSpec(name string) string {
	return strings.Replace(testSpec(name), "mem://m/in/x.tsv",
		"mem://m/in/{{previous_tick}}-{{tick.utc:%Y%m%d%H%M}}.tsv", 1)
}

func definition(id string) *pb.ScheduleDefinition {
	return &pb.ScheduleDefinition{
		Id: id, SpecJson: tickSpec(id), Cron: "* * * * *", TimeZone: "Europe/Berlin",
		Overlap: pb.ScheduleOverlap_SCHEDULE_OVERLAP_ALLOW, CatchUp: pb.CatchUp_CATCH_UP_ALL, CatchUpMax: 100,
	}
}

func createTest(t *testing.T, c *Coordinator, d *pb.ScheduleDefinition) *pb.CreateScheduleResponse {
	t.Helper()
	res, err := c.services.Schedules.CreateSchedule(t.Context(),
		connect.NewRequest(&pb.CreateScheduleRequest{Definition: d}))
	if err != nil {
		t.Fatal(err)
	}
	return res.Msg
}

// ticksOf lists the instants whose job there is.
func ticksOf(view state.State, id string) map[int64]*state.Job {
	found := make(map[int64]*state.Job)
	view.EachJob(func(j *state.Job) bool {
		if j.ScheduleID == id {
			found[j.Tick] = j
		}
		return true
	})
	return found
}

// In the bubble it is midnight UTC, 1 January 2000.
func TestTheLeaderFiresTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		began := time.Now().Truncate(time.Minute)
		createTest(t, c, definition("n"))
		<-time.After(10*time.Minute + time.Second)
		synctest.Wait()
		view, _ := c.fsm.View()
		sched, _ := view.Schedule("n")
		ticks := ticksOf(view, "n")
		if sched.Fired != 10 || sched.Skipped != 0 || len(ticks) != 10 {
			t.Fatalf("%d fired, %d skipped, %d jobs", sched.Fired, sched.Skipped, len(ticks))
		}
		for i := 1; i <= 10; i++ {
			at := began.Add(time.Duration(i) * time.Minute)
			job := ticks[at.UnixMilli()]
			if job == nil || job.ID != sched.TickJobID(at.UnixMilli()) || job.SubmittedAt < at.UnixMilli() ||
				job.SubmittedAt > at.UnixMilli()+500 {
				t.Fatalf("tick %s: %+v", at, job)
			}
			want := fmt.Sprintf("mem://m/in/%s-%s.tsv", at.UTC().Add(-time.Minute).Format("20060102T150405Z"),
				at.UTC().Format("200601021504"))
			if !strings.Contains(string(job.SpecJSON), want) || job.Stage == pb.JobState_JOB_STATE_QUEUED && i == 1 {
				t.Errorf("tick %s: %s in %s", at, job.Stage, job.SpecJSON)
			}
		}
		stopTest(t, c)
	})
}

// The wall clock goes an hour ahead and comes back: what was passed over is made up for, nothing
// fires twice, and both jumps are told.
func TestAJumpOfTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var skew atomic.Int64
		var lines bytes.Buffer
		cfg := testConfig("")
		cfg.wallClock = func() time.Time { return time.Now().Add(time.Duration(skew.Load())) }
		cfg.Logger = slog.New(slog.NewTextHandler(&lines, nil))
		c := startTest(t, cfg)
		createTest(t, c, definition("n"))
		<-time.After(90 * time.Second)
		skew.Store(int64(time.Hour))
		<-time.After(15*time.Second + time.Second) // 00:01:46, shown as 01:01:46
		synctest.Wait()
		view, _ := c.fsm.View()
		if got := len(ticksOf(view, "n")); got != 61 {
			t.Errorf("%d ticks after the jump ahead, want 61", got)
		}
		skew.Store(0)
		<-time.After(30 * time.Minute)
		synctest.Wait()
		view, _ = c.fsm.View()
		if got := len(ticksOf(view, "n")); got != 61 {
			t.Errorf("%d ticks after the jump back, want 61", got)
		}
		<-time.After(35 * time.Minute) // 01:06:46
		synctest.Wait()
		view, _ = c.fsm.View()
		sched, _ := view.Schedule("n")
		if got := len(ticksOf(view, "n")); got != 66 || sched.Fired != 66 || sched.Skipped != 0 {
			t.Errorf("%d ticks in the end, want 66; %d fired, %d skipped", got, sched.Fired, sched.Skipped)
		}
		stopTest(t, c)
		if got := strings.Count(lines.String(), "the wall clock jumped"); got != 2 {
			t.Errorf("%d jumps told, want 2:\n%s", got, lines.String())
		}
	})
}

// A schedule whose ticks cannot be decided for want of room does not fill the log, and goes on when there is room.
func TestTicksWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		for i := range state.MaxActiveJobs {
			submitTest(t, c, fmt.Sprint("j", i))
		}
		createTest(t, c, definition("n"))
		synctest.Wait()
		before := c.fsm.AppliedIndex()
		<-time.After(2*time.Minute + time.Second)
		synctest.Wait()
		view, _ := c.fsm.View()
		if after := c.fsm.AppliedIndex(); after != before || len(ticksOf(view, "n")) != 0 {
			t.Fatalf("%d entries were written, %d ticks fired", after-before, len(ticksOf(view, "n")))
		}
		for i := range 2 {
			if _, err := c.services.Jobs.Cancel(t.Context(),
				connect.NewRequest(&pb.CancelRequest{Id: fmt.Sprint("j", i)})); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if view, _ = c.fsm.View(); len(ticksOf(view, "n")) != 2 {
			t.Errorf("%d ticks fired when there was room", len(ticksOf(view, "n")))
		}
		stopTest(t, c)
	})
}
