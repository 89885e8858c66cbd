package coordinator

import (
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/lead"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// handClock is a wall clock that a test sets.
type handClock struct{ unix atomic.Int64 }

func (c *handClock) now() time.Time { return time.Unix(c.unix.Load(), 0) }

func clockedConfig(t *testing.T, clock *handClock) Config {
	t.Helper()
	cfg := testConfig(t.TempDir())
	cfg.wallClock = clock.now
	// time passes, nothing jumps
	cfg.bootClock = func() time.Duration { return time.Duration(clock.unix.Load()) * time.Second }
	return cfg
}

// A cluster begun with a backup has the old one's state, in the next epoch and with its own id and tokens. No tick
// that was decided is decided again, none is decided before the release, and then those that
// passed are as the catch-up policy says.
func TestRestoreHoldsTicks(t *testing.T) {
	t.Parallel()
	clock := &handClock{}
	at := func(text string) time.Time {
		moment, err := time.Parse(time.RFC3339, "2026-11-21T"+text+"Z")
		if err != nil {
			t.Fatal(err)
		}
		clock.unix.Store(moment.Unix())
		return moment
	}
	at("10:00:30")
	old := startTest(t, clockedConfig(t, clock))
	d := definition("n")
	d.CatchUp, d.CatchUpMax = pb.CatchUp_CATCH_UP_LATEST, 0
	createTest(t, old, d)
	at("10:01:05")
	submitTest(t, old, "x") // what changes the state makes the leader look at its clock
	first := time.Date(2026, 11, 21, 10, 1, 0, 0, time.UTC).UnixMilli()
	// with nothing left to decide, which the new cluster would do at once
	await(t, old, "the first tick and all that follows", func(view state.State) bool {
		return ticksOf(view, "n")[first] != nil && len(schedule.Decide(old.cfg.Schedule, view)) == 0
	})
	stopTest(t, old)
	before, _ := old.fsm.View() // stopped: nothing follows it
	cfg := clockedConfig(t, clock)
	cfg.Restore = filepath.Join(t.TempDir(), "backup")
	encodeTest(t, cfg.Restore, before)

	at("10:06:05")
	c := startTest(t, cfg)
	after, _ := c.fsm.View()
	if want := begunWith(t, before, after, c); after.Digest() != want.Digest() {
		t.Error("the restored state is not the old one in another epoch")
	}
	submitTest(t, c, "y")
	await(t, c, "job y", func(view state.State) bool {
		job, ok := view.Job("y")
		return ok && job.Stage != pb.JobState_JOB_STATE_QUEUED
	})
	view, _ := c.fsm.View()
	if len(ticksOf(view, "n")) != 1 {
		t.Fatal("a tick was decided before the release")
	}
	shown, err := c.services.Schedules.GetSchedule(t.Context(),
		connect.NewRequest(&pb.GetScheduleRequest{Id: "n", Next: 1}))
	if err != nil || shown.Msg.GetSchedule().GetHeldUnixMs() != before.Now {
		t.Errorf("held since %d, want %d; %v", shown.Msg.GetSchedule().GetHeldUnixMs(), before.Now, err)
	}
	res, err := c.services.Schedules.ReleaseSchedules(t.Context(), connect.NewRequest(&pb.ReleaseSchedulesRequest{}))
	if err != nil || !res.Msg.GetReleased() || res.Msg.GetSchedules() != 1 {
		t.Fatalf("release: %v %v", res, err)
	}
	last := at("10:06:05").Truncate(time.Minute).UnixMilli()
	await(t, c, "the latest tick", func(view state.State) bool { return ticksOf(view, "n")[last] != nil })
	view, _ = c.fsm.View()
	sched, _ := view.Schedule("n")
	if sched.Fired != 2 || sched.Skipped != 4 || len(ticksOf(view, "n")) != 2 {
		t.Errorf("%d fired, %d skipped, %d jobs", sched.Fired, sched.Skipped, len(ticksOf(view, "n")))
	}
}

// begunWith is what a state that was restored from before must be, with the id and the tokens that c has made.
func begunWith(t *testing.T, before, after state.State, c *Coordinator) state.State {
	t.Helper()
	want := before.Restored()
	commands, err := lead.Founder{Leader: c.leads}.FirstEntries(want)
	if err != nil {
		t.Fatal(err)
	}
	for _, cmd := range commands {
		if body := cmd.GetInit(); body != nil {
			body.ClusterId, body.Secret = after.ClusterID, after.Secret
		}
		cmd.NowUnixMs = after.Now
		var reply state.Reply
		if want, reply = state.Apply(want, cmd); reply.Err != nil {
			t.Fatal(reply.Err)
		}
	}
	return want
}

func encodeTest(t *testing.T, name string, s state.State) {
	t.Helper()
	var file fileText
	if err := s.Encode(&file); err != nil {
		t.Fatal(err)
	}
	writeTest(t, name, string(file))
}

type fileText []byte

func (f *fileText) Write(p []byte) (int, error) {
	*f = append(*f, p...)
	return len(p), nil
}

// A lease of the old cluster is void here: neither held nor reported under it does a task count.
func TestLeasesOfTheOldEpochAreVoid(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t.TempDir())
	cfg.Restore = filepath.Join(t.TempDir(), "backup")
	encodeTest(t, cfg.Restore, state.New())
	c := startTest(t, cfg)
	planTest(t, c, "a", 2)
	service := c.services.Workers
	id := leafDone("a", 0).GetId()
	old := &pb.LeaseToken{Term: 1, Sequence: 1}
	register := &pb.RegisterRequest{WorkerId: "w", Slots: 1, Held: []*pb.HeldTask{{Id: id, Token: old}}}
	if _, err := service.Register(t.Context(), connect.NewRequest(register)); err != nil {
		t.Fatal(err)
	}
	beat, err := service.Heartbeat(t.Context(),
		connect.NewRequest(&pb.HeartbeatRequest{WorkerId: "w", Held: register.Held}))
	if err != nil || len(beat.Msg.GetLost()) != 1 {
		t.Errorf("held: %v, %v", beat, err)
	}
	result := &pb.TaskResult{Id: id, Token: old, Outcome: &pb.TaskResult_Output{Output: leafDone("a", 0).GetOutput()}}
	done, err := service.Complete(t.Context(),
		connect.NewRequest(&pb.CompleteRequest{WorkerId: "w", Results: []*pb.TaskResult{result}}))
	if err != nil || done.Msg.GetVerdicts()[0] != pb.Verdict_VERDICT_UNGRANTED {
		t.Errorf("reported: %v, %v", done, err)
	}
	lease, err := service.Lease(t.Context(),
		connect.NewRequest(&pb.LeaseRequest{WorkerId: "w", MaxTasks: 1,
			WaitMs: uint32(schedule.DefaultConfig().LeaseTTL.Milliseconds())}))
	if err != nil || len(lease.Msg.GetTasks()) != 1 || lease.Msg.GetTasks()[0].GetToken().GetEpoch() != 1 {
		t.Fatalf("leased: %v, %v", lease, err)
	}
	result.Id, result.Token = lease.Msg.GetTasks()[0].GetId(), lease.Msg.GetTasks()[0].GetToken()
	done, err = service.Complete(t.Context(),
		connect.NewRequest(&pb.CompleteRequest{WorkerId: "w", Results: []*pb.TaskResult{result}}))
	if err != nil || done.Msg.GetVerdicts()[0] != pb.Verdict_VERDICT_ACCEPTED {
		t.Errorf("reported under a lease of this epoch: %v, %v", done, err)
	}
}
