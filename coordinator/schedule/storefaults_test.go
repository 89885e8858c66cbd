package schedule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// missing reports that a worker cannot read an object.
func (d *desk) missing(worker string, g schedule.Grant, round uint32, object *pb.ObjectRef) *pb.Command {
	return d.board.Fault(d.view, worker, heldOf(g), &pb.Failure{
		Class: taskClass, Code: string(protocol.CodeLost), Message: "gone",
		Lost: &pb.LostObject{Round: round, Object: object},
	}, d.now)
}

// mergeOf leases the merge of two committed leaves.
func mergeDesk(t *testing.T, others ...string) (d *desk, partial *pb.ObjectRef) {
	d = newDesk(t, 1, 2)
	d.commit(node(0, 0), node(0, 1))
	for _, other := range others {
		d.register(other, 1)
	}
	return d, nodeDone(schedule.Task{JobID: "a", Round: 1, Kind: pb.TaskKind_TASK_KIND_NODE,
		Node: node(0, 1)}).Output.Object
}

// A second worker has to say the same. Then what made the object is to do again, and nothing else.
func TestTwoWorkersMissAnObject(t *testing.T) {
	d, partial := mergeDesk(t, "w2")
	if cmd := d.missing("w", d.wantNodes("w", 1, node(1, 0))[0], 1, partial); cmd != nil {
		t.Fatalf("one worker's word was taken: %v", cmd)
	}
	d.now += d.cfg.RetryDelay
	d.wantNodes("w", 1) // while there is another
	cmd := d.missing("w2", d.wantNodes("w2", 1, node(1, 0))[0], 1, partial)
	change := cmd.GetUncommit()
	if len(change.GetTasks()) != 1 || change.GetTasks()[0].GetIndex() != 1 ||
		change.GetReason() != pb.UncommitReason_UNCOMMIT_REASON_LOST || !strings.Contains(change.GetMessage(), "gone") {
		t.Fatalf("command %v", cmd)
	}
	d.view = run(t, d.view, cmd)
	again := d.wantNodes("w", 1, node(0, 1))[0]
	if again.Task.Changes != 1 {
		t.Errorf("the task is of change %d", again.Task.Changes)
	}
}

// The only worker is believed when it says so a second time.
func TestTheOnlyWorkerMissesAnObject(t *testing.T) {
	d, partial := mergeDesk(t)
	if cmd := d.missing("w", d.wantNodes("w", 1, node(1, 0))[0], 1, partial); cmd != nil {
		t.Fatalf("the first word was taken: %v", cmd)
	}
	d.now += d.cfg.RetryDelay
	if cmd := d.missing("w", d.wantNodes("w", 1, node(1, 0))[0], 1, partial); cmd.GetUncommit() == nil {
		t.Errorf("command %v", cmd)
	}
}

// More work is taken back only after the object was asked for longer.
func TestAStateIsAskedForLonger(t *testing.T) {
	d := newDesk(t, 1, 1)
	d.commit(node(0, 0))
	d.view = run(t, d.view, completions(&pb.Completion{
		Id:     &pb.TaskID{JobId: "a", Round: 1, Kind: pb.TaskKind_TASK_KIND_STEP},
		Output: &pb.TaskOutput{Next: &pb.Next{Phase: "count", Trees: []uint32{1}, State: ref(50)}},
	}))
	began := d.now
	for {
		g := d.lease("w", 1)
		if len(g) == 0 {
			d.now += d.cfg.RetryDelay
			continue
		}
		cmd := d.missing("w", g[0], 1, ref(50))
		if due := d.now-began >= 10*d.cfg.RetryDelay; (cmd != nil) != due {
			t.Fatalf("after %v: %v", d.now-began, cmd)
		}
		if cmd != nil {
			d.view = run(t, d.view, cmd)
			break
		}
	}
	if job := jobOf(d.view, "a"); job.Rounds.Open.Number != 1 || job.Counters.Remade.Reopened != 1 {
		t.Errorf("round %d", job.Rounds.Open.Number)
	}
}

