package schedule

import (
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
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

// Done drops the lease of a task that was reported, and those below it.
func (b *Board) Done(job *state.Job, t Task) {
	memory := b.jobBoard(job)
	if t.Kind != pb.TaskKind_TASK_KIND_NODE {
		memory.drop(t)
		return
	}
	var below []Task
	memory.each(func(l *lease) {
		if related(l.task, t) && l.task.Node.Level <= t.Node.Level {
			below = append(below, l.task)
		}
	})
	for _, lost := range below {
		memory.drop(lost)
	}
}

// Fault takes a failed task into account. It returns the command that fails the
// job when the fault would repeat or its attempts are used up; otherwise the task
// is leased again later.
func (b *Board) Fault(view state.State, workerID string, t Task, failure *pb.Failure, now time.Duration) *pb.Command {
	job, ok := view.Job(t.JobID)
	if !ok || !b.needed(job, t) {
		return nil
	}
	memory := b.jobBoard(job)
	if l, held := memory.holder(t); held && l.worker == workerID {
		memory.drop(t)
	}
	key := string(taskKey(t))
	f := memory.faults[key]
	f.worker = workerID
	f.notBefore = now + b.cfg.RetryDelay<<min(f.delays, 6)
	f.delays++
	switch failure.GetClass() {
	case pb.FailureClass_FAILURE_CLASS_INPUT:
		return failJob(job, failure)
	case pb.FailureClass_FAILURE_CLASS_INFRASTRUCTURE:
		if failure.GetCode() == string(protocol.CodeDrained) {
			f.notBefore, f.delays = now, 0
		}
	default:
		if f.attempts++; f.attempts >= b.cfg.MaxAttempts {
			return failJob(job, failure)
		}
	}
	memory.faults[key] = f
	return nil
}

func failJob(job *state.Job, failure *pb.Failure) *pb.Command {
	return &pb.Command{Body: &pb.Command_Fail{Fail: &pb.FailJob{Id: job.ID, Failure: failure}}}
}

// NextWake is the earliest time at which a waiting task may be leased, or ok is
// false when time alone changes nothing.
func (b *Board) NextWake(now time.Duration) (wake time.Duration, ok bool) {
	consider := func(at time.Duration) {
		if at > now && (!ok || at < wake) {
			wake, ok = at, true
		}
	}
	consider(b.holdUntil)
	for _, j := range b.jobs {
		j.each(func(l *lease) { consider(l.deadline) })
		for _, f := range j.faults { //lint:ordered a minimum does not depend on order
			consider(f.notBefore)
		}
	}
	return wake, ok
}
