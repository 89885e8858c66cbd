package state

import (
	"slices"
	"strings"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Job is one accepted job. A Job in a State is never changed: commands put a changed copy.
type Job struct {
	ID, Name, Kind       string
	Number               uint64 // order of acceptance
	SpecJSON             []byte // canonical
	SpecHash, ResultHash string
	Stage                pb.JobState
	SubmittedAt          int64 // Unix milliseconds, as proposed
	StartedAt            int64
	FinishedAt           int64
	Manifest, Plan       Ref
	Rounds               Rounds
	Course               Ref // what the report tells of who did what, while it is left to make
	Model                Ref // set when the last step is done; the report is left to make
	Outputs              []Output
	Failure              *Failure
	Counters             Counters
	Kernels, Workers     []string // sets and workers that made committed nodes, sorted
	ScheduleID           string   // of the schedule for whose tick the job was made; or empty
	Tick                 int64    // that tick, in Unix milliseconds
	ByHand               bool     // somebody made the job for the tick, and not the tick
	Priority             int      // larger ones first
	MaxWorkers           int      // at work at a time; 0 means no limit
	Needs                []string // jobs that must succeed first
	// milliseconds that it is kept when it has ended; 0 means as the cluster says, -1 without end
	Keep           int64
	ModelURI       string // what it begins from
	ModelJob       string // whose model that is, if the spec named it by reference
	ModelReference string // as the spec named it
	SubmittedBy    string // id of the token that made it or its schedule; empty in a cluster without tokens
	Swept          bool   // it has ended, and what could be swept of it is
	Audits         Auditing
}

// Ref names an immutable object of a job by content.
type Ref struct {
	SHA256 [32]byte
	Size   int64
}

// IsZero reports whether r names nothing.
func (r Ref) IsZero() bool { return r == Ref{} }

// Output is an object a finished job left.
type Output struct {
	Name, URI string
	Ref       Ref
}

// Failure says why a job failed.
type Failure struct {
	Code, Message, Task, Worker string
	Class                       protocol.Class
}

// Counters count what the log saw, and what leaders told it of speculative copies.
type Counters struct {
	Committed, Duplicates, Superseded, Violations          uint64
	SpeculativeLaunched, SpeculativeWon, SpeculativeWasted uint64
	Remade                                                 Remade
}

// Ended reports whether the job is in a terminal state.
func (j *Job) Ended() bool {
	switch j.Stage {
	case pb.JobState_JOB_STATE_SUCCEEDED, pb.JobState_JOB_STATE_FAILED, pb.JobState_JOB_STATE_CANCELLED:
		return true
	}
	return false
}

// Reporting reports whether only the report is left to make.
func (j *Job) Reporting() bool {
	return j.Stage == pb.JobState_JOB_STATE_RUNNING && !j.Model.IsZero()
}

// clone copies what a command may change; slices are clipped so that appending copies.
func (j *Job) clone() *Job {
	c := *j
	c.Rounds.Finished, c.Rounds.floors = slices.Clip(c.Rounds.Finished), slices.Clip(c.Rounds.floors)
	return &c
}

// insertSorted adds a name to a sorted set, leaving the old slice alone.
func insertSorted(set []string, name string) []string {
	at, found := slices.BinarySearch(set, name)
	if found || name == "" {
		return set
	}
	return slices.Insert(slices.Clone(set), at, name)
}

// applyFail ends a job as failed; an ended job stays as it ended.
func applyFail(s State, cmd *pb.FailJob) (State, Reply) {
	job, ok := s.Job(cmd.GetId())
	switch {
	case !ok:
		return s, reject(NotFound, "no job %q", cmd.GetId())
	case job.Ended():
		return s, Reply{Job: job}
	}
	job = job.clone().failed(failureFrom(cmd.GetFailure()), s.Now)
	return s.putJob(job), Reply{Job: job}
}

// applyCancel ends a job as cancelled; an ended job stays as it ended.
func applyCancel(s State, cmd *pb.CancelJob) (State, Reply) {
	job, ok := s.Job(cmd.GetId())
	switch {
	case !ok:
		return s, reject(NotFound, "no job %q", cmd.GetId())
	case job.Ended():
		return s, Reply{Job: job}
	}
	job = job.clone().ended(pb.JobState_JOB_STATE_CANCELLED, s.Now)
	return s.putJob(job), Reply{Job: job}
}

// ended changes j, a clone, to a terminal state and lets go of its round.
func (j *Job) ended(stage pb.JobState, now int64) *Job {
	j.Stage, j.FinishedAt, j.Course = stage, now, Ref{}
	j.Audits.pending = nil
	j.Rounds.end()
	return j
}

func (j *Job) failed(f Failure, now int64) *Job {
	j.Failure = &f
	return j.ended(pb.JobState_JOB_STATE_FAILED, now)
}

func failureFrom(f *pb.Failure) Failure {
	return Failure{
		Code: Clip(f.GetCode(), 64), Message: Clip(f.GetMessage(), MaxFailureBytes),
		Task: Clip(f.GetTask(), 256), Worker: Clip(f.GetWorker(), 256), Class: classFrom(f.GetClass()),
	}
}

func classFrom(c pb.FailureClass) protocol.Class {
	switch c {
	case pb.FailureClass_FAILURE_CLASS_INPUT:
		return protocol.ClassInput
	case pb.FailureClass_FAILURE_CLASS_INFRASTRUCTURE:
		return protocol.ClassInfrastructure
	}
	return protocol.ClassTask
}

// Clip shortens s to limit bytes at most, at a border between characters: a string
// cut through one cannot be encoded, and would spoil every snapshot after it.
func Clip(s string, limit int) string {
	return strings.ToValidUTF8(s[:min(len(s), limit)], "")
}
