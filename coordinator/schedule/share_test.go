package schedule_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// submitted is a submit with further wishes.
func submitted(id string, priority int32, maxWorkers uint32, needs ...string) *pb.Command {
	cmd := submit(id)
	job := cmd.GetSubmit()
	job.Priority, job.MaxWorkers, job.Needs = priority, maxWorkers, needs
	return cmd
}

// run runs further jobs of n leaves each, beside "a".
func (d *desk) run(leaves uint32, jobs ...*pb.Command) {
	d.Helper()
	for _, cmd := range jobs {
		id := cmd.GetSubmit().GetId()
		d.view = run(d.T, d.view, cmd, start(id), completions(planned(id, leaves)))
	}
}

// wantJobs leases and checks whose tasks are granted.
func (d *desk) wantJobs(worker string, want int, ids string) {
	d.Helper()
	var got []string
	for _, g := range d.lease(worker, want) {
		got = append(got, g.Task.JobID)
	}
	if strings.Join(got, " ") != ids {
		d.Fatalf("%s was granted tasks of %v, want %s", worker, got, ids)
	}
}

// Jobs of one priority take turns by their leases; of equals the first accepted goes first, and what one
// leaves goes to the others.
func TestJobsTakeTurns(t *testing.T) {
	d := newDesk(t, 2, 8)
	d.wantJobs("w", 3, "a a a")
	d.run(8, submit("b"))
	d.run(2, submit("c"))
	d.view = run(t, d.view, submit("queued"))
	d.wantJobs("w", 6, "b c b c b a") // 3 0 0; then 3 1 1, 3 2 2, c has no more; b 3, and a before b
	d.wantJobs("w", 2, "b a")         // 4 3
}

func TestPriorityComesFirst(t *testing.T) {
	d := newDesk(t, 2, 4)
	d.run(4, submitted("low", -1, 0), submitted("high", 7, 0), submitted("high2", 7, 0))
	d.wantJobs("w", 7, "high high2 high high2 high high2 high")
	d.wantJobs("w", 4, "high2 a a a")
	d.wantJobs("w", 9, "a low low low low")
}

// While jobs of a higher priority want all there is, one lease in sixteen is another's; a job that waits in the queue
// rises by a step a minute.
func TestLowerPrioritiesDoNotStarve(t *testing.T) {
	d := newDesk(t, 400, 100) // with this number of slots each lease is of one leaf
	d.run(1000, submitted("high", 5, 0), submitted("high2", 5, 0))
	d.run(100, submitted("low", -5, 0))
	counts := make(map[string]int)
	for range 160 {
		for _, g := range d.lease("w", 1) {
			counts[g.Task.JobID]++
		}
	}
	if counts["high"] != 75 || counts["high2"] != 75 || counts["a"] != 5 || counts["low"] != 5 {
		t.Errorf("leases: %v", counts)
	}
	for _, g := range d.lease("w", 32) { // the same when many are asked for at once
		counts[g.Task.JobID]++
	}
	if counts["high"]+counts["high2"] != 180 || counts["a"]+counts["low"] != 12 {
		t.Errorf("leases: %v", counts)
	}
}

func TestQueuedJobsRise(t *testing.T) {
	cfg := schedule.DefaultConfig()
	cfg.MaxRunning = 1
	late := submitted("high", 5, 0)
	late.NowUnixMs = 5*60_000 - 1
	view := run(t, state.New(), submit("old"), late)
	if started, _ := decided(cfg, view); !slices.Equal(started, []string{"high"}) {
		t.Errorf("before five minutes: started %v", started)
	}
	later := submitted("other", -9, 0)
	later.NowUnixMs = 5 * 60_000
	view = run(t, view, later)
	if started, _ := decided(cfg, view); !slices.Equal(started, []string{"old"}) {
		t.Errorf("after five minutes: started %v", started)
	}
	if why := schedule.Waits(cfg, view, jobOf(view, "high")); !strings.HasSuffix(why, "and 1 come before it: old") {
		t.Errorf("high %s", why)
	}
}

