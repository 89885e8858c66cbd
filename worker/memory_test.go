package worker

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Two tasks of three fit; one that wants more than there is runs alone, and ends with its context.
func TestTasksWaitForMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newTaskMemory(200 * taskShare)
		begun, end := make(chan string, 3), make(chan struct{})
		task := func(name string, want int64) {
			giveBack, err := m.take(t.Context(), want)
			if err != nil {
				t.Error(err)
			}
			begun <- name
			<-end
			giveBack()
		}
		go task("a", 100)
		go task("b", 100)
		synctest.Wait()
		go task("huge", 1<<40)
		synctest.Wait()
		if len(begun) != 2 {
			t.Fatalf("%d tasks began", len(begun))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := m.take(ctx, 200); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		close(end)
		synctest.Wait()
		if len(begun) != 3 {
			t.Error("a task larger than the room never began")
		}
	})
}

func TestWants(t *testing.T) {
	j := &job{inputs: []*input{{spec: protocol.Input{MaxRecordBytes: 1000}}, {spec: protocol.Input{MaxRecordBytes: 10}}}}
	task := &pb.Task{
		Id: &pb.TaskID{Kind: pb.TaskKind_TASK_KIND_NODE}, State: &pb.ObjectRef{Size: 7},
		Pieces:  []*pb.Piece{{Object: &pb.ObjectRef{Size: 100}}, {Object: &pb.ObjectRef{Size: 50}}},
		Carries: []*pb.CarryPiece{{Object: &pb.ObjectRef{Size: 5}}},
	}
	if got, want := j.wants(nil, task), int64(2*7+3*100+5+2*readerBytes+3*1010); got != want {
		t.Errorf("a node wants %d, want %d", got, want)
	}
	task.Id.Kind = pb.TaskKind_TASK_KIND_STEP
	if got := j.wants(nil, task); got != 3*7+2*100 {
		t.Errorf("a step wants %d", got)
	}
}

// The last state stays however large it is; older ones go when they do not fit beside it.
func TestStatesWithinTheirBudget(t *testing.T) {
	w := &worker{store: mem.New("m")}
	load := func(j *job, bytes int) {
		t.Helper()
		state := jobs.Arrays{}
		jobs.Put(state, "x", make([]byte, bytes))
		ref, err := w.putArrays(t.Context(), j.id, state)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := j.state(t.Context(), ref); err != nil || len(got["x"].Data) != bytes {
			t.Fatal(err)
		}
	}
	w.states.budget = 3000
	a, b, c := &job{w: w, id: "a"}, &job{w: w, id: "b"}, &job{w: w, id: "c"}
	for _, step := range []struct {
		job   *job
		bytes int
		held  [3]bool
	}{
		{a, 1000, [3]bool{true, false, false}},
		{b, 1000, [3]bool{true, true, false}},
		{a, 1100, [3]bool{true, true, false}},
		{c, 1000, [3]bool{true, false, true}}, // with their headers three do not fit, and b's is the oldest
		{b, 9000, [3]bool{false, true, false}},
		{c, 10, [3]bool{false, false, true}},
	} {
		load(step.job, step.bytes)
		if got := [3]bool{a.held.Load() != nil, b.held.Load() != nil, c.held.Load() != nil}; got != step.held {
			t.Errorf("after %d bytes of %s: %v held, want %v", step.bytes, step.job.id, got, step.held)
		}
	}
}
