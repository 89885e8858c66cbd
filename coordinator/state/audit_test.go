package state_test

import (
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/proto"
)

var aSecret = []byte("thirty-two bytes that nobody knows, say")

// audited is a job with trees of leaves, all of which is audited, planned by worker "p".
func audited(t *testing.T, trees ...uint32) state.State {
	t.Helper()
	return sampled(t, "a", aSecret, 1_000_000, trees...)
}

// by has a worker make a result, of the job as it is.
func by(worker string, c *pb.Completion) *pb.Completion {
	c.Worker, c.WorkerId = worker, worker
	return c
}

// waiver waives the audits of these tasks of job "a"; of none, all that nobody disputes.
func waiver(tasks ...*pb.TaskID) *pb.Command {
	return &pb.Command{Body: &pb.Command_WaiveAudits{WaiveAudits: &pb.WaiveAudits{Id: "a", Tasks: tasks}}}
}

// now has a result count for the job as it is now.
func now(s state.State, c *pb.Completion) *pb.Completion {
	job, _ := s.Job("a")
	c.Id.Changes = job.Counters.Remade.Changes
	return c
}

func auditedJob(t *testing.T, s state.State) *state.Job {
	t.Helper()
	job, ok := s.Job("a")
	if !ok {
		t.Fatal("no job")
	}
	return job
}

const (
	accepted = pb.Verdict_VERDICT_ACCEPTED
	heard    = pb.Verdict_VERDICT_AUDITED
	stale    = pb.Verdict_VERDICT_STALE
)

// A round of two leaves by hand: leaf 0 is made wrongly by "l", and merged by an honest worker. A second worker
// disagrees, a third decides; the leaf and what was folded from it are made again, the other leaf too, for it went
// into the root.
func TestALiarsLeafIsMadeAgain(t *testing.T) {
	s := audited(t, 2)
	s = wantVerdict(t, s, by("x", planned("a", 2)), heard)
	s = wantVerdict(t, s, by("l", node("a", 1, 0, 0, 0, 66)), accepted)
	s = wantVerdict(t, s, by("x", node("a", 1, 0, 0, 1, 11)), accepted)
	s = wantVerdict(t, s, by("x", node("a", 1, 0, 1, 0, 77)), accepted)
	if job := auditedJob(t, s); job.Audits.Pending() != 3 || !job.Rounds.Open.Complete() ||
		job.Audits.Counts.Agreed != 1 {
		t.Fatalf("%d audits pending, %+v", job.Audits.Pending(), job.Audits.Counts)
	}
	s = wantVerdict(t, s, by("y", node("a", 1, 0, 0, 0, 10)), heard)
	s = wantVerdict(t, s, by("y", node("a", 1, 0, 0, 0, 10)), heard) // repeated, it counts once
	if job := auditedJob(t, s); job.Audits.Counts.Disputed != 1 || job.Counters.Violations != 1 ||
		len(job.Audits.Convicted) != 0 ||
		job.Ended() {
		t.Fatalf("disputed: %+v, %v, %v", job.Audits.Counts, job.Audits.Convicted, job.Stage)
	}
	s = wantVerdict(t, s, by("z", node("a", 1, 0, 0, 0, 10)), heard)
	job := auditedJob(t, s)
	if len(job.Audits.Convicted) != 1 || job.Audits.Convicted[0].WorkerID != "l" ||
		job.Audits.Convicted[0].Task != "round 1, tree 0, node 0/0" || job.Ended() {
		t.Fatalf("convicted: %+v", job.Audits.Convicted)
	}
	if job.Rounds.Open.Number != 1 || job.Rounds.Open.Covered != 0 || job.Audits.Counts.Repeated != 1 ||
		job.Counters.Remade.Changes != 1 || job.Audits.Pending() != 0 {
		t.Errorf("round %d, %d leaves, %+v, %+v, %d pending", job.Rounds.Open.Number, job.Rounds.Open.Covered,
			job.Audits.Counts, job.Counters.Remade, job.Audits.Pending())
	}
	if c, known := s.Convicted.Get("l"); !known || c.JobID != "a" {
		t.Errorf("the cluster knows %+v", c)
	}
	s = wantVerdict(t, s, now(s, by("l", node("a", 1, 0, 0, 0, 66))), stale)
	s = wantVerdict(t, s, by("x", node("a", 1, 0, 0, 0, 10)), stale) // leased before
	wantVerdict(t, s, now(s, by("x", node("a", 1, 0, 0, 0, 10))), accepted)
}

