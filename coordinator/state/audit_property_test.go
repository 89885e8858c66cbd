package state_test

import (
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"pgregory.net/rapid"
)

func pendingAudits(job *state.Job) (all []*state.Audit) {
	job.EachAudit(func(a *state.Audit) bool {
		all = append(all, a)
		return true
	})
	return all
}

func nameAudit(id *pb.TaskID, a *state.Audit) {
	id.Round, id.Kind, id.Tree, id.Level, id.Index = a.Round, a.Kind, a.Tree, uint32(a.Node.Level), uint32(a.Node.Index)
}

// drawAudit lets a completion answer a pending audit now and then.
func drawAudit(t *rapid.T, job *state.Job, id *pb.TaskID) {
	if all := pendingAudits(job); len(all) > 0 && rapid.IntRange(0, 2).Draw(t, "answers an audit") == 0 {
		nameAudit(id, rapid.SampledFrom(all).Draw(t, "audit"))
	}
}

func drawWaiver(t *rapid.T, s state.State, id string) *pb.WaiveAudits {
	cmd := &pb.WaiveAudits{Id: id}
	if job, ok := s.Job(id); ok && rapid.Bool().Draw(t, "one") {
		for _, a := range pendingAudits(job)[:min(1, job.PendingAudits())] {
			one := &pb.TaskID{JobId: id, Changes: job.Counters.Remade.Changes}
			nameAudit(one, a)
			cmd.Tasks = append(cmd.Tasks, one)
		}
	}
	return cmd
}

// checkAudits: what is audited is committed, by a worker that was not convicted, and no job ends before its audits. What a convicted
// worker had a part in is not committed any more.
func checkAudits(t *rapid.T, s state.State) {
	s.EachJob(func(job *state.Job) bool {
		if job.Ended() && job.PendingAudits() > 0 {
			t.Fatalf("job %s has ended with %d audits pending", job.ID, job.PendingAudits())
		}
		done := job.Audits.Agreed + job.Audits.Waived + uint64(job.PendingAudits())
		if job.Stage == pb.JobState_JOB_STATE_SUCCEEDED && len(job.Convicted) == 0 && job.Counters.Remade.Changes == 0 && done < job.Audits.Drawn {
			t.Fatalf("job %s: %d audits drawn, %d ended", job.ID, job.Audits.Drawn, done)
		}
		job.EachAudit(func(a *state.Audit) bool {
			if a.Kind == pb.TaskKind_TASK_KIND_NODE && a.Round == job.Round.Number {
				if _, ok := job.Round.Covering(a.Tree, a.Node); !ok {
					t.Fatalf("job %s: %v is audited and not committed", job.ID, a)
				}
			}
			for i, o := range a.Opinions {
				if _, lied := s.Convicted(o.WorkerID); lied && o.WorkerID != "" {
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
		job.Round.EachCommit(func(c state.Commit) bool {
			if _, lied := s.Convicted(c.WorkerID); lied && c.WorkerID != "" && !job.Ended() {
				t.Fatalf("job %s: node %v is committed as convicted worker %s made it", job.ID, c.Node, c.WorkerID)
			}
			return true
		})
		return true
	})
}
