package state_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// audits are the pending audits of job a, each with the workers that made its task.
func audits(t *testing.T, s state.State) (all []string) {
	t.Helper()
	for _, a := range pendingAudits(auditedJob(t, s)) {
		text := a.String() + ":"
		for _, o := range a.Opinions {
			text += " " + o.WorkerID
		}
		all = append(all, text)
	}
	return all
}

func wantAudits(t *testing.T, s state.State, want ...string) {
	t.Helper()
	if got := audits(t, s); !slices.Equal(got, want) {
		t.Errorf("audits pending: %q, want %q", got, want)
	}
}

// A liar's tasks are audited no more, since they are made again; those of others are, without what the liar said of
// them.
func TestAnHonestWorkersAuditsGoOn(t *testing.T) {
	s := audited(t, 4)
	for leaf, worker := range []string{"x", "l", "y"} {
		s = wantVerdict(t, s, by(worker, node("a", 1, 0, 0, uint32(leaf), 10)), accepted)
	}
	s = wantVerdict(t, s, by("l", node("a", 1, 0, 0, 0, 66)), heard)
	s = wantVerdict(t, s, by("z", node("a", 1, 0, 0, 1, 11)), heard)
	s = wantVerdict(t, s, by("w", node("a", 1, 0, 0, 1, 11)), heard)
	wantAudits(t, s, "plan: p", "round 1, tree 0, node 0/0: x", "round 1, tree 0, node 0/2: y")
	if job := auditedJob(t, s); job.Rounds.Open.Covered != 2 || len(job.Audits.Convicted) != 1 {
		t.Errorf("%d leaves stand, %v", job.Rounds.Open.Covered, job.Audits.Convicted)
	}
}

// The same in the first round of a new beginning.
func TestAuditsOfANewBeginning(t *testing.T) {
	s := audited(t, 2)
	s = wantVerdict(t, s, by("x", node("a", 1, 0, 1, 0, 10)), accepted)
	s = wantVerdict(t, s, by("x", step("a", 1, &pb.Next{Phase: "count", Trees: []uint32{1}, State: ref(11)})), accepted)
	s = oneRound(t, s, 2, "x", "x", 20)
	s, _ = run(t, s, takeBack(s, lost, step("a", 1, nil)))
	wantAudits(t, s, "plan: p")
	for leaf, worker := range []string{"x", "l"} {
		s = wantVerdict(t, s, now(s, by(worker, node("a", 4, 0, 0, uint32(leaf), 10))), accepted)
	}
	for _, worker := range []string{"y", "z"} {
		s = wantVerdict(t, s, now(s, by(worker, node("a", 4, 0, 0, 1, 11))), heard)
	}
	wantAudits(t, s, "plan: p", "round 4, tree 0, node 0/0: x")
}

// Steps and nodes of closed rounds are made a second time while later rounds are open.
func TestAuditsOfClosedRounds(t *testing.T) {
	s := oneRound(t, audited(t, 1), 1, "x", "x", 10)
	wantAudits(t, s, "plan: p", "round 1, tree 0, node 0/0: x", "round 1, step: x")
	again := step("a", 1, &pb.Next{Phase: "count", Trees: []uint32{1}, State: ref(11)})
	agreed := wantVerdict(t, s, by("y", again), heard)
	agreed = wantVerdict(t, agreed, by("y", node("a", 1, 0, 0, 0, 10)), heard)
	wantAudits(t, agreed, "plan: p")
	if job := auditedJob(t, agreed); job.Audits.Counts.Agreed != 2 || !job.Rounds.Finished[0].Audited ||
		job.Audits.Counts.Disputed != 0 {
		t.Errorf("%+v, %+v", job.Audits.Counts, job.Rounds.Finished[0])
	}
	// The step is taken back: it is audited when it is made again, and the leaf goes on to be.
	s, _ = run(t, s, takeBack(s, lost, step("a", 1, nil)))
	wantAudits(t, s, "plan: p", "round 1, tree 0, node 0/0: x")
}

func TestTwoLiarsOfOneJob(t *testing.T) {
	s := planJob(t, state.New(), "a", 1)
	s = contradicts(t, s, "a", "l1", 1002)
	s = contradicts(t, s, "a", "l2", 1003)
	job := auditedJob(t, s)
	known := len(job.Audits.Convicted) == 2 && job.Audits.Convicted[0].WorkerID == "l1" &&
		job.Audits.Convicted[1].WorkerID == "l2"
	if !known || s.Convicted.Count() != 2 {
		t.Errorf("%d known to the cluster; the job convicted %+v", s.Convicted.Count(), job.Audits.Convicted)
	}
}

// The cluster remembers the newest 1024 and forgets the oldest, by time and not by name; a job knows as many.
func TestConvictedWorkersAreBounded(t *testing.T) {
	s := planJob(t, planJob(t, state.New(), "a", 1), "b", 1)
	name := func(i int) string { return fmt.Sprintf("l%04d", 5000-i/2*2+i%2) } // later ones sort first, but for pairs
	for i := range state.MaxConvicted {
		s = contradicts(t, s, "a", name(i), 2000+int64(i/2)) // two at a time
	}
	if s.Convicted.Count() != state.MaxConvicted || len(auditedJob(t, s).Audits.Convicted) != state.MaxConvicted {
		t.Fatalf("%d known to the cluster, %d to the job", s.Convicted.Count(), len(auditedJob(t, s).Audits.Convicted))
	}
	for i := range 3 {
		late := fmt.Sprint("late", i)
		s = contradicts(t, s, "b", late, 9000+int64(i))
		if s.Convicted.Count() != state.MaxConvicted {
			t.Errorf("%d are known to the cluster", s.Convicted.Count())
		}
		for j := range 4 { // of two at a time the first by name goes first
			if _, known := s.Convicted.Get(name(j)); known != (j > i) {
				t.Errorf("after %d more: number %d is known: %v", i+1, j, known)
			}
		}
	}
	for _, digest := range []byte{1, 2} { // one more liar of job a, which was told of those of job b
		s, _ = run(t, s, completions(now(s, by("more", node("a", 1, 0, 0, 0, digest)))))
	}
	job := auditedJob(t, s)
	known, violations := len(job.Audits.Convicted), job.Counters.Violations
	if known != state.MaxConvicted || job.Rounds.Open.Covered != 0 || violations != state.MaxConvicted+1 {
		t.Errorf("%d are known to the job, %d leaves stand, %d violations", known, job.Rounds.Open.Covered, violations)
	}
}
