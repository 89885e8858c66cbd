package schedule

import (
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Decide returns the commands that follow from the view alone: queued jobs are
// admitted in order of acceptance while there is room. The jobs of a schedule whose
// slots queue are admitted one after the other.
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
		if job.Stage == pb.JobState_JOB_STATE_QUEUED && room > 0 && !queuesBehind(view, job) {
			commands = append(commands, &pb.Command{Body: &pb.Command_Start{Start: &pb.StartJob{Id: job.ID}}})
			room--
		}
		return room > 0
	})
	return commands
}

// queuesBehind reports whether job waits for the end of an earlier job of its schedule.
func queuesBehind(view state.State, job *state.Job) bool {
	sched, ok := view.Schedule(job.ScheduleID)
	if !ok || sched.Definition.GetOverlap() != pb.ScheduleOverlap_SCHEDULE_OVERLAP_QUEUE {
		return false
	}
	earlier := false
	view.EachJobOf(job.ScheduleID, func(first *state.Job) bool {
		earlier = first.Number < job.Number
		return false
	})
	return earlier
}
