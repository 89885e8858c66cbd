package state_test

import (
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"pgregory.net/rapid"
)

func pendingAudits(job *state.Job) (all []*state.Audit) {
	job.Audits.Each(func(a *state.Audit) bool {
		all = append(all, a)
		return true
	})
	return all
}

func nameAudit(id *pb.TaskID, a *state.Audit) {
	id.Round, id.Kind, id.Tree, id.Level, id.Index = a.Round, a.Kind, a.Tree, uint32(a.Node.Level), uint32(a.Node.Index)
}

// drawAudit lets a completion answer a pending audit now and then, and where two workers disagree, one of them again.
func drawAudit(t *rapid.T, job *state.Job, id *pb.TaskID) (worker string) {
	if job.Audits.Pending() > 0 && rapid.IntRange(0, 2).Draw(t, "answers an audit") == 0 {
		return drawAnswer(t, job, id)
	}
	return ""
}

func drawAnswer(t *rapid.T, job *state.Job, id *pb.TaskID) (worker string) {
	a := rapid.SampledFrom(pendingAudits(job)).Draw(t, "audit")
	nameAudit(id, a)
	if id.Again = a.Split() && rapid.IntRange(0, 3).Draw(t, "again") > 0; id.Again {
		worker = rapid.SampledFrom(a.Opinions).Draw(t, "who").WorkerID
	}
	return worker
}

func drawWaiver(t *rapid.T, s state.State, id string) *pb.WaiveAudits {
	cmd := &pb.WaiveAudits{Id: id}
	if job, ok := s.Job(id); ok && rapid.Bool().Draw(t, "one") {
		for _, a := range pendingAudits(job)[:min(1, job.Audits.Pending())] {
			one := &pb.TaskID{JobId: id, Changes: job.Counters.Remade.Changes}
			nameAudit(one, a)
			cmd.Tasks = append(cmd.Tasks, one)
		}
	}
	return cmd
}

// checkAudits: what is audited is committed, by a worker that was not convicted, and no job ends before its audits.
// What a convicted worker had a part in is not committed any more.
func checkAudits(t *rapid.T, s state.State) {
	s.EachJob(func(job *state.Job) bool {
		if job.Ended() && job.Audits.Pending() > 0 {
			t.Fatalf("job %s has ended with %d audits pending", job.ID, job.Audits.Pending())
		}
		done := job.Audits.Counts.Agreed + job.Audits.Counts.Waived + uint64(job.Audits.Pending())
		if job.Stage == pb.JobState_JOB_STATE_SUCCEEDED && len(job.Audits.Convicted) == 0 &&
			job.Counters.Remade.Changes == 0 && done < job.Audits.Counts.Drawn {
			t.Fatalf("job %s: %d audits drawn, %d ended", job.ID, job.Audits.Counts.Drawn, done)
		}
		job.Audits.Each(func(a *state.Audit) bool {
			if a.Kind == pb.TaskKind_TASK_KIND_NODE && a.Round == job.Rounds.Open.Number {
				if _, ok := job.Rounds.Open.Covering(a.Tree, a.Node); !ok {
					t.Fatalf("job %s: %v is audited and not committed", job.ID, a)
				}
			}
			for i, o := range a.Opinions {
				if o.Repeated() && (o.AgainKernels == "" || o.AgainKernels == o.Kernels) {
					t.Fatalf("job %s: %v was made again by %s with %q, first with %q",
						job.ID, a, o.WorkerID, o.AgainKernels, o.Kernels)
				}
				other := a.Opinions[(i+1)%len(a.Opinions)]
				if a.Split() && o.Repeated() && o.Again == other.Sum && other.Insists() {
					t.Fatalf("job %s: %v is disputed still, though %s has changed its result to that of %s",
						job.ID, a, o.WorkerID, other.WorkerID)
				}
				if _, lied := s.Convicted.Get(o.WorkerID); lied && o.WorkerID != "" {
					t.Fatalf("job %s: %v counts what convicted worker %s says", job.ID, a, o.WorkerID)
				}
				for _, other := range a.Opinions[:i] {
					if other.WorkerID == o.WorkerID {
						t.Fatalf("job %s: worker %s says twice what %v is", job.ID, o.WorkerID, a)
					}
				}
			}
			return true
		})
		job.Rounds.Open.EachCommit(func(c state.Commit) bool {
			if _, lied := s.Convicted.Get(c.WorkerID); lied && c.WorkerID != "" && !job.Ended() {
				t.Fatalf("job %s: node %v is committed as convicted worker %s made it", job.ID, c.Node, c.WorkerID)
			}
			return true
		})
		return true
	})
}

// The same of a job whose leaves two workers dispute at once: the models of other tests seldom get there.
func TestReplayAndSnapshotOfDisputes(t *testing.T) {
	submitted := submit("a", "h")
	submitted.GetSubmit().AuditPpm = 1_000_000
	begin := []*pb.Command{
		initCluster("c", aSecret), submitted, start("a"),
		completions(by("w1", planned("a", 3))),
		completions(with("generic", by("w1", node("a", 1, 0, 0, 0, 1))),
			with("avx2", by("w2", node("a", 1, 0, 0, 1, 1)))),
		completions(with("generic", by("w2", node("a", 1, 0, 0, 0, 2))),
			with("avx2", by("w1", node("a", 1, 0, 0, 1, 2)))),
	}
	rapid.Check(t, func(t *rapid.T) {
		checkReplay(t, begin, func(t *rapid.T, s state.State) *pb.Command {
			job, ok := s.Job("a")
			if !ok || job.Ended() || job.Audits.Pending() == 0 || rapid.IntRange(0, 3).Draw(t, "anything") == 0 {
				return drawCommand(t, s)
			}
			id := &pb.TaskID{JobId: "a", Changes: job.Counters.Remade.Changes}
			worker := drawAnswer(t, job, id)
			kernels := rapid.SampledFrom([]string{"generic", "avx2"}).Draw(t, "kernels")
			made := node("a", 1, 0, 0, 0, byte(rapid.IntRange(1, 2).Draw(t, "digest")))
			made.Id = id
			return completions(with(kernels, by(worker, made)))
		})
	})
}
