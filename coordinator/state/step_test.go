package state_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// A forest has a bounded number of trees and of leaves, and a named phase. At its bounds it is taken, one beyond it
// is not.
func TestForestsAreBounded(t *testing.T) {
	trees := func(n int) []uint32 { return slices.Repeat([]uint32{1}, n) }
	const invalid = pb.Verdict_VERDICT_INVALID
	for _, c := range []struct {
		name  string
		phase string
		trees []uint32
		want  pb.Verdict
	}{
		{"a phase of 64 bytes", strings.Repeat("p", 64), trees(1), accepted},
		{"a phase of 65 bytes", strings.Repeat("p", 65), trees(1), invalid},
		{"no phase", "", trees(1), invalid},
		{"as many trees as may be", "p", trees(state.MaxTrees), accepted},
		{"one more", "p", trees(state.MaxTrees + 1), invalid}, {"no tree", "p", nil, invalid},
		{"as many leaves as may be", "p", []uint32{1, state.MaxLeaves - 1}, accepted},
		{"one leaf more", "p", []uint32{1, state.MaxLeaves}, invalid},
		{"a tree without leaves", "p", []uint32{1, 0}, invalid},
	} {
		s, _ := run(t, state.New(), submit("a", "h"), start("a"))
		plan := planned("a", c.trees...)
		plan.Output.Next.Phase = c.phase
		if _, reply := state.Apply(s, completions(plan)); reply.Verdicts[0] != c.want {
			t.Errorf("%s: %v by the plan, want %v", c.name, reply.Verdicts[0], c.want)
		}
		s = wantVerdict(t, running(t, 1), node("a", 1, 0, 0, 0, 10), accepted)
		next := step("a", 1, &pb.Next{Phase: c.phase, Trees: c.trees, State: ref(7)})
		if _, reply := state.Apply(s, completions(next)); reply.Verdicts[0] != c.want {
			t.Errorf("%s: %v by a step, want %v", c.name, reply.Verdicts[0], c.want)
		}
	}
}

// An object may be empty; its size is never below nothing, and its digest has 32 bytes.
func TestReferencesAreWellFormed(t *testing.T) {
	for name, c := range map[string]struct {
		object *pb.ObjectRef
		want   pb.Verdict
	}{
		"of no bytes":           {&pb.ObjectRef{Sha256: ref(10).Sha256}, accepted},
		"of one byte":           {&pb.ObjectRef{Sha256: ref(10).Sha256, Size: 1}, accepted},
		"of less than no bytes": {&pb.ObjectRef{Sha256: ref(10).Sha256, Size: -1}, pb.Verdict_VERDICT_INVALID},
		"of a short digest":     {&pb.ObjectRef{Sha256: ref(10).Sha256[:31], Size: 1}, pb.Verdict_VERDICT_INVALID},
		"absent":                {nil, pb.Verdict_VERDICT_INVALID},
	} {
		leaf := node("a", 1, 0, 0, 0, 0)
		leaf.Output.Object = c.object
		if _, reply := state.Apply(running(t, 1), completions(leaf)); reply.Verdicts[0] != c.want {
			t.Errorf("an object %s: %v, want %v", name, reply.Verdicts[0], c.want)
		}
	}
}

// A report leaves 1 to MaxOutputs files.
func TestOutputsAreBounded(t *testing.T) {
	const invalid = pb.Verdict_VERDICT_INVALID
	for files, want := range map[int]pb.Verdict{
		0: invalid, 1: accepted, state.MaxOutputs: accepted, state.MaxOutputs + 1: invalid,
	} {
		end := report("a")
		one := end.Output.Files[0]
		end.Output.Files = nil
		for i := range files {
			file := &pb.OutputFile{Name: fmt.Sprint("f", i), Uri: one.Uri, Sha256: one.Sha256, Size: one.Size}
			end.Output.Files = append(end.Output.Files, file)
		}
		s, reply := state.Apply(modelOf(t), completions(end))
		if reply.Verdicts[0] != want || len(jobA(s).Outputs) != files && want == accepted {
			t.Errorf("%d files: %v, %d outputs; want %v", files, reply.Verdicts[0], len(jobA(s).Outputs), want)
		}
	}
}

// Of the finished rounds a job keeps the newest.
func TestRoundRecordsAreBounded(t *testing.T) {
	s := running(t, 1)
	for round := range uint32(state.MaxRoundRecords + 2) {
		if rounds := jobA(s).Rounds.Finished; len(rounds) != min(int(round), state.MaxRoundRecords) {
			t.Fatalf("%d records of %d rounds", len(rounds), round)
		}
		s = wantVerdict(t, s, node("a", round+1, 0, 0, 0, 10), accepted)
		s = wantVerdict(t, s, step("a", round+1, count(7, 1)), accepted)
	}
	rounds := jobA(s).Rounds.Finished
	if rounds[0].Number != 3 || rounds[len(rounds)-1].Number != state.MaxRoundRecords+2 {
		t.Errorf("records of rounds %d to %d", rounds[0].Number, rounds[len(rounds)-1].Number)
	}
}

// A job lists the workers and kernel sets that made it: sorted, each once, without empty names.
func TestWhoMadeAJob(t *testing.T) {
	s := running(t, 4) // planned by w1 with the generic kernels
	for i, c := range [][2]string{{"w3", "avx2"}, {"w1", ""}, {"", "avx512"}, {"w2", "avx2"}} {
		leaf := node("a", 1, 0, 0, uint32(i), 10)
		leaf.Worker, leaf.Kernels = c[0], c[1]
		s = wantVerdict(t, s, leaf, accepted)
	}
	job := jobA(s)
	workers, kernels := []string{"w1", "w2", "w3"}, []string{"avx2", "avx512", "generic"}
	if !slices.Equal(job.Workers, workers) || !slices.Equal(job.Kernels, kernels) {
		t.Errorf("made by workers %q with kernels %q", job.Workers, job.Kernels)
	}
}
