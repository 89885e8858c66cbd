package coordinator

import (
	"fmt"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// describe is a job as people see it, with what leader memory adds.
func (c *Coordinator) describe(job *state.Job) *pb.Job {
	out := &pb.Job{
		Id: job.ID, Name: job.Name, Kind: job.Kind, SpecJson: string(job.SpecJSON), SpecHash: job.SpecHash, ResultHash: job.ResultHash,
		State: job.Stage, SubmittedUnixMs: job.SubmittedAt, StartedUnixMs: job.StartedAt, FinishedUnixMs: job.FinishedAt,
		Progress: &pb.Progress{Round: job.Round.Number, Phase: job.Round.Phase, Leaves: job.Round.Leaves(), LeavesDone: job.Round.Covered},
		Failure:  job.Failure.Proto(), Outputs: job.OutputFiles(), Counters: job.Counters.Proto(), Rounds: job.RoundRecords(),
	}
	if lead, err := c.leader(); err == nil && !job.Ended() {
		lead.mu.Lock()
		defer lead.mu.Unlock()
		leased, workers := lead.board.Leased(job.ID, ""), len(lead.board.Workers(c.now()))
		out.Progress.TasksLeased = uint32(leased)
		untold := lead.board.Untold(job)
		out.Counters.Backups.Launched += untold.Launched
		out.Counters.Backups.Won += untold.Won
		out.Counters.Backups.Wasted += untold.Wasted
		out.Reason = reason(job, leased, workers, lead.board.Holding(job, c.now()))
		if tries, last := lead.board.Trouble(job); tries > 0 {
			out.Reason = fmt.Sprintf("tried again after %d failures, the last: %s", tries, last)
		}
	}
	if job.Stage == pb.JobState_JOB_STATE_SUCCEEDED {
		out.Progress.LeavesDone = out.Progress.Leaves
	}
	return out
}

// reason says why a job waits, or what it does.
func reason(job *state.Job, leased, workers int, holding bool) string {
	switch {
	case job.Stage == pb.JobState_JOB_STATE_QUEUED:
		return "waits for its turn: as many jobs run as may run at a time"
	case holding:
		return "waits for workers to announce what they hold, after a change of leader"
	case workers == 0:
		return "waits for a worker: none is connected"
	case leased == 0:
		return fmt.Sprintf("waits for one of %d workers to take its next task", workers)
	case job.Reporting():
		return "writes the model and the report"
	}
	return ""
}