// The auditor is the one that lies: nothing of the maker's is taken back.
func TestALyingAuditor(t *testing.T) {
	s := audited(t, 2)
	s = wantVerdict(t, s, by("x", node("a", 1, 0, 0, 0, 10)), accepted)
	s = wantVerdict(t, s, by("l", node("a", 1, 0, 0, 0, 66)), heard)
	s = wantVerdict(t, s, by("y", node("a", 1, 0, 0, 0, 10)), heard)
	if job := auditedJob(t, s); job.Rounds.Open.Covered != 1 || len(job.Audits.Convicted) != 1 ||
		job.Audits.Convicted[0].WorkerID != "l" ||
		job.Counters.Remade.Changes != 0 {
		t.Errorf("%d leaves, %+v, %+v", job.Rounds.Open.Covered, job.Audits.Convicted, job.Counters.Remade)
	}
}

// oneRound ends a round of one leaf, made by a worker, with a step by another.
func oneRound(t *testing.T, s state.State, round uint32, leaf, stepper string, digest byte) state.State {
	t.Helper()
	s = wantVerdict(t, s, now(s, by(leaf, node("a", round, 0, 0, 0, digest))), accepted)
	return wantVerdict(t, s, now(s,
		by(stepper, step("a", round, &pb.Next{Phase: "count", Trees: []uint32{1}, State: ref(digest + 1)}))), accepted)
}

// A lie in the last closed round reopens it, one before that begins the rounds anew, and nothing that an honest
// worker made for a round that stands is lost.
func TestHowFarALieReachesBack(t *testing.T) {
	for name, c := range map[string]struct {
		lied    uint32 // the round in which "l" makes the leaf
		opens   uint32
		base    uint32
		records int
	}{"the last closed round": {3, 3, 2, 2}, "an older one": {2, 5, 0, 3}, "the first": {1, 5, 0, 3}} {
		t.Run(name, func(t *testing.T) {
			s := audited(t, 1)
			s = wantVerdict(t, s, by("x", planned("a", 1)), heard)
			for round := uint32(1); round <= 3; round++ {
				leaf := "x"
				if round == c.lied {
					leaf = "l"
				}
				s = oneRound(t, s, round, leaf, "x", byte(10*round))
			}
			if job := auditedJob(t, s); job.Rounds.Open.Number != 4 || job.Rounds.Open.Inherited == 0 {
				t.Fatalf("round %d, inherited %b", job.Rounds.Open.Number, job.Rounds.Open.Inherited)
			}
			for _, worker := range []string{"y", "z"} {
				s = wantVerdict(t, s, now(s, by(worker, node("a", c.lied, 0, 0, 0, 200))), heard)
			}
			job := auditedJob(t, s)
			if len(job.Audits.Convicted) != 1 || job.Rounds.Open.Number != c.opens || job.Rounds.Open.Base != c.base ||
				job.Rounds.Open.Covered != 0 || len(job.Rounds.Finished) != c.records {
				t.Errorf("convicted %v; round %d of state of round %d, %d leaves, %d records", job.Audits.Convicted,
					job.Rounds.Open.Number, job.Rounds.Open.Base, job.Rounds.Open.Covered, len(job.Rounds.Finished))
			}
			job.Audits.Each(func(a *state.Audit) bool {
				if c.base == 0 || a.Round >= c.lied {
					t.Errorf("%v is audited still", a)
				}
				return true
			})
			oneRound(t, s, c.opens, "y", "y", 100)
		})
	}
}