func TestMaxWorkersAtATime(t *testing.T) {
	d := newDesk(t, 2, 1)
	d.lease("w", 1)
	d.run(40, submitted("b", 0, 2))
	d.register("w2", 1)
	d.register("w3", 1)
	d.wantJobs("w", 1, "b")
	d.wantJobs("w2", 1, "b")
	d.wantJobs("w3", 1, "")
	d.wantJobs("w", 1, "b") // it is one of the two
	g := d.lease("w2", 1)[0]
	for _, l := range d.board.Live() {
		if l.Worker == "w2" {
			d.board.Fault(d.view, "w2", schedule.Held{Task: l.Task, Token: l.Token},
				&pb.Failure{Class: infraClass, Code: "DRAINED"}, d.now)
		}
	}
	if d.lease("w3", 1)[0].Task.JobID != g.Task.JobID {
		t.Error("w3 does not take the place that w2 left")
	}
}

// A state larger than a worker's memory is not leased to it, and the job says so when no worker has more.
func TestStateBeyondMemory(t *testing.T) {
	d := newDesk(t, 2, 4)
	planned := planned("b", 4)
	planned.Output.Next.State.Size = 3 << 30
	d.view = run(t, d.view, submit("b"), start("b"), completions(planned))
	d.board.Register(d.view, schedule.Worker{ID: "w", Slots: 2, Memory: 2 << 30}, nil, d.now)
	d.wantJobs("w", 8, "a a a a")
	if need, largest, tooBig := d.board.Fit.TooBig(jobOf(d.view, "b"), d.now); !tooBig || need != 3<<30 ||
		largest != 2<<30 {
		t.Errorf("a state of %d beside memory of %d: %v", need, largest, tooBig)
	}
	if _, _, tooBig := d.board.Fit.TooBig(jobOf(d.view, "a"), d.now); tooBig {
		t.Error("a state of one byte is too big")
	}
	d.board.Register(d.view, schedule.Worker{ID: "w2", Slots: 2, Memory: 3 << 30}, nil, d.now)
	d.wantJobs("w2", 2, "b b")
	if _, _, tooBig := d.board.Fit.TooBig(jobOf(d.view, "b"), d.now); tooBig {
		t.Error("the state fits w2")
	}
}

// A job that no worker has the memory for is given up in the end, but not while a larger worker is there now and then.
func TestMisfitsAreGivenUp(t *testing.T) {
	d := newDesk(t, 2, 4)
	planned := planned("b", 4)
	planned.Output.Next.State.Size = 3 << 30
	d.view = run(t, d.view, submit("b"), start("b"), completions(planned))
	small := func() {
		d.board.Register(d.view, schedule.Worker{ID: "w", Slots: 2, Memory: 2 << 30}, nil, d.now)
	}
	small()
	if cmds := d.board.Fit.Misfits(d.view, d.now); len(cmds) != 0 {
		t.Fatalf("given up at once: %v", cmds)
	}
	if wake, ok := d.board.NextWake(d.now); !ok || wake > d.cfg.FitPatience {
		t.Errorf("wakes at %v, %v", wake, ok)
	}
	d.now = d.cfg.FitPatience - 1
	d.board.Register(d.view, schedule.Worker{ID: "big", Slots: 2, Memory: 3 << 30}, nil, d.now)
	d.board.Fit.Misfits(d.view, d.now)
	d.now += d.cfg.LeaseTTL // it is gone
	small()
	if cmds := d.board.Fit.Misfits(d.view, d.now); len(cmds) != 0 {
		t.Fatalf("given up though a larger worker was there: %v", cmds)
	}
	d.now += d.cfg.FitPatience
	if cmds := d.board.Fit.Misfits(d.view, d.now); len(cmds) != 0 {
		t.Fatalf("given up without any worker: %v", cmds)
	}
	small()
	d.board.Fit.Misfits(d.view, d.now)
	d.now += d.cfg.FitPatience
	small()
	cmds := d.board.Fit.Misfits(d.view, d.now)
	if len(cmds) != 1 || cmds[0].GetFail().GetId() != "b" ||
		cmds[0].GetFail().GetFailure().GetCode() != "NO_WORKER_FITS" {
		t.Errorf("not given up: %v", cmds)
	}
}

