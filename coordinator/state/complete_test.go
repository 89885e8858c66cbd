package state_test

import (
	"fmt"
	"slices"
	"testing"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Every verdict has its counter, and speculative copies add up.
func TestVerdictsAreCounted(t *testing.T) {
	s := running(t, 2)
	for _, c := range []struct {
		made *pb.Completion
		want pb.Verdict
	}{
		{node("a", 1, 0, 0, 0, 1), accepted},
		{node("a", 1, 0, 0, 0, 1), pb.Verdict_VERDICT_DUPLICATE},
		{node("a", 1, 0, 1, 0, 2), accepted},
		{node("a", 1, 0, 0, 0, 1), pb.Verdict_VERDICT_SUPERSEDED},
		{node("a", 1, 0, 0, 1, 1), pb.Verdict_VERDICT_SUPERSEDED},
		{node("a", 1, 0, 1, 0, 2), pb.Verdict_VERDICT_DUPLICATE},
		{node("a", 1, 0, 1, 0, 2), pb.Verdict_VERDICT_DUPLICATE},
		{node("a", 2, 0, 0, 0, 1), stale},
	} {
		c.made.SpeculativeCopies = &pb.SpeculativeCopies{Launched: 3, Won: 1, Wasted: 2}
		s = wantVerdict(t, s, c.made, c.want)
	}
	got := auditedJob(t, s).Counters
	if got.Committed != 3 || got.Duplicates != 3 || got.Superseded != 2 || got.Violations != 0 { // the plan counts too
		t.Errorf("%+v", got)
	}
	if got.SpeculativeLaunched != 24 || got.SpeculativeWon != 8 || got.SpeculativeWasted != 16 {
		t.Errorf("speculative copies: %+v", got)
	}
}

// A node that the forest does not have is refused, whatever its numbers.
func TestNodesThatAreNot(t *testing.T) {
	const most = 1<<32 - 1
	s := running(t, 5, 1)
	for _, n := range [][3]uint32{
		{2, 0, 0}, {most, 0, 0}, {0, 0, 5}, {0, 0, most}, {0, 4, 0}, {0, 63, 0}, {0, 64, 0}, {0, most, most},
		{1, 0, 1}, {1, 1, 0},
	} {
		s = wantVerdict(t, s, node("a", 1, n[0], n[1], n[2], 1), pb.Verdict_VERDICT_INVALID)
	}
	for _, n := range [][3]uint32{{0, 3, 0}, {1, 0, 0}} {
		s = wantVerdict(t, s, node("a", 1, n[0], n[1], n[2], 1), accepted)
	}
}

// The names of a job's workers are sorted, each once, and 1024 at most.
func TestTheWorkersOfAJob(t *testing.T) {
	const most = 1024
	s := running(t, most+2) // planned by w1
	var want []string
	for leaf := range uint32(most + 2) {
		c := node("a", 1, 0, 0, leaf, 1)
		c.Worker = fmt.Sprint("w", leaf%(most+1))
		s = wantVerdict(t, s, c, accepted)
		if job := auditedJob(t, s); leaf == most-1 && len(job.Workers) != most {
			t.Errorf("%d workers have made something, %d are known", most, len(job.Workers))
		}
		if leaf < most {
			want = append(want, c.Worker)
		}
	}
	slices.Sort(want)
	if got := auditedJob(t, s).Workers; !slices.Equal(got, want) {
		t.Errorf("%d workers, from %q to %q", len(got), got[0], got[len(got)-1])
	}
}
