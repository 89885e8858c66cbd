package worker

import (
	"testing"

	"github.com/gram-compute/gram/jobs/run"
	"github.com/gram-compute/gram/kernelops"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// A task that is made again is computed with the other kernel set, and writes no files. Without another set it fails.
func TestATaskMadeAgainTakesTheOtherSet(t *testing.T) {
	j := &job{w: &worker{cfg: Config{Ops: kernelops.Generic()}}, tasks: &run.Tasks{}, check: &run.Tasks{},
		output: new(output)}
	first, again := &pb.Task{Id: &pb.TaskID{}}, &pb.Task{Id: &pb.TaskID{Again: true}}
	if tasks, _, err := j.with(first); err != nil || tasks != j.tasks {
		t.Errorf("the first time: %v", err)
	}
	tasks, emit, err := j.with(again)
	if err != nil || tasks != j.check {
		t.Fatalf("made again: %v", err)
	}
	file, err := emit(t.Context(), "pairs.csv", []byte("abc")) // there is no store to write to
	if err != nil || file.Size != 3 ||
		file.SHA256 != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("%+v, %v", file, err)
	}
	j.check = nil
	if _, _, err := j.with(again); err == nil {
		t.Error("made again without another set")
	}
}

// The other set is one that the machine runs, and never the worker's own; a machine with one set has no other.
func TestTheOtherSet(t *testing.T) {
	a, b, c := &kernelops.Set{Name: "a"}, &kernelops.Set{Name: "b"}, &kernelops.Set{Name: "c"}
	several := []*kernelops.Set{a, b, c}
	for _, of := range []struct {
		own  *kernelops.Set
		all  []*kernelops.Set
		want string
	}{{a, several[:1], ""}, {a, several, "b"}, {b, several, "a"}, {c, several, "b"}} {
		if got := newSelfCheck(of.own, of.all).name(); got != of.want {
			t.Errorf("own %s of %d: %q, want %q", of.own.Name, len(of.all), got, of.want)
		}
	}
	if got := (*selfCheck)(nil).name(); got != "" {
		t.Errorf("%q", got)
	}
}
