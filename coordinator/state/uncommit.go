package state

import (
	"fmt"

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
	remade := &job.Counters.Remade
	remade.Changes++
	remade.Tasks += uint64(len(cmd.GetTasks()))
	remade.Last = Clip(cmd.GetMessage(), 512)
	job.takeBack(reach, cmd.GetTasks(), !lost, s.Now)
	if unreadable {
		job.Rounds.unreadable++
		if reach == ReachPlan {
			job.forgetPlan()
		}
	}
	job.voidAudits(nil, 0)
	if why := job.keepsVanishing(lost); why != "" {
		job.failed(Failure{
			Code: string(protocol.CodeLost), Class: protocol.ClassInfrastructure,
			Message: fmt.Sprintf(
				"objects of the job keep vanishing from the store: %s; the last: %s. Check the store, then submit the job again", why, remade.Last),
		}, s.Now)
	}
	return s.putJob(job), Reply{Job: job}
}

// MayBeUnreadable reports whether what nobody can read may be made again once more. Half of the reopened rounds and of
// the beginnings are left for what the store loses.
func (j *Job) MayBeUnreadable() bool {
	remade := j.Counters.Remade
	return j.Rounds.unreadable < MaxUnreadable && remade.Reopened < MaxReopened/2 && remade.Anew < MaxAnew/2
}

// takeBack changes j, a clone, to where the tasks are to be made again.
func (j *Job) takeBack(reach Reach, tasks []*pb.TaskID, lied bool, now int64) {
	rounds := &j.Rounds
	switch {
	case reach == ReachModel:
		rounds.takeBackModel(j.Model)
	case reach == ReachClosed:
		rounds.reopen()
	case reach == ReachPlan, reach == ReachRounds && !rounds.first.known():
		j.Stage = pb.JobState_JOB_STATE_PLANNING
		rounds.planAnew()
	case reach == ReachRounds:
		rounds.beginAnew(now)
	}
	if reach > ReachNodes {
		j.Model, j.Course = Ref{}, Ref{}
	}
	if reach > ReachClosed {
		j.Counters.Remade.Anew++
		return
	}
	if reach > ReachNodes {
		j.Counters.Remade.Reopened++
	}
	if lied { // what an earlier loss is compared with may rest on the lie
		j.Rounds.Open.Expected = Ref{}
	}
	for _, id := range tasks {
		if id.GetKind() == pb.TaskKind_TASK_KIND_NODE && id.GetRound() == j.Rounds.Open.Number {
			j.Rounds.Open = j.Rounds.Open.uncommit(id.GetTree(),
				protocol.Node{Level: int(id.GetLevel()), Index: int(id.GetIndex())})
		}
	}
}

// plannedBefore reports whether a plan is that of an earlier beginning, or the first.
func (j *Job) plannedBefore(manifest, plan Ref, next Round) bool {
	return j.Manifest.IsZero() || j.Manifest == manifest && j.Plan == plan &&
		(!j.Rounds.first.known() || j.Rounds.first.State == next.State)
}

func (j *Job) replannedOtherwise(now int64) {
	j.failed(Failure{
		Code: string(protocol.CodeInputChanged), Class: protocol.ClassInput, Task: "plan",
		Message: "the plan is made again and does not come out as it was: the input has changed since, or the first plan was wrong. Submit the job again",
	}, now)
}

// keepsVanishing says which bound a change has passed; empty means none.
func (j *Job) keepsVanishing(lost bool) string {
	if !lost {
		return ""
	}
	j.Rounds.inRound++
	switch remade := j.Counters.Remade; {
	case j.Rounds.inRound > MaxLostInRound:
		return fmt.Sprintf("%d times before round %d was done", j.Rounds.inRound, j.Rounds.top)
	case remade.Reopened > MaxReopened:
		return fmt.Sprintf("closed rounds were made again %d times", remade.Reopened)
	case remade.Anew > MaxAnew:
		return fmt.Sprintf("the rounds began anew %d times", remade.Anew)
	}
	return ""
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