// An object that the job does not read is no reason to take anything back: the task has failed, as any.
func TestAFalseReportIsAFault(t *testing.T) {
	d, _ := mergeDesk(t)
	for attempt := range d.cfg.MaxAttempts {
		g := d.lease("w", 1)
		cmd := d.missing("w", g[0], 1, ref(12345))
		if last := attempt == d.cfg.MaxAttempts-1; (cmd.GetFail() != nil) != last || cmd.GetUncommit() != nil {
			t.Fatalf("attempt %d: %v", attempt+1, cmd)
		}
		d.now += d.cfg.RetryDelay << attempt
	}
}

func (d *desk) denied(worker string) *pb.Command {
	d.Helper()
	for range 1000 {
		if g := d.lease(worker, 1); len(g) > 0 {
			return d.fault(worker, g[0], infraClass, protocol.CodeStoreDenied)
		}
		d.now += 100 * time.Millisecond
	}
	d.Fatalf("%s was granted nothing", worker)
	return nil
}

// The cluster's own store refuses for more than a quarter of an hour before a job fails, and the job says what it waits
// for.
func TestARefusingStoreIsWaitedFor(t *testing.T) {
	d := newDesk(t, 1, 4)
	for {
		cmd := d.denied("w")
		since, patience, said, waits := d.board.Store.Denied(jobOf(d.view, "a"), d.now)
		if over := since >= 16*time.Minute; (cmd != nil) != over || !waits || patience != 16*time.Minute ||
			said != "broke" || d.board.Store.DeniedJobs() != 1 {
			t.Fatalf("after %v: %v, %v, %q", since, cmd, waits, said)
		}
		if cmd != nil {
			if f := cmd.GetFail().GetFailure(); f.GetCode() != string(protocol.CodeStoreDenied) ||
				!strings.HasPrefix(f.GetMessage(), "for 16m") {
				t.Errorf("failed with %v", f)
			}
			return
		}
	}
}

// A task that is done ends the wait; a worker that is refused alone ends no job.
func TestARefusalThatPasses(t *testing.T) {
	d := newDesk(t, 1, 4)
	d.denied("w")
	d.now += 14 * time.Minute
	d.register("w", 1)
	d.complete(d.lease("w", 1)[0].Task, pb.Verdict_VERDICT_ACCEPTED)
	if _, _, _, waits := d.board.Store.Denied(jobOf(d.view, "a"), d.now); waits {
		t.Error("the job waits though a task is done")
	}
	d.register("w2", 1)
	began := d.now
	for d.now-began < 20*time.Minute {
		d.now += 5 * time.Second // both are alive, and one has nothing to do with it
		d.board.Known("w2", d.now)
		if g := d.lease("w", 1); len(g) > 0 {
			if cmd := d.fault("w", g[0], infraClass, protocol.CodeStoreDenied); cmd != nil {
				t.Fatalf("after %v: %v", d.now-began, cmd)
			}
		}
	}
}

// A store that refuses everybody is no worker's fault: none is quarantined when the tasks are done afterwards.
func TestARefusingStoreQuarantinesNobody(t *testing.T) {
	d := newDesk(t, 1, 1)
	d.register("w2", 1)
	for _, id := range []string{"b", "c", "d", "e", "f", "g"} {
		d.view = run(t, d.view, submit(id), start(id), completions(planned(id, 1)))
	}
	for _, worker := range []string{"w", "w2"} {
		for g := d.lease(worker, 1); len(g) > 0; g = d.lease(worker, 1) {
			d.fault(worker, g[0], infraClass, protocol.CodeStoreDenied)
		}
		d.now += time.Second
	}
	done := 0
	for _, worker := range []string{"w", "w2"} {
		for g := d.lease(worker, 1); len(g) > 0; g = d.lease(worker, 1) {
			if g[0].Task.Kind != pb.TaskKind_TASK_KIND_NODE {
				continue // a step, which this test leaves alone
			}
			d.view, _ = state.Apply(d.view, completions(nodeDone(g[0].Task)))
			d.board.Done(jobOf(d.view, g[0].Task.JobID), g[0].Task, worker, true, d.now)
			done++
		}
	}
	if done < 5 || d.quarantined("w") != "" || d.quarantined("w2") != "" {
		t.Errorf("%d tasks done; w: %q, w2: %q", done, d.quarantined("w"), d.quarantined("w2"))
	}
}