// A worker that the state does not fit is no second opinion: the task goes back to the one it failed on.
func TestFaultBesideAWorkerTooSmall(t *testing.T) {
	d := newDesk(t, 1, 1)
	planned := planned("b", 1)
	planned.Output.Next.State.Size = 3 << 30
	d.view = run(t, d.view, submit("b"), start("b"), completions(planned))
	d.board.Register(d.view, schedule.Worker{ID: "w", Slots: 1, Memory: 2 << 30}, nil, d.now)
	d.wantJobs("w", 1, "a")
	d.board.Register(d.view, schedule.Worker{ID: "big", Slots: 1, Memory: 4 << 30}, nil, d.now)
	for attempt := range d.cfg.MaxAttempts {
		grants := d.lease("big", 1)
		if len(grants) != 1 {
			t.Fatalf("attempt %d: %d tasks leased", attempt+1, len(grants))
		}
		failed := d.fault("big", grants[0], taskClass, protocol.CodePanic) != nil
		if failed != (attempt == d.cfg.MaxAttempts-1) {
			t.Fatalf("attempt %d: the job failed is %v", attempt+1, failed)
		}
		d.now += d.cfg.RetryDelay << attempt
	}
}

func decided(cfg schedule.Config, view state.State) (started, failed []string) {
	for _, cmd := range schedule.Decide(cfg, view) {
		if s := cmd.GetStart(); s != nil {
			started = append(started, s.GetId())
		}
		if f := cmd.GetFail(); f != nil {
			failed = append(failed, f.GetId()+": "+f.GetFailure().GetCode())
		}
	}
	return started, failed
}

func TestDecideAdmitsByPriority(t *testing.T) {
	cfg := schedule.DefaultConfig()
	cfg.MaxRunning = 3
	view := run(t, state.New(), submit("run"), start("run"), submit("c"), submitted("low", -5, 0),
		submitted("high", 5, 0), submit("d"))
	if started, _ := decided(cfg, view); !slices.Equal(started, []string{"high", "c"}) {
		t.Errorf("started %v", started)
	}
	if why := schedule.Waits(cfg, view, jobOf(view, "d")); why != "waits for its turn: 1 job runs, 3 may at a time, "+
		"and 2 come before it: high, c" {
		t.Errorf("d %s", why)
	}
}

// A job waits for those it needs, outside of the queue, and fails when one of them does, also while another runs on.
func TestNeeds(t *testing.T) {
	cfg := schedule.DefaultConfig()
	cfg.MaxRunning = 3
	view := run(t, state.New(), submit("a"), submit("b"), start("a"), start("b"),
		submitted("both", 9, 0, "a", "b"), submitted("then", 0, 0, "both"), submit("free"))
	if started, failed := decided(cfg, view); !slices.Equal(started, []string{"free"}) || failed != nil {
		t.Errorf("started %v, failed %v", started, failed)
	}
	if why := schedule.Waits(cfg, view, jobOf(view, "both")); why != "waits for job a to succeed, which is running" {
		t.Errorf("both %s", why)
	}
	if why := schedule.Waits(cfg, view, jobOf(view, "then")); why != "waits for job both to succeed, which is queued" {
		t.Errorf("then %s", why)
	}
	broken := run(t, view, &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: "b"}}})
	if _, failed := decided(cfg, broken); !slices.Equal(failed, []string{"both: NEED_FAILED"}) {
		t.Errorf("failed %v", failed)
	}
	for _, cmd := range schedule.Decide(cfg, broken) {
		broken, _ = state.Apply(broken, cmd)
	}
	if _, failed := decided(cfg, broken); !slices.Equal(failed, []string{"then: NEED_FAILED"}) {
		t.Errorf("failed %v", failed)
	}
	if text := jobOf(broken, "both").Failure.Message; text != "job b, which this one needs, did not succeed: it was cancelled" {
		t.Error(text)
	}
	for _, id := range []string{"a", "b"} {
		view = run(t, view, completions(planned(id, 1)), completions(&pb.Completion{
			Id:     &pb.TaskID{JobId: id, Round: 1, Kind: pb.TaskKind_TASK_KIND_NODE},
			Output: &pb.TaskOutput{Object: ref(7)},
		}), completions(&pb.Completion{
			Id:     &pb.TaskID{JobId: id, Round: 1, Kind: pb.TaskKind_TASK_KIND_STEP},
			Output: &pb.TaskOutput{Next: &pb.Next{Done: true, State: ref(8)}},
		}), completions(&pb.Completion{
			Id:     &pb.TaskID{JobId: id, Kind: pb.TaskKind_TASK_KIND_REPORT},
			Output: &pb.TaskOutput{Files: []*pb.OutputFile{{Name: "m", Sha256: ref(9).Sha256, Size: 1}}},
		}))
	}
	if started, failed := decided(cfg, view); !slices.Equal(started, []string{"both", "free"}) || failed != nil {
		t.Errorf("after a and b: started %v, failed %v", started, failed)
	}
}
