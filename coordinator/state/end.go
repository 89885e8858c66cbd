package state

import (
	"strings"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

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
	j.audits = nil
	base := j.Round.Base
	j.Round = newRound(j.Round.Number, j.Round.Phase, j.Round.Trees, j.Round.State, j.Round.StartedAt)
	j.Round.Base, j.first, j.last = base, Round{}, Round{}
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
