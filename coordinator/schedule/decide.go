package schedule

import (
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Decide returns the commands that follow from the view alone: queued jobs are
// admitted in order of acceptance while there is room.
func Decide(cfg Config, view state.State) []*pb.Command {
	var commands []*pb.Command
	room := cfg.MaxRunning
	view.EachActive(func(job *state.Job) bool {
		if job.Stage != pb.JobState_JOB_STATE_QUEUED {
			room--
		}
		return true
	})
	view.EachActive(func(job *state.Job) bool {
		if job.Stage == pb.JobState_JOB_STATE_QUEUED && room > 0 {
			commands = append(commands, &pb.Command{Body: &pb.Command_Start{Start: &pb.StartJob{Id: job.ID}}})
			room--
		}
		return room > 0
	})
	return commands
}
