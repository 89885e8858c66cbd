package worker

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/run"
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

// gathering is an algorithm whose phase "gather" keeps the shards of its leaf and of its tree, and "pass" none.
type gathering struct{ jobs.Phase }

func (gathering) Phases() []jobs.Phase { return []jobs.Phase{gathering{}, passing{}} }
func (gathering) Name() string         { return "gather" }

func (gathering) Gathers(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
	return records(jobs.Input, leaf.Index) + 10*records(jobs.Queries, leaf.Tree)
}

type passing struct{ jobs.Phase }

func (passing) Name() string { return "pass" }

// shardsOf are shards of an object each, of a number of bytes.
func shardsOf(in protocol.Input, keys []string, bytes ...int64) *input {
	data := &input{spec: in}
	for i, n := range bytes {
		data.manifest.Objects = append(data.manifest.Objects, dataset.Object{Key: keys[i], Size: n})
		data.shards = append(data.shards, dataset.Shard{Pieces: []dataset.Piece{{Object: i, End: n}}})
	}
	return data
}

// A phase that gathers wants the shards of its first leaf, as large as they are when they are decoded.
func TestWantsOfGatheredShards(t *testing.T) {
	tasks, err := run.NewTasks(gathering{}, protocol.JobSpec{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	j := &job{tasks: tasks, inputs: []*input{
		shardsOf(protocol.Input{Format: "csv", Compression: "auto"}, []string{"a", "b", "c.csv.gz"}, 1, 20, 300),
		shardsOf(protocol.Input{Format: "npy", Compression: "auto"}, []string{"q", "r"}, 4000, 50000),
	}}
	task := &pb.Task{Id: &pb.TaskID{Kind: pb.TaskKind_TASK_KIND_NODE, Level: 1, Index: 1, Tree: 1}, Phase: "gather"}
	if got := j.gathers(task); got != 2*4*300+10*50000 {
		t.Errorf("the node of leaf 2 in tree 1 gathers %d", got)
	}
	with := j.wants(nil, task)
	if task.Phase = "pass"; with-j.wants(nil, task) != 2*4*300+10*50000 {
		t.Errorf("%d wanted with what is gathered, %d without", with, j.wants(nil, task))
	}
	task.Phase, task.Id.Index, task.Id.Tree = "gather", 9, 9
	if got := j.gathers(task); got != 0 {
		t.Errorf("shards that are not there take %d", got)
	}
}

// What is estimated before the job runs is what its leaf of the largest shard wants.
func TestLeafMemory(t *testing.T) {
	tasks, err := run.NewTasks(gathering{}, protocol.JobSpec{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	in := shardsOf(protocol.Input{Format: "csv", Compression: "auto", MaxRecordBytes: 10},
		[]string{"a", "b", "c.csv.gz", "d"}, 1, 20, 300, 40)
	sets := []Listed{{Spec: in.spec, Manifest: in.manifest, Shards: in.shards}}
	j := &job{tasks: tasks, inputs: []*input{in}}
	want := j.wants(nil, &pb.Task{Id: &pb.TaskID{Kind: pb.TaskKind_TASK_KIND_NODE, Index: 2}, Phase: tasks.First(),
		State: &pb.ObjectRef{Size: 7}})
	if got := LeafMemory(tasks, sets, 7); got != want || got < readerBytes+2*7+3*10 {
		t.Errorf("%d, want %d", got, want)
	}
}

func TestWants(t *testing.T) {
	j := &job{tasks: &run.Tasks{},
		inputs: []*input{{spec: protocol.Input{MaxRecordBytes: 1000}}, {spec: protocol.Input{MaxRecordBytes: 10}}}}
	task := &pb.Task{
		Id: &pb.TaskID{Kind: pb.TaskKind_TASK_KIND_NODE}, State: &pb.ObjectRef{Size: 7},
		Pieces:  []*pb.Piece{{Object: &pb.ObjectRef{Size: 100}}, {Object: &pb.ObjectRef{Size: 50}}},
		Carries: []*pb.CarryPiece{{Object: &pb.ObjectRef{Size: 5}}},
	}
	if got, want := j.wants(nil, task), int64(2*7+3*100+3*5+2*readerBytes+3*1010); got != want {
		t.Errorf("a node wants %d, want %d", got, want)
	}
	task.Id.Level = 3 // folds leaves: a partial waits at each level
	if got, want := j.wants(nil, task), int64(5*7+3*100+3*5+2*readerBytes+3*1010); got != want {
		t.Errorf("a node of eight leaves wants %d, want %d", got, want)
	}
	task.Id.Kind = pb.TaskKind_TASK_KIND_STEP
	if got := j.wants(nil, task); got != 3*7+2*100+2*2*100 {
		t.Errorf("a step that folds two pieces wants %d", got)
	}
	task.Pieces[1].Tree = 1
	if got := j.wants(nil, task); got != 3*7+2*100 {
		t.Errorf("a step of two roots wants %d", got)
	}
}

// The last state stays however large it is; older ones go when they do not fit beside it.
func TestStatesWithinTheirBudget(t *testing.T) {
	w := &worker{store: mem.New("m")}
	load := func(j *job, bytes int) {
		t.Helper()
		state := jobs.Arrays{}
		jobs.Put(state, "x", make([]byte, bytes))
		ref, err := w.putArrays(t.Context(), j.madeBy(0), state)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := j.state(t.Context(), &pb.Task{Id: &pb.TaskID{Round: 1}, State: ref}); err != nil ||
			len(got["x"].Data) != bytes {
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
