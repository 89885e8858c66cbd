package state

import (
	"fmt"
	"slices"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Bounds on what a job's objects may cost it. Rounds are finite, so a job whose objects keep vanishing fails.
const (
	MaxUncommitTasks = 2048 // that one command names
	MaxLostInRound   = 256  // changes with reason LOST while no new round is opened
	MaxReopened      = 64   // closed rounds and models taken back
	MaxAnew          = 4    // beginnings beside the first
)

// MaxUnreadable bounds the changes with reason UNREADABLE while no new round is opened: a worker may garble several
// nodes of a round. A task that fails of right results fails every time.
const MaxUnreadable = 5

// Remade counts what was taken back and made again.
type Remade struct {
	Changes  uint64 // commands that took something back
	Tasks    uint64 // that these named
	Reopened uint32 // closed rounds, and finished models
	Anew     uint32 // how often the rounds began anew
	Last     string // why, the last time
}

// applyUncommit takes back what tasks have committed. Twice the same command: the second is refused, for the job is not
// as its proposer saw it.
func applyUncommit(s State, cmd *pb.Uncommit) (State, Reply) {
	job, ok := s.Job(cmd.GetJobId())
	switch {
	case !ok:
		return s, reject(NotFound, "no job %q", Clip(cmd.GetJobId(), 64))
	case job.Ended():
		return s, reject(Ended, "job %s has ended", job.ID)
	case len(cmd.GetTasks()) == 0 || len(cmd.GetTasks()) > MaxUncommitTasks:
		return s, reject(Malformed, "1 to %d tasks are taken back at a time", MaxUncommitTasks)
	case job.Stage != pb.JobState_JOB_STATE_RUNNING || cmd.GetRound() != job.Rounds.Open.Number ||
		cmd.GetChanges() != job.Counters.Remade.Changes:
		return s, reject(Conflict, "job %s is not as the proposer saw it", job.ID)
	}
	lost := cmd.GetReason() == pb.UncommitReason_UNCOMMIT_REASON_LOST
	unreadable := cmd.GetReason() == pb.UncommitReason_UNCOMMIT_REASON_UNREADABLE
	switch {
	case !lost && !unreadable && cmd.GetReason() != pb.UncommitReason_UNCOMMIT_REASON_LIED:
		return s, reject(Malformed, "unknown reason %d", cmd.GetReason())
	case unreadable && !job.MayBeUnreadable():
		return s, reject(Conflict, "what tasks of job %s read was made again too often", job.ID)
	}
	reach, ok := job.Lineage().Reach(cmd.GetTasks())
	if !ok {
		return s, reject(Malformed, "job %s has committed nothing by some of these tasks", job.ID)
	}
	job = job.clone()
	job.Counters.Remade.Tasks += uint64(len(cmd.GetTasks()))
	r := retraction{job: job, why: cmd.GetMessage(), now: s.Now}
	r.takeBack(reach, cmd.GetTasks(), !lost)
	if unreadable {
		job.Rounds.unreadable++
		if reach == ReachPlan {
			r.forgetPlan()
		}
	}
	r.voidAudits(nil, 0)
	if lost {
		r.countLoss()
	}
	return s.putJob(job), Reply{Job: job}
}

// MayBeUnreadable reports whether what nobody can read may be made again once more. Half of the reopened rounds and of
// the beginnings are left for what the store loses.
func (j *Job) MayBeUnreadable() bool {
	remade := j.Counters.Remade
	return j.Rounds.unreadable < MaxUnreadable && remade.Reopened < MaxReopened/2 && remade.Anew < MaxAnew/2
}

// retraction takes back what a job has committed, so that it is made again: it is lost, nobody can read it, or it is
// wrong. What was made of it goes too, and the audits of all that goes.
type retraction struct {
	job *Job   // a clone, which the methods change
	why string // for people
	now int64
}

// takeBack changes the job to where the tasks are to be made again.
func (r retraction) takeBack(reach Reach, tasks []*pb.TaskID, lied bool) {
	job, rounds, remade := r.job, &r.job.Rounds, &r.job.Counters.Remade
	remade.Changes++
	remade.Last = Clip(r.why, 512)
	switch {
	case reach == ReachModel:
		rounds.takeBackModel(job.Model)
	case reach == ReachClosed:
		rounds.reopen()
	case reach == ReachPlan, reach == ReachRounds && !rounds.first.known():
		job.Stage = pb.JobState_JOB_STATE_PLANNING
		rounds.planAnew()
	case reach == ReachRounds:
		rounds.beginAnew(r.now)
	}
	if reach > ReachNodes {
		job.Model, job.Course = Ref{}, Ref{}
	}
	if reach > ReachClosed {
		remade.Anew++
		return
	}
	if reach > ReachNodes {
		remade.Reopened++
	}
	if lied { // what an earlier loss is compared with may rest on the lie
		rounds.Open.Expected = Ref{}
	}
	for _, id := range tasks {
		if id.GetKind() == pb.TaskKind_TASK_KIND_NODE && id.GetRound() == rounds.Open.Number {
			rounds.Open = rounds.Open.uncommit(id.GetTree(),
				protocol.Node{Level: int(id.GetLevel()), Index: int(id.GetIndex())})
		}
	}
}

// discard is takeBack for what is wrong, not lost: made again it may come out otherwise.
func (r retraction) discard(reach Reach) {
	r.takeBack(reach, nil, true)
	if reach == ReachPlan {
		r.forgetPlan()
	}
	r.job.Audits.modelMakers = 0 // whatever was taken back, no model is left
}

// disown takes back everything in which one of the workers, or of the tainted makers, had a part, as far back as it
// reaches.
func (r retraction) disown(ids []string, tainted uint64) {
	job, audits, mask := r.job, &r.job.Audits, tainted
	for _, id := range ids {
		mask |= audits.bitOf(id)
	}
	plan := slices.Contains(ids, audits.planMaker) && !audits.planVerified && !job.Manifest.IsZero()
	if reach, some := job.Lineage().reachOfMakers(mask, plan); some {
		r.discard(reach)
		var repeated uint64
		job.Rounds.Open, repeated = job.Rounds.Open.without(mask)
		audits.Counts.Repeated += repeated
		job.Counters.Remade.Tasks += repeated
	}
	r.voidAudits(ids, mask)
}

// forgetPlan lets the plan come out otherwise when it is made again.
func (r retraction) forgetPlan() {
	j := r.job
	j.Manifest, j.Plan, j.Rounds.first = Ref{}, Ref{}, Round{}
	j.Audits.planMaker, j.Audits.planVerified = "", false
}

// voidAudits ends the audits of what was taken back, and strikes what the workers said from the others.
func (r retraction) voidAudits(ids []string, mask uint64) {
	j := r.job
	var all []*Audit
	j.Audits.Each(func(a *Audit) bool {
		all = append(all, a)
		return true
	})
	for _, a := range all {
		plan := a.Kind == pb.TaskKind_TASK_KIND_PLAN
		stands := a.Round >= j.Rounds.since && a.Makers&mask == 0 && j.committed(a) || plan && !j.Plan.IsZero()
		kept := slices.DeleteFunc(slices.Clone(a.Opinions),
			func(o Opinion) bool { return slices.Contains(ids, o.WorkerID) })
		switch {
		case !stands || len(kept) == 0 || kept[0] != a.Opinions[0]:
			j.Audits.drop(a)
		case len(kept) < len(a.Opinions):
			changed := *a
			changed.Opinions = kept
			j.Audits.put(&changed)
		}
	}
}

// countLoss counts a change because of lost objects, and fails a job whose objects keep vanishing.
func (r retraction) countLoss() {
	rounds, remade, times := &r.job.Rounds, r.job.Counters.Remade, ""
	rounds.inRound++
	switch {
	case rounds.inRound > MaxLostInRound:
		times = fmt.Sprintf("%d times before round %d was done", rounds.inRound, rounds.top)
	case remade.Reopened > MaxReopened:
		times = fmt.Sprintf("closed rounds were made again %d times", remade.Reopened)
	case remade.Anew > MaxAnew:
		times = fmt.Sprintf("the rounds began anew %d times", remade.Anew)
	default:
		return
	}
	r.job.failed(Failure{
		Code: string(protocol.CodeLost), Class: protocol.ClassInfrastructure,
		Message: fmt.Sprintf(
			"objects of the job keep vanishing from the store: %s; the last: %s. Check the store, then submit the job again", times, remade.Last),
	}, r.now)
}

func (r Remade) proto() *pb.Remade {
	if r == (Remade{}) {
		return nil
	}
	return &pb.Remade{Changes: r.Changes, Tasks: r.Tasks, Reopened: r.Reopened, Anew: r.Anew, Last: r.Last}
}

func remadeFrom(r *pb.Remade) Remade {
	return Remade{Changes: r.GetChanges(), Tasks: r.GetTasks(), Reopened: r.GetReopened(), Anew: r.GetAnew(),
		Last: r.GetLast()}
}