// A job does not end before its audits, and what nobody disputes may be waived; what is disputed may not.
func TestTheReportWaitsForAudits(t *testing.T) {
	s := audited(t, 1)
	s = wantVerdict(t, s, by("x", node("a", 1, 0, 0, 0, 10)), accepted)
	waive := waiver()
	if early, _ := run(t, s, waive); auditedJob(t, early).Audits.Pending() != 2 {
		t.Error("audits of a job that goes on are waived")
	}
	s = wantVerdict(t, s, by("x", step("a", 1, &pb.Next{Done: true, State: ref(9)})), accepted)
	s = wantVerdict(t, s, report("a"), stale)
	disputed := wantVerdict(t, s, by("y", step("a", 1, &pb.Next{Done: true, State: ref(8)})), heard)
	disputed, _ = run(t, disputed, waive)
	if job := auditedJob(t, disputed); job.Audits.Pending() != 1 || job.Audits.Counts.Waived != 2 {
		t.Errorf("disputed: %d pending, %+v", job.Audits.Pending(), job.Audits.Counts)
	}
	disputed = wantVerdict(t, disputed, report("a"), stale)
	// The third agrees with the second: the model is taken back, and the step made again.
	disputed = wantVerdict(t, disputed, by("z", step("a", 1, &pb.Next{Done: true, State: ref(8)})), heard)
	if job := auditedJob(t, disputed); job.Reporting() || job.Rounds.Open.Covered != 0 ||
		len(job.Rounds.Finished) != 0 {
		t.Errorf("reporting %v, %d leaves, %d records", job.Reporting(), job.Rounds.Open.Covered,
			len(job.Rounds.Finished))
	}
	s, _ = run(t, s, waive)
	s = wantVerdict(t, s, report("a"), accepted)
	if job := auditedJob(t, s); job.Audits.Counts.Waived != 3 ||
		job.Audits.Counts.Failed != 0 { // nobody failed to make them
		t.Errorf("%+v", job.Audits.Counts)
	}
}

// A plan whose makers saw other objects convicts nobody: the input may have changed. One of the same objects does.
func TestPlansThatDiffer(t *testing.T) {
	other := func(worker string, manifest, first byte) *pb.Completion {
		c := by(worker, planned("a", 1))
		c.Output.Manifest, c.Output.Next.State = ref(manifest), ref(first)
		return c
	}
	s := audited(t, 1)
	s = wantVerdict(t, s, other("x", 101, 3), heard)
	s = wantVerdict(t, s, other("y", 101, 3), heard)
	if job := auditedJob(t, s); len(job.Audits.Convicted) != 0 || job.Stage != pb.JobState_JOB_STATE_PLANNING ||
		job.Counters.Remade.Anew != 1 {
		t.Errorf("other objects: %v, %v, %+v", job.Audits.Convicted, job.Stage, job.Counters.Remade)
	} else if job.Counters.Violations != 0 {
		t.Errorf("input that changes counts %d violations of determinism", job.Counters.Violations)
	}
	s = wantVerdict(t, s, now(s, other("x", 101, 3)), accepted)
	if job := auditedJob(t, s); job.Rounds.Open.Number != 1 && job.Rounds.Open.Number != 2 {
		t.Errorf("round %d", job.Rounds.Open.Number)
	}
	s = audited(t, 1)
	s = wantVerdict(t, s, other("x", 1, 103), heard)
	s = wantVerdict(t, s, other("y", 1, 103), heard)
	if job := auditedJob(t, s); len(job.Audits.Convicted) != 1 || job.Audits.Convicted[0].WorkerID != "p" ||
		job.Stage != pb.JobState_JOB_STATE_PLANNING {
		t.Errorf("the same objects: %v, %v", job.Audits.Convicted, job.Stage)
	} else if job.Counters.Violations != 1 {
		t.Errorf("two plans of the same objects count %d violations", job.Counters.Violations)
	}
}

// What a convicted worker made for other jobs is made again too.
func TestALiarsOtherJobs(t *testing.T) {
	s := audited(t, 2)
	s, _ = run(t, s, submit("b", "h"), start("b"))
	s = wantVerdict(t, s, by("x", planned("b", 2)), accepted)
	s = wantVerdict(t, s, by("l", node("b", 1, 0, 0, 0, 5)), accepted)
	s = wantVerdict(t, s, by("x", node("b", 1, 0, 0, 1, 6)), accepted)
	s = wantVerdict(t, s, by("l", node("a", 1, 0, 0, 0, 66)), accepted)
	for _, worker := range []string{"y", "z"} {
		s = wantVerdict(t, s, by(worker, node("a", 1, 0, 0, 0, 10)), heard)
	}
	b, _ := s.Job("b")
	if b.Rounds.Open.Covered != 1 || b.Audits.Counts.Repeated != 1 || len(b.Audits.Convicted) != 1 {
		t.Errorf("%d leaves, %+v, %v", b.Rounds.Open.Covered, b.Audits.Counts, b.Audits.Convicted)
	}
}

