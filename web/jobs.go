package web

import (
	"strings"
	"time"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// jobRow is a job in a list.
type jobRow struct {
	*pb.Job
	State State
}

// State is the state of a job, in a word.
type State struct {
	Word  string
	Ended bool
	Share float64 // of the open round's leaves that are done, in percent
}

func stateOf(job *pb.Job) State {
	s := State{Word: strings.ToLower(strings.TrimPrefix(job.GetState().String(), "JOB_STATE_"))}
	switch job.GetState() {
	case pb.JobState_JOB_STATE_SUCCEEDED, pb.JobState_JOB_STATE_FAILED, pb.JobState_JOB_STATE_CANCELLED:
		s.Ended = true
	}
	if p := job.GetProgress(); p.GetLeaves() > 0 {
		s.Share = 100 * float64(p.GetLeavesDone()) / float64(p.GetLeaves())
	}
	return s
}

// Seconds is how long the job took, or has taken.
func (j jobRow) Seconds() float64 {
	end := j.GetFinishedUnixMs()
	if end == 0 {
		end = time.Now().UnixMilli()
	}
	return max(0, float64(end-j.GetSubmittedUnixMs())/1000)
}
