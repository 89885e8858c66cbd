package schedule_test

import (
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

const (
	taskClass  = pb.FailureClass_FAILURE_CLASS_TASK
	inputClass = pb.FailureClass_FAILURE_CLASS_INPUT
	infraClass = pb.FailureClass_FAILURE_CLASS_INFRASTRUCTURE
)

func TestFaultsDelayAndThenFailTheJob(t *testing.T) {
	d := newDesk(t, 1, 1)
	for attempt := range d.cfg.MaxAttempts {
		g := d.wantNodes("w", 1, node(0, 0))[0]
		cmd := d.fault("w", g, taskClass, protocol.CodePanic)
		if last := attempt == d.cfg.MaxAttempts-1; (cmd != nil) != last {
			t.Fatalf("attempt %d: command %v", attempt+1, cmd)
		}
		if cmd != nil {
			if f := cmd.GetFail(); f.GetId() != "a" || f.GetFailure().GetCode() != "PANIC" {
				t.Errorf("command %v", cmd)
			}
			return
		}
		delay := d.cfg.RetryDelay << attempt
		if wake, ok := d.board.NextWake(d.now); !ok || wake != d.now+delay {
			t.Fatalf("attempt %d: next wake %v %v, want in %v", attempt+1, wake, ok, delay)
		}
		d.now += delay - 1
		d.wantNodes("w", 1)
		d.now++
	}
}

// The parts of a node that failed share its history: halving must not win attempts.
func TestFaultsFollowTheTask(t *testing.T) {
	d := newDesk(t, 1, 8)
	g := d.wantNodes("w", 1, node(1, 0))[0] // 8 leaves, one slot: two at a time
	d.fault("w", g, taskClass, protocol.CodePanic)
	d.register("w2", 9) // ten slots now: leaves are leased one by one
	d.wantNodes("w", 1, node(0, 2))
	d.now += d.cfg.RetryDelay
	d.wantNodes("w", 1, node(0, 3)) // 0 and 1 failed here as (1,0), and there is another worker
	for attempt, worker := range []string{"w2", "w", "w2"} {
		g = d.wantNodes(worker, 1, node(0, 0))[0]
		cmd := d.fault(worker, g, taskClass, protocol.CodePanic)
		if last := attempt == 2; (cmd != nil) != last {
			t.Fatalf("attempt %d: command %v", attempt+2, cmd)
		}
		d.now += d.cfg.RetryDelay << (attempt + 1)
	}
}

func TestFailedTaskGoesToAnotherWorker(t *testing.T) {
	d := newDesk(t, 1, 1)
	d.register("w2", 1)
	g := d.wantNodes("w", 1, node(0, 0))[0]
	d.fault("w", g, taskClass, protocol.CodePanic)
	d.now += d.cfg.RetryDelay
	d.wantNodes("w", 1)
	d.now = d.cfg.LeaseTTL - 1
	d.board.Known("w", d.now)
	if wake, ok := d.board.NextWake(d.now); !ok || wake != d.cfg.LeaseTTL {
		t.Errorf("next wake %v %v; w2 falls silent at %v", wake, ok, d.cfg.LeaseTTL)
	}
	d.now = d.cfg.LeaseTTL // w2 has not been heard of since it registered: w is the last one
	d.wantNodes("w", 1, node(0, 0))
}

func TestInputFaultFailsTheJobAtOnce(t *testing.T) {
	d := newDesk(t, 1, 2)
	g := d.wantNodes("w", 1, node(0, 0))[0]
	if cmd := d.fault("w", g, inputClass,
		protocol.CodeBadRecord); cmd.GetFail().GetFailure().GetCode() != "BAD_RECORD" {
		t.Fatalf("command %v", cmd)
	}
	// Its lease is gone, but what its report says stays true: the call may be a repeated one.
	if cmd := d.fault("w", g, inputClass, protocol.CodeBadRecord); cmd == nil {
		t.Error("a repeated report of bad input was ignored")
	}
}

func TestInfrastructureFaultsAreNotCounted(t *testing.T) {
	d := newDesk(t, 1, 1)
	for range 20 {
		g := d.wantNodes("w", 1, node(0, 0))[0]
		if cmd := d.fault("w", g, infraClass, protocol.CodeStore); cmd != nil {
			t.Fatalf("command %v", cmd)
		}
		d.wantNodes("w", 1)
		d.now += d.cfg.RetryDelay << 6
	}
}

func TestDrainedTaskReturnsAtOnce(t *testing.T) {
	d := newDesk(t, 1, 1)
	g := d.wantNodes("w", 1, node(0, 0))[0]
	if cmd := d.fault("w", g, infraClass, protocol.CodeDrained); cmd != nil {
		t.Fatalf("command %v", cmd)
	}
	d.wantNodes("w", 1, node(0, 0))
}

// Complete is safe to repeat, so a report may come twice, or after its lease.
func TestRepeatedReportsCountOnce(t *testing.T) {
	d := newDesk(t, 1, 1)
	for range 3 {
		g := d.wantNodes("w", 1, node(0, 0))[0]
		for range 3 {
			if cmd := d.fault("w", g, taskClass, protocol.CodePanic); cmd != nil {
				t.Fatalf("three faults failed the job: %v", cmd)
			}
		}
		d.now += time.Second
		again := d.wantNodes("w", 1, node(0, 0))[0]
		d.fault("w", g, taskClass, protocol.CodePanic) // of the old lease
		if lost := d.board.Heartbeat(d.view, "w", []schedule.Held{heldOf(again)}, d.now); len(lost) != 0 {
			t.Fatal("a late report of an old lease took the new one away")
		}
		d.fault("w", again, infraClass, protocol.CodeDrained)
	}
}

func TestDoneTakesOnlyWhatIsBelow(t *testing.T) {
	d := newDesk(t, 1, 16) // one slot: four at a time
	g := d.wantNodes("w", 1, node(2, 0))
	d.commit(node(0, 1)) // by a worker of an older lease, below one that is at work
	d.complete(schedule.Task{JobID: "a", Round: 1, Kind: pb.TaskKind_TASK_KIND_NODE, Node: node(0, 0)},
		pb.Verdict_VERDICT_ACCEPTED)
	if lost := d.board.Heartbeat(d.view, "w", []schedule.Held{heldOf(g[0])}, d.now); len(lost) != 0 {
		t.Fatal("a commit below took the lease above it away")
	}
	d.commit(node(3, 0))
	if lost := d.board.Heartbeat(d.view, "w", []schedule.Held{heldOf(g[0])}, d.now); len(lost) != 1 {
		t.Error("a commit above left the lease below it")
	}
	for _, garbage := range []protocol.Node{node(9, 0), node(4, 1), node(63, 7), node(0, 1<<40)} {
		d.board.Done(jobOf(d.view, "a"), schedule.Task{JobID: "a", Round: 1, Kind: pb.TaskKind_TASK_KIND_NODE,
			Node: garbage}, "w", true, d.now)
	}
	d.wantNodes("w", 1, node(1, 4)) // 8 leaves left, two at a time: garbage changed nothing
}

func TestHeartbeatAnswersLostTasks(t *testing.T) {
	d := newDesk(t, 2, 4)
	grants := d.wantNodes("w", 3, node(0, 0), node(0, 1), node(0, 2))
	var held []schedule.Held
	for _, g := range grants {
		held = append(held, heldOf(g))
	}
	never := schedule.Held{Task: schedule.Task{JobID: "a", Round: 1, Kind: pb.TaskKind_TASK_KIND_NODE,
		Node: node(0, 3)}}
	gone := schedule.Held{Task: schedule.Task{JobID: "gone", Round: 1, Kind: pb.TaskKind_TASK_KIND_NODE}}
	d.commit(node(0, 0)) // by somebody else
	lost := d.board.Heartbeat(d.view, "w", append(held, never, gone), d.now)
	if len(lost) != 3 || lost[0] != held[0].Task || lost[1] != never.Task || lost[2] != gone.Task {
		t.Errorf("lost %v", lost)
	}
	if lost := d.board.Heartbeat(d.view, "other", held[1:2], d.now); len(lost) != 1 {
		t.Error("another worker renewed the lease")
	}
}

func TestLeasesExpireUnlessRenewed(t *testing.T) {
	d := newDesk(t, 2, 2)
	grants := d.wantNodes("w", 2, node(0, 0), node(0, 1))
	d.now = d.cfg.LeaseTTL / 2
	d.board.Heartbeat(d.view, "w", []schedule.Held{heldOf(grants[0])}, d.now)
	d.now = d.cfg.LeaseTTL - 1
	d.wantNodes("w", 2)
	if wake, ok := d.board.NextWake(d.now); !ok || wake != d.cfg.LeaseTTL {
		t.Errorf("next wake %v %v", wake, ok)
	}
	d.now++
	d.wantNodes("w", 2, node(0, 1))
	if d.board.Jobs.Counts.Expired != 1 {
		t.Errorf("%d expired", d.board.Jobs.Counts.Expired)
	}
	d.now = d.cfg.LeaseTTL * 3 / 2
	if n := d.board.Expire(d.now); n != 1 {
		t.Errorf("%d expired, want the one renewed at half the time", n)
	}
}

func TestNewLeaderHoldsBackForOneTTL(t *testing.T) {
	d := newDesk(t, 2, 2)
	grants := d.wantNodes("w", 2, node(0, 0), node(0, 1))
	d.now = time.Hour
	d.board = schedule.NewBoard(d.cfg, 7, d.view, d.now)
	d.view = run(t, d.view, submit("later"), start("later"))
	d.register("w", 1, heldOf(grants[0]))
	above := schedule.Held{Task: grants[0].Task, Token: grants[0].Token}
	above.Task.Node = node(1, 0)
	// somebody else has it too, and the node above it: the first is believed
	d.register("w2", 1, heldOf(grants[0]), above)
	if lost := d.board.Heartbeat(d.view, "w2", []schedule.Held{above}, d.now); len(lost) != 1 {
		t.Error("two workers hold a node and the one above it")
	}
	if lost := d.board.Heartbeat(d.view, "w2", []schedule.Held{heldOf(grants[0])}, d.now); len(lost) != 1 {
		t.Error("two workers hold one task")
	}
	if g := d.lease("w2", 5); len(g) != 1 || g[0].Task.JobID != "later" {
		t.Fatalf("while old tasks are held back: %+v", g)
	}
	if wake, ok := d.board.NextWake(d.now); !ok || wake != d.now+d.cfg.LeaseTTL {
		t.Errorf("next wake %v %v", wake, ok)
	}
	d.now += d.cfg.LeaseTTL - 1
	if lost := d.board.Heartbeat(d.view, "w", []schedule.Held{heldOf(grants[0])}, d.now); len(lost) != 0 {
		t.Fatal("an announced task was lost")
	}
	d.now++
	g := d.wantNodes("w2", 2, node(0, 0), node(0, 1)) // the plan of the later job, which nobody has, comes first
	if g[1].Token.Term != 7 {
		t.Errorf("token %v of term 7", g[1].Token)
	}
	if cmd := d.fault("w", grants[0], taskClass, protocol.CodePanic); cmd != nil {
		t.Fatal(cmd)
	}
	if lost := d.board.Heartbeat(d.view, "w", []schedule.Held{heldOf(grants[0])}, d.now); len(lost) != 1 {
		t.Error("the fault of an announced task, under the token its worker has, left the lease")
	}
}

func TestNewLeaderOfAnIdleClusterDoesNotHold(t *testing.T) {
	view := run(t, state.New(), submit("a"))
	board := schedule.NewBoard(schedule.DefaultConfig(), 2, view, 0)
	if _, ok := board.NextWake(0); ok {
		t.Error("a leader with nothing at work waits")
	}
}

func TestWorkersAreForgotten(t *testing.T) {
	d := newDesk(t, 1, 1)
	d.now = d.cfg.LeaseTTL
	if n := len(d.board.Roster.Live(d.now)); n != 0 {
		t.Errorf("%d workers are live after a TTL of silence", n)
	}
	d.now = 10 * d.cfg.LeaseTTL
	d.board.Expire(d.now)
	if d.board.Known("w", d.now) {
		t.Error("a worker silent for ten TTLs is still known")
	}
}

// Of four attempts two are another worker's, and faults of the world between them count for nothing.
func TestFourFaultsOnTwoWorkers(t *testing.T) {
	d := newDesk(t, 1, 1)
	d.register("w2", 1)
	for attempt, worker := range []string{"w", "w2", "w", "w2"} {
		d.now += time.Second
		g := d.wantNodes(worker, 1, node(0, 0))[0]
		d.fault(worker, g, infraClass, protocol.CodeDrained)
		g = d.wantNodes(worker, 1, node(0, 0))[0]
		if cmd := d.fault(worker, g, taskClass, protocol.CodePanic); (cmd != nil) != (attempt == 3) {
			t.Fatalf("attempt %d: command %v", attempt+1, cmd)
		}
		d.wantNodes(worker, 1)
	}
}

// A second worker that never finishes an attempt delays the verdict on the first one's, up to a limit.
func TestOneWorkersFaultsNeedASecondOpinion(t *testing.T) {
	d := newDesk(t, 1, 1)
	d.register("w2", 1)
	for attempt := 1; ; attempt++ {
		d.now += 20 * time.Second
		d.board.Known("w", d.now)
		d.board.Known("w2", d.now)
		g := d.wantNodes("w", 1, node(0, 0))[0]
		if cmd := d.fault("w", g, taskClass, protocol.CodePanic); cmd != nil {
			if attempt != 2*d.cfg.MaxAttempts {
				t.Errorf("the job fails after %d faults", attempt)
			}
			return
		}
		d.now += 20 * time.Second
		d.board.Known("w", d.now)
		d.board.Known("w2", d.now)
		d.fault("w2", d.wantNodes("w2", 1, node(0, 0))[0], infraClass, protocol.CodeStore)
	}
}

// Where the second has its say, the fourth fault ends the job, whichever worker had the first three.
func TestThreeFaultsOnOneWorkerAndOneOnAnother(t *testing.T) {
	d := newDesk(t, 1, 1)
	for range 3 {
		d.fault("w", d.wantNodes("w", 1, node(0, 0))[0], taskClass, protocol.CodePanic)
		d.now += 2 * time.Second
	}
	d.register("w2", 1)
	d.wantNodes("w", 1)
	if cmd := d.fault("w2", d.wantNodes("w2", 1, node(0, 0))[0], taskClass, protocol.CodePanic); cmd == nil {
		t.Error("four faults on two workers did not fail the job")
	}
}
