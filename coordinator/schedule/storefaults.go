package schedule

import (
	"fmt"
	"slices"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// How long a lost object is asked for before its makers' work is taken back, in delays of a retry: the more work that
// is, the longer.
const (
	closedDelays = 10
	roundsDelays = 50
)

// missing is what workers reported of a job object.
type missing struct {
	reporters
	since time.Duration
}

// reporters counts reports and keeps the first two workers that made one.
type reporters struct {
	workers []string
	count   int
}

func (r *reporters) add(workerID string) {
	r.count++
	if len(r.workers) < 2 && !slices.Contains(r.workers, workerID) {
		r.workers = append(slices.Clip(r.workers), workerID)
	}
}

// refusal is what is known of the cluster's own store refusing a job's tasks, since one was last done.
type refusal struct {
	reporters
	since time.Duration
	last  string
}

// Store is what the cluster's own store loses and refuses, as workers report it.
type Store struct {
	cfg    Config
	roster *Roster
	jobs   *Jobs
}

// fault takes a fault of the cluster's own store into account. It is no fault of the task, and not counted as one:
// an object that is lost is made again, and a store that refuses is waited for. taken is false for every other fault.
func (s *Store) fault(job *state.Job, t Task, workerID string, failure *pb.Failure, held bool,
	now time.Duration) (cmd *pb.Command, taken bool) {
	denied := failure.GetCode() == string(protocol.CodeStoreDenied) &&
		failure.GetClass() == pb.FailureClass_FAILURE_CLASS_INFRASTRUCTURE
	tasks := makersOf(job, failure.GetLost())
	if !denied && len(tasks) == 0 || !held {
		return nil, false
	}
	memory := s.jobs.of(job)
	memory.bar(t, workerID, failure, now, s.cfg.RetryDelay)
	if denied { // of all workers alike, most likely: nobody is charged with it
		return s.refused(job, memory, workerID, failure, now), true
	}
	id := state.ObjectID{Round: failure.GetLost().GetRound(),
		SHA256: [32]byte(failure.GetLost().GetObject().GetSha256())}
	known := memory.lost[id]
	if known == nil {
		known = &missing{since: now}
		memory.lost[id] = known
	}
	known.add(workerID)
	memory.suspect(t, workerID)
	reach, _ := job.Lineage().Reach(tasks)
	if !s.roster.confirmed(job, known.reporters, workerID, now) || now-known.since < s.delayFor(reach) {
		return nil, true
	}
	memory.course.event(now, pb.TimelineEventKind_TIMELINE_EVENT_KIND_REMADE, s.roster.nameOf(workerID), t)
	why := fmt.Sprintf("%s, reported by %s at %s", failure.GetMessage(), s.roster.nameOf(workerID), t)
	return uncommit(job, tasks, pb.UncommitReason_UNCOMMIT_REASON_LOST, why), true
}

// makersOf are the tasks that made an object which a worker says is lost: none if the job reads no such object.
func makersOf(job *state.Job, lost *pb.LostObject) []*pb.TaskID {
	if lost == nil || len(lost.GetObject().GetSha256()) != 32 {
		return nil
	}
	id := state.ObjectID{Round: lost.GetRound(), SHA256: [32]byte(lost.GetObject().GetSha256())}
	return job.Lineage().MakersOf(id)
}

func (s *Store) delayFor(reach state.Reach) time.Duration {
	switch {
	case reach > state.ReachClosed:
		return roundsDelays * s.cfg.RetryDelay
	case reach > state.ReachNodes:
		return closedDelays * s.cfg.RetryDelay
	}
	return 0
}

func uncommit(job *state.Job, tasks []*pb.TaskID, reason pb.UncommitReason, message string) *pb.Command {
	return &pb.Command{Body: &pb.Command_Uncommit{Uncommit: &pb.Uncommit{
		JobId: job.ID, Round: job.Rounds.Open.Number, Changes: job.Counters.Remade.Changes, Tasks: tasks,
		Reason: reason, Message: message,
	}}}
}

// bar notes a fault that another worker is to confirm, while there is one.
func (j *jobBoard) bar(t Task, workerID string, failure *pb.Failure, now, delay time.Duration) {
	j.blame(t, workerID, failure, 0, now, delay)
	key := string(taskKey(t))
	f := j.faults[key]
	f.barred++
	j.faults[key] = f
}

// suspect lets a worker be charged with a fault if another does the task.
func (j *jobBoard) suspect(t Task, workerID string) {
	key := string(taskKey(t))
	f := j.faults[key]
	if len(f.blamed) < 2 && !slices.Contains(f.blamed, workerID) {
		f.blamed = append(slices.Clip(f.blamed), workerID)
	}
	j.faults[key] = f
}

// refused notes that the cluster's own store refuses a task. It returns the command that fails the job when that went
// on for too long, on two workers, or on the only one.
func (s *Store) refused(job *state.Job, memory *jobBoard, workerID string, failure *pb.Failure,
	now time.Duration) *pb.Command {
	if memory.denied == nil {
		memory.denied = &refusal{since: now}
	}
	d := memory.denied
	d.add(workerID)
	d.last = state.Clip(failure.GetMessage(), maxTroubleBytes)
	if s.cfg.DenyPatience == 0 || now-d.since < s.cfg.DenyPatience || len(d.workers) < 2 &&
		s.roster.hasOther(job, workerID, now) {
		return nil
	}
	failure.Message = state.Clip(fmt.Sprintf("for %v: %s", (now-d.since).Round(time.Second), failure.GetMessage()),
		state.MaxFailureBytes)
	return failJob(job, failure)
}

// Denied is for how long the cluster's own store has refused the job's tasks, for how long the job waits for that, and
// what the store said last; ok is false when it does not refuse.
func (s *Store) Denied(job *state.Job, now time.Duration) (since, patience time.Duration, last string, ok bool) {
	found, known := s.jobs.find(job.Number)
	if !known || s.jobs.list[found].denied == nil {
		return 0, 0, "", false
	}
	d := s.jobs.list[found].denied
	return now - d.since, s.cfg.DenyPatience, d.last, true
}

// DeniedJobs counts the jobs that wait because the cluster's own store refuses their tasks.
func (s *Store) DeniedJobs() int {
	count := 0
	for _, j := range s.jobs.list {
		if j.denied != nil {
			count++
		}
	}
	return count
}

// Says is what the cluster's own store said last to the first of the jobs that it refuses; empty where it refuses none.
func (s *Store) Says() string {
	for _, j := range s.jobs.list {
		if j.denied != nil {
			return j.denied.last
		}
	}
	return ""
}