// A share of the nodes is drawn, another for another secret, and of every phase at least one.
func TestDraws(t *testing.T) {
	drawn := func(ppm uint32, secret []byte) (nodes int) {
		submitted := submit("a", "h")
		submitted.GetSubmit().AuditPpm = ppm
		s, _ := run(t, state.New(), initCluster("c", secret), submitted, start("a"))
		s = wantVerdict(t, s, by("p", planned("a", 3, 4000)), accepted)
		for leaf := range uint32(3) {
			s = wantVerdict(t, s, by("w", node("a", 1, 0, 0, leaf, 1)), accepted)
		}
		for leaf := range uint32(4000) {
			s = wantVerdict(t, s, by("w", node("a", 1, 1, 0, leaf, 1)), accepted)
		}
		return auditedJob(t, s).Audits.Pending() - 1 // the plan
	}
	if n := drawn(1, aSecret); n != 1 {
		t.Errorf("of a tiny share: %d", n)
	}
	first, second := drawn(10_000, aSecret), drawn(10_000, []byte("another secret of thirty-two bytes, or so"))
	if first < 20 || first > 65 || second < 20 || second > 65 {
		t.Errorf("of 4003 nodes with 1 %%: %d, %d", first, second)
	}
	if n := drawn(1_000_000, aSecret); n != 4003 {
		t.Errorf("of all: %d", n)
	}
}

// A worker that has made nothing of a job, and has only answered one of its audits otherwise, is struck from the audit
// when another job convicts it.
func TestALiarsOpinionsElsewhereAreStruck(t *testing.T) {
	s := audited(t, 2)
	other := submit("b", "h")
	other.GetSubmit().AuditPpm = 1_000_000
	s, _ = run(t, s, other, start("b"))
	s = wantVerdict(t, s, by("p", planned("b", 2)), accepted)
	s = wantVerdict(t, s, by("l", planned("b", 3)), heard)
	opinions := func() int {
		job, ok := s.Job("b")
		if !ok || job.Audits.Pending() != 1 {
			t.Fatalf("job b: %v, %d audits", ok, job.Audits.Pending())
		}
		said := 0
		job.Audits.Each(func(a *state.Audit) bool { said = len(a.Opinions); return true })
		return said
	}
	if said := opinions(); said != 2 {
		t.Fatalf("%d opinions of the plan of b", said)
	}
	s = wantVerdict(t, s, by("l", planned("a", 3)), heard)
	s = wantVerdict(t, s, by("x", planned("a", 2)), heard)
	if _, lied := s.Convicted.Get("l"); !lied {
		t.Fatal("l is not convicted")
	}
	if said := opinions(); said != 1 {
		t.Errorf("%d opinions of the plan of b after its liar was convicted", said)
	}
}

// Two results of one task: nobody can tell which is right, so no command waives the audit, not even by its name.
func TestADisputedAuditIsNotWaived(t *testing.T) {
	s := audited(t, 2)
	s = wantVerdict(t, s, by("l", planned("a", 3)), heard)
	s, _ = run(t, s, waiver(&pb.TaskID{JobId: "a", Kind: pb.TaskKind_TASK_KIND_PLAN}))
	if job := auditedJob(t, s); job.Audits.Pending() != 1 || job.Audits.Counts.Waived != 0 ||
		job.Audits.Counts.Disputed != 1 {
		t.Errorf("%d audits pending, %+v", job.Audits.Pending(), job.Audits.Counts)
	}
}

// A command that waives the audit of a task, as the task was before it was taken back, does not waive that of the task
// as it is now.
func TestAnAuditIsWaivedAsItWasSeen(t *testing.T) {
	s := audited(t, 2)
	s = wantVerdict(t, s, by("x", planned("a", 2)), heard)
	leaf := node("a", 1, 0, 0, 0, 10)
	s = wantVerdict(t, s, by("x", leaf), accepted)
	waive := waiver(proto.CloneOf(leaf.Id))
	s, _ = run(t, s, &pb.Command{Body: &pb.Command_Uncommit{Uncommit: &pb.Uncommit{
		JobId: "a", Round: 1, Tasks: []*pb.TaskID{leaf.Id}, Reason: pb.UncommitReason_UNCOMMIT_REASON_LOST,
	}}})
	s = wantVerdict(t, s, now(s, by("x", leaf)), accepted)
	if s, _ = run(t, s, waive); auditedJob(t, s).Audits.Pending() != 1 {
		t.Error("the audit of what was made again is waived by an earlier failure")
	}
	waive.GetWaiveAudits().Tasks[0].Changes = 1
	if s, _ = run(t, s, waive); auditedJob(t, s).Audits.Pending() != 0 {
		t.Error("not waived")
	}
}
