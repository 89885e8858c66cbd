package lead

import (
	"fmt"
	"slices"
	"time"

	"github.com/gram-compute/gram/coordinator/lease"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Views tell of jobs as people see them: what the log has, and what a leader remembers.
type Views struct{ *Leader }

// Describe is a job as people see it, with what leader memory adds.
func (c Views) Describe(job *state.Job) *pb.Job {
	view, _ := c.fsm.View()
	out := outline(job)
	out.SpecJson, out.Rounds = string(job.SpecJSON), job.Rounds.Records()
	c.describeWork([]*state.Job{job}, []*pb.Job{out}, view)
	return out
}

// Brief describes jobs of a view without their specs and rounds.
func (c Views) Brief(view state.State, jobs []*state.Job) []*pb.Job {
	out := make([]*pb.Job, len(jobs))
	for i, job := range jobs {
		out[i] = outline(job)
	}
	c.describeWork(jobs, out, view)
	return out
}

// outline is what the log has of a job, but for its spec and rounds.
func outline(job *state.Job) *pb.Job {
	open := &job.Rounds.Open
	out := &pb.Job{
		Id: job.ID, Name: job.Name, Kind: job.Kind, SpecHash: job.SpecHash, ResultHash: job.ResultHash,
		State: job.Stage, SubmittedUnixMs: job.SubmittedAt, StartedUnixMs: job.StartedAt,
		FinishedUnixMs: job.FinishedAt,
		Progress: &pb.Progress{
			Round: open.Number, Phase: open.Phase, Leaves: open.Leaves(), LeavesDone: open.Covered,
		},
		Failure: job.Failure.Proto(), Outputs: job.OutputFiles(), Counters: job.Counters.Proto(),
		ScheduleId: job.ScheduleID, TickUnixMs: job.Tick, Audit: job.Audits.Summary(),
	}
	if job.Stage == pb.JobState_JOB_STATE_SUCCEEDED {
		out.Progress.LeavesDone = out.Progress.Leaves
	}
	return out
}

// describeWork adds what is in leader memory of the jobs that have not ended.
func (c Views) describeWork(jobs []*state.Job, out []*pb.Job, view state.State) {
	lead, err := c.Leadership()
	if err != nil {
		return
	}
	var line *schedule.Line
	for i, job := range jobs {
		switch {
		case job.Ended():
		case job.Stage != pb.JobState_JOB_STATE_QUEUED:
			c.describeLeased(lead, job, out[i])
		default:
			if line == nil {
				line = schedule.LineOf(c.cfg.Schedule, view)
			}
			out[i].Reason = line.Waits(job)
		}
	}
}

// describeLeased adds what the board has of a job that was admitted.
func (c Views) describeLeased(lead *Leadership, job *state.Job, out *pb.Job) {
	lead.mu.Lock()
	defer lead.mu.Unlock()
	out.Progress.TasksLeased = uint32(lead.board.Jobs.Leased(job.ID, ""))
	untold := lead.board.Jobs.Untold(job)
	out.Counters.SpeculativeCopies.Launched += untold.Launched
	out.Counters.SpeculativeCopies.Won += untold.Won
	out.Counters.SpeculativeCopies.Wasted += untold.Wasted
	view, _ := c.fsm.View()
	out.Reason = reason(lead.board, view, job, c.clock.Mono())
}

// waitsForAudits says what a job waits for that is made, but for its audits.
func waitsForAudits(board *schedule.Board, job *state.Job, now time.Duration) string {
	pending, disputed := 0, (*state.Audit)(nil)
	job.Audits.Each(func(a *state.Audit) bool {
		pending++
		if disputed == nil && a.Disputed() {
			disputed = a
		}
		return true
	})
	if disputed == nil {
		return fmt.Sprintf("waits for another worker to make %d of its tasks a second time (spec.run.audit)", pending)
	}
	first, last := disputed.Opinions[0], disputed.Opinions[len(disputed.Opinions)-1]
	said := fmt.Sprintf("workers %s and %s disagree on %s", first.Worker, last.Worker, disputed)
	const third = ": waits for a third worker, which decides; start one"
	switch board.Audits.Standoff(job, disputed, now) {
	case schedule.AThirdDecides:
		return said + ": a third worker makes it, and decides"
	case schedule.BothRepeat:
		return said + ": each makes it again with its other kernel set"
	case schedule.BothInsist:
		return said + repeatedText(disputed) + third
	}
	return said + ", and not both can make it again with another kernel set" + third
}

// repeatedText describes the results of two workers that have made a task again, when these decide nothing.
func repeatedText(a *state.Audit) string {
	first, second := a.Opinions[0], a.Opinions[1]
	switch {
	case first.Insists() && second.Insists():
		return ", and each insists with another kernel set"
	case first.Again == second.Sum && second.Again == first.Sum:
		return ", and each makes the other's result with its other kernel set"
	}
	return ", and no second result settles it"
}

// reason says why a job that was admitted waits, or what it does; empty means that it is at work.
func reason(board *schedule.Board, view state.State, job *state.Job, now time.Duration) string {
	leased, live := board.Jobs.Leased(job.ID, ""), board.Roster.Live(now)
	workers := len(live)
	tries, last := board.Jobs.Trouble(job)
	need, largest, tooBig := board.Fit.TooBig(job, now)
	denied, patience, said, isDenied := board.Store.Denied(job, now)
	switch {
	case isDenied:
		return fmt.Sprintf("waits for the cluster's own store, which has refused its tasks for %v (after %v the job "+
			"fails): %s", denied.Round(time.Second), patience, said)
	case job.Reporting() && job.Audits.Pending() > 0 && leased == 0:
		return waitsForAudits(board, job, now)
	case tries > 0:
		return fmt.Sprintf("tried again after %s, the last: %s", protocol.Counted(tries, "failure"), last)
	case board.Jobs.Holding(job, now):
		return "waits for workers to announce what they hold, after a change of leader"
	case workers == 0:
		return "waits for a worker: none is connected"
	case tooBig:
		return fmt.Sprintf("waits for a worker with more memory: its state takes %d MiB, and the largest worker "+
			"plans with %d", need>>20, largest>>20)
	case board.Deaths.Count(job) > 0:
		return fmt.Sprintf("%s died at work on it: the task is handed out in smaller parts, and alone on a worker "+
			"after a second death", protocol.Counted(board.Deaths.Count(job), "worker"))
	case leased == 0 && board.Jobs.Leased("", "") > 0:
		return fmt.Sprintf("waits for a slot: other jobs have %s at work, on %s%s", protocol.Counted(workers, "worker"),
			protocol.Counted(board.Jobs.Leased("", ""), "task"), firstServed(board.Ahead(view, job)))
	case leased == 0 && allQuarantined(live, now):
		return fmt.Sprintf("waits for one of %s, all of which are leased nothing at present, the first because: %s",
			protocol.Counted(workers, "worker"), live[0].Quarantine(now))
	case leased == 0:
		return fmt.Sprintf("waits for one of %s to take its next task", protocol.Counted(workers, "worker"))
	case job.Reporting():
		return "writes the model and the report"
	case job.MaxWorkers > 0 && workers > job.MaxWorkers && board.Jobs.WorkersAt(job.ID) >= job.MaxWorkers:
		return fmt.Sprintf("works on %d of %s: spec.run.max_workers allows no more", job.MaxWorkers,
			protocol.Counted(workers, "worker"))
	}
	return ""
}

// firstServed says which jobs are served before one that waits for a slot; "" where there are none.
func firstServed(ahead string) string {
	if ahead == "" {
		return ""
	}
	return "; served first, by their priority" + ahead
}

// allQuarantined reports whether no live worker is leased anything. There is one at least.
func allQuarantined(live []schedule.Worker, now time.Duration) bool {
	return !slices.ContainsFunc(live, func(w schedule.Worker) bool { return w.Quarantine(now) == "" })
}

// CountLeaves counts the leaves of a job's open round by state, in ranges.
func (c Views) CountLeaves(id string, ranges int) (*pb.LeavesResponse, error) {
	lead, err := c.Leadership()
	if err != nil {
		return nil, err
	}
	lead.mu.Lock()
	defer lead.mu.Unlock()
	view, _ := c.fsm.View()
	job, ok := view.Job(id)
	if !ok {
		return &pb.LeavesResponse{}, nil
	}
	counts := lead.board.Jobs.CountLeaves(job, ranges)
	if len(counts.Committed) == 0 {
		return &pb.LeavesResponse{}, nil
	}
	open := &job.Rounds.Open
	return &pb.LeavesResponse{
		Round: open.Number, Phase: open.Phase, Leaves: open.Leaves(), Committed: open.Covered,
		CommittedByRange: counts.Committed, RunningByRange: counts.Running, FailedByRange: counts.Failed,
		Merges: uint32(counts.Merges),
	}, nil
}

// Course is what the leader remembers of who did what when for a job, and what is at work.
func (c Views) Course(id string) (*pb.TimelineResponse, error) {
	lead, err := c.Leadership()
	if err != nil {
		return nil, err
	}
	lead.mu.Lock()
	defer lead.mu.Unlock()
	view, _ := c.fsm.View()
	job, ok := view.Job(id)
	if !ok {
		return &pb.TimelineResponse{}, nil
	}
	now := c.clock.Mono()
	course, running := lead.board.Course(view, job, now)
	return &pb.TimelineResponse{
		Timeline: lease.WireTimeline(course, c.clock.started), Running: lease.WireMarks(running, c.clock.started),
		NowUnixMs: c.clock.started.Add(now).UnixMilli(),
	}, nil
}
