package schedule

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Decide returns the commands that follow from the view alone: queued jobs are
// admitted by priority, which rises while they wait, then in order of acceptance, while there is room. A job waits
// outside of the queue for the jobs it needs, and fails with the first of them that does. The
// jobs of a schedule whose ticks queue are admitted one at a time.
func Decide(cfg Config, view state.State) []*pb.Command {
	var commands []*pb.Command
	room := cfg.MaxRunning
	var ready []*state.Job
	view.EachActive(func(job *state.Job) bool {
		if job.Stage != pb.JobState_JOB_STATE_QUEUED {
			room--
			return true
		}
		need, waits := awaited(view, job)
		switch {
		case waits && (need == nil || need.Ended()):
			commands = append(commands, failJob(job, needFailed(job, need)))
		case !waits && !queuesBehind(view, job):
			ready = append(ready, job)
		}
		return true
	})
	inLine(view, ready)
	for _, job := range ready[:max(0, min(room, len(ready)))] {
		commands = append(commands, &pb.Command{Body: &pb.Command_Start{Start: &pb.StartJob{Id: job.ID}}})
	}
	return commands
}

// ageing is how long a queued job waits for each step by which its priority rises in the queue: none waits without end
// behind such as are submitted later.
const ageing = 60_000 // milliseconds of proposed time

// rank is a queued job's priority in the queue.
func rank(view state.State, job *state.Job) int64 {
	return int64(job.Priority) + max(0, view.Now-job.SubmittedAt)/ageing
}

// inLine orders queued jobs by their rank, then acceptance.
func inLine(view state.State, jobs []*state.Job) {
	slices.SortFunc(jobs, func(x, y *state.Job) int { // total order: numbers differ
		return cmp.Or(cmp.Compare(rank(view, y), rank(view, x)), cmp.Compare(x.Number, y.Number))
	})
}

// inTurn orders jobs by priority, then acceptance.
func inTurn(jobs []*state.Job) {
	slices.SortFunc(jobs, func(x, y *state.Job) int { // total order: numbers differ
		return cmp.Or(cmp.Compare(y.Priority, x.Priority), cmp.Compare(x.Number, y.Number))
	})
}

// awaited is the first job that job needs and that has not succeeded; nil where there is no such job. A job that
// cannot succeed any more comes before one that still may.
func awaited(view state.State, job *state.Job) (need *state.Job, waits bool) {
	for _, id := range job.Needs {
		other, ok := view.Job(id)
		switch {
		case !ok:
			return nil, true
		case other.Stage == pb.JobState_JOB_STATE_SUCCEEDED:
		case other.Ended():
			return other, true
		case !waits:
			need, waits = other, true
		}
	}
	return need, waits
}

func needFailed(job, need *state.Job) *pb.Failure {
	text := "a job that this one needs is not there any more"
	if need != nil {
		text = fmt.Sprintf("job %s, which this one needs, did not succeed: it %s", need.ID, stageText(need))
	}
	return &pb.Failure{Code: string(protocol.CodeNeedFailed), Class: pb.FailureClass_FAILURE_CLASS_INPUT, Message: text}
}

func stageText(job *state.Job) string {
	switch job.Stage {
	case pb.JobState_JOB_STATE_QUEUED:
		return "is queued"
	case pb.JobState_JOB_STATE_FAILED:
		return "failed"
	case pb.JobState_JOB_STATE_CANCELLED:
		return "was cancelled"
	case pb.JobState_JOB_STATE_SUCCEEDED:
		return "succeeded"
	}
	return "is running"
}

// Waits says why a queued job is not admitted.
func Waits(cfg Config, view state.State, job *state.Job) string { return LineOf(cfg, view).Waits(job) }

// Line is the queue of a view: what it takes to say of each of its jobs why it waits.
type Line struct {
	cfg     Config
	view    state.State
	running int
	ready   []*state.Job   // that wait for their turn alone, in order
	before  map[string]int // by id: how many come before it
}

// LineOf counts once for all jobs.
func LineOf(cfg Config, view state.State) *Line {
	l := &Line{cfg: cfg, view: view, before: map[string]int{}}
	view.EachActive(func(job *state.Job) bool {
		if job.Stage != pb.JobState_JOB_STATE_QUEUED {
			l.running++
		} else if _, waits := awaited(view, job); !waits && !queuesBehind(view, job) {
			l.ready = append(l.ready, job)
		}
		return true
	})
	inLine(view, l.ready)
	for at, job := range l.ready {
		l.before[job.ID] = at
	}
	return l
}

// Waits says why a queued job of the view is not admitted.
func (l *Line) Waits(job *state.Job) string {
	if need, waits := awaited(l.view, job); waits && need != nil {
		return fmt.Sprintf("waits for job %s to succeed, which %s", need.ID, stageText(need))
	}
	if queuesBehind(l.view, job) {
		return fmt.Sprintf("waits for the end of an earlier job of schedule %s", job.ScheduleID)
	}
	runs := "run"
	if l.running == 1 {
		runs = "runs"
	}
	before := l.ready[:l.before[job.ID]]
	return fmt.Sprintf("waits for its turn: %s %s, %d may at a time, and %d come before it%s",
		protocol.Counted(l.running, "job"), runs, l.cfg.MaxRunning, len(before), named(before))
}

// queuesBehind reports whether job waits for the end of an earlier job of its schedule.
func queuesBehind(view state.State, job *state.Job) bool {
	sched, ok := view.Schedule(job.ScheduleID)
	if !ok || job.ByHand || sched.Definition.GetOverlap() != pb.ScheduleOverlap_SCHEDULE_OVERLAP_QUEUE {
		return false
	}
	earlier := false
	view.EachJobOf(job.ScheduleID, func(first *state.Job) bool {
		earlier = first.Number < job.Number
		return false
	})
	return earlier
}
