package worker

import (
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// A task that is made again is computed with the other kernel set, and writes no files; where there is no other set it
// fails.
func TestATaskMadeAgainTakesTheOtherSet(t *testing.T) {
	j := &job{w: &worker{cfg: Config{Ops: kernelops.Generic()}}, tasks: &jobs.Tasks{}, check: &jobs.Tasks{}}
	first, again := &pb.Task{Id: &pb.TaskID{}}, &pb.Task{Id: &pb.TaskID{Again: true}}
	if tasks, _, err := j.with(first); err != nil || tasks != j.tasks {
		t.Errorf("the first time: %v", err)
	}
	tasks, emit, err := j.with(again)
	if err != nil || tasks != j.check {
		t.Fatalf("made again: %v", err)
	}
	file, err := emit(t.Context(), "pairs.csv", []byte("abc")) // there is no store to write to
	if err != nil || file.Size != 3 || file.SHA256 != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("%+v, %v", file, err)
	}
	j.check = nil
	if _, _, err := j.with(again); err == nil {
		t.Error("made again without another set")
	}
}

// A worker tells which other set its machine runs: never its own, and none where there is one only.
func TestTheOtherSet(t *testing.T) {
	a, b, c := &kernelops.Set{Name: "a"}, &kernelops.Set{Name: "b"}, &kernelops.Set{Name: "c"}
	for _, of := range []struct {
		own  *kernelops.Set
		all  []*kernelops.Set
		want string
	}{{a, []*kernelops.Set{a}, ""}, {a, []*kernelops.Set{a, b, c}, "b"}, {b, []*kernelops.Set{a, b, c}, "a"}, {c, []*kernelops.Set{a, b, c}, "b"}} {
		if got := newSelfCheck(of.own, of.all).name(); got != of.want {
			t.Errorf("own %s of %d: %q, want %q", of.own.Name, len(of.all), got, of.want)
		}
	}
	if got := (*selfCheck)(nil).name(); got != "" {
		t.Errorf("%q", got)
	}
}
