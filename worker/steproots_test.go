package worker

import (
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/run"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// joining is an algorithm of one phase that joins texts with brackets, so that every other tree shows.
type joining struct{ bench }

func (j *joining) Phases() []jobs.Phase { return []jobs.Phase{j} }

func (*joining) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	a, err := left.Text("text")
	if err != nil {
		return nil, err
	}
	b, err := right.Text("text")
	return textOf("(" + a + " " + b + ")"), err
}

func textOf(text string) jobs.Arrays {
	a := jobs.Arrays{}
	a.PutText("text", text)
	return a
}

// A step reads the roots of two trees: one as it is stored, and one that it folds from three pieces.
func TestAStepReadsOrFoldsItsRoots(t *testing.T) {
	j := &job{id: "a", w: &worker{store: mem.New("m")}}
	tasks, err := run.NewTasks(&joining{}, protocol.JobSpec{}, kernelops.Generic())
	if err != nil {
		t.Fatal(err)
	}
	task := &pb.Task{Id: &pb.TaskID{JobId: "a", Round: 3}, Phase: "count"}
	for _, p := range []struct {
		tree, level, index uint32
		text               string
	}{{0, 2, 0, "whole"}, {1, 1, 0, "(0 1)"}, {1, 0, 2, "2"}, {1, 0, 3, "3"}, {1, 0, 4, "4"}} {
		object, err := j.w.putArrays(t.Context(), j.in(task), textOf(p.text))
		if err != nil {
			t.Fatal(err)
		}
		task.Pieces = append(task.Pieces, &pb.Piece{Tree: p.tree, Level: p.level, Index: p.index, Object: object})
	}
	roots := &stepRoots{job: j, tasks: tasks, task: task, trees: piecesByTree(task.GetPieces())}
	for tree, want := range []string{"whole", "(((0 1) (2 3)) 4)"} {
		root, err := roots.read(t.Context(), tree)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := root.Text("text"); err != nil || got != want {
			t.Errorf("tree %d: %q, %v; want %q", tree, got, err, want)
		}
	}
	if _, err := roots.read(t.Context(), 2); err == nil {
		t.Error("there is no third tree")
	}
}
