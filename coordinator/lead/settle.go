package lead

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/gram-compute/gram/coordinator/command"
	"github.com/gram-compute/gram/coordinator/lease"
	"github.com/gram-compute/gram/coordinator/meters"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// settlement is the results of one call on their way into the log and onto the board. Results of one call share an
// entry of the log, and the board hears of all of them at once.
type settlement struct {
	Workers
	lead     *Leadership
	view     state.State
	workerID string
	results  []*pb.TaskResult
	verdicts []pb.Verdict // in the order of the results
	tasks    []schedule.Held
	refused  []*pb.Failure    // of outputs that are not taken; nil where nothing is wrong
	made     []*pb.Completion // for the log
	of       []int            // which result each completion is of
}

func newSettlement(c Workers, lead *Leadership, req *pb.CompleteRequest) *settlement {
	n := len(req.GetResults())
	s := &settlement{Workers: c, lead: lead, workerID: req.GetWorkerId(), results: req.GetResults(),
		verdicts: make([]pb.Verdict, n), tasks: make([]schedule.Held, n), refused: make([]*pb.Failure, n),
		made: make([]*pb.Completion, 0, n), of: make([]int, 0, n)}
	s.view, _ = c.fsm.View()
	return s
}

// settle takes the results: outputs are committed, failures weighed. What was committed is noted also where the rest
// was not.
func (s *settlement) settle(ctx context.Context) error {
	failures := s.examine()
	verdicts, err := s.log.Complete(ctx, s.made...)
	for i, v := range verdicts {
		s.verdicts[s.of[i]] = v
	}
	s.note(verdicts)
	for i, v := range verdicts {
		if v == pb.Verdict_VERDICT_INVALID { // a retry would be refused the same way, so fail now
			s.refused[s.of[i]] = refusal(s.results[s.of[i]])
		}
	}
	if err != nil {
		return err
	}
	for i, failure := range s.refused {
		if failure == nil {
			continue
		}
		s.verdicts[i] = pb.Verdict_VERDICT_INVALID
		if err := s.settleFailure(ctx, s.lead, s.workerID, s.tasks[i], failure); err != nil {
			return err
		}
	}
	// total order: equal ones keep that of the call
	slices.SortStableFunc(failures, func(i, j int) int {
		return compareLeaves(s.results[i].GetId(), s.results[j].GetId())
	})
	for _, i := range failures { // one by one: the first ends the job
		s.verdicts[i] = pb.Verdict_VERDICT_NOTED
		err := s.settleFailure(ctx, s.lead, s.workerID, s.tasks[i], s.results[i].GetFailure())
		if err != nil {
			return err
		}
	}
	return nil
}

// examine sorts the results: what goes into the log, what is refused without it, and the failures, which it returns.
func (s *settlement) examine() (failures []int) {
	bases := make([][sha256.Size]byte, len(s.results))
	for i, r := range s.results {
		s.tasks[i] = schedule.Held{Task: lease.TaskFrom(r.GetId()), Token: lease.TokenFrom(r.GetToken())}
		var ok bool
		bases[i], ok = lease.Authentic(s.view.Secret, s.workerID, s.tasks[i], r.GetToken().GetMac())
		if !ok {
			s.verdicts[i] = pb.Verdict_VERDICT_UNGRANTED
		}
	}
	s.lead.mu.Lock()
	defer s.lead.mu.Unlock()
	worker, known := s.lead.board.Roster.Worker(s.workerID)
	if !known {
		worker = schedule.Worker{Name: s.workerID}
	}
	for i, r := range s.results {
		task := s.tasks[i].Task
		switch {
		case s.verdicts[i] == pb.Verdict_VERDICT_UNGRANTED || !s.lead.board.Granted(s.tasks[i].Token):
			s.verdicts[i] = pb.Verdict_VERDICT_UNGRANTED
			s.cfg.Logger.Warn("a result without a lease is not taken", "worker", s.workerID, "job", task.JobID,
				"task", task.String())
		case r.GetFailure() != nil:
			failures = append(failures, i)
		default:
			if s.refused[i] = s.refusedReport(task, r); s.refused[i] == nil {
				s.made, s.of = append(s.made, s.completion(worker, task, r, bases[i])), append(s.of, i)
			}
		}
	}
	return failures
}

// refusedReport is the failure of a report with outputs that the job cannot have; nil is none.
func (s *settlement) refusedReport(t schedule.Task, r *pb.TaskResult) *pb.Failure {
	if t.Kind != pb.TaskKind_TASK_KIND_REPORT {
		return nil
	}
	view, _ := s.fsm.View()
	if err := s.commands.CheckOutputs(view, t.JobID, r.GetOutput().GetFiles()); err != nil {
		return command.BadOutputs(err)
	}
	if !isModel(view, t, r.GetOutput().GetFiles()) {
		return refusal(r)
	}
	return nil
}

// completion is a result as the log takes it: with what is known of its worker, and what a node was made from. The
// caller holds lead.mu.
func (s *settlement) completion(
	w schedule.Worker, t schedule.Task, r *pb.TaskResult, basis [sha256.Size]byte,
) *pb.Completion {
	made := &pb.Completion{
		Id: r.GetId(), Output: r.GetOutput(), Worker: w.Name, WorkerId: s.workerID, Kernels: w.Kernels,
		SpeculativeCopies: s.tellCopies(t), SpentUs: r.GetSpentUs(),
	}
	if t.Again {
		made.Kernels = w.Other
	}
	switch {
	case basis != [sha256.Size]byte{}:
		made.FoldedFrom = basis[:]
	case t.Kind == pb.TaskKind_TASK_KIND_NODE:
		made.FoldedFrom = []byte{}
	}
	return made
}

// mostSpentUs bounds what a worker says it spent: a day.
const mostSpentUs = 86_400_000_000

// note tells the board what became of the results that were for the log; a verdict of 0 says that it is not known.
func (s *settlement) note(verdicts []pb.Verdict) {
	if len(verdicts) == 0 {
		return
	}
	s.lead.Update(func(board *schedule.Board) {
		view, _ := s.fsm.View()
		now := s.clock.Mono()
		for i, verdict := range verdicts {
			task := s.tasks[s.of[i]].Task
			job, ok := view.Job(task.JobID)
			if !ok || verdict == pb.Verdict_VERDICT_UNSPECIFIED || verdict == pb.Verdict_VERDICT_INVALID {
				continue
			}
			s.tellConvicted(board.Audits.Done(job, task, s.workerID, now))
			if verdict == pb.Verdict_VERDICT_STALE {
				board.Stale(job, s.tasks[s.of[i]], s.workerID, now)
			} else if verdict != pb.Verdict_VERDICT_AUDITED {
				spent := time.Duration(min(s.results[s.of[i]].GetSpentUs(), mostSpentUs)) * time.Microsecond
				board.DoneAfter(job, task, s.workerID, verdict == pb.Verdict_VERDICT_ACCEPTED, spent, now)
			}
		}
	})
}

// tellConvicted says loudly who lied.
func (c Workers) tellConvicted(convicted []state.Conviction) {
	const follows = "; it is given nothing more, and what it had a part in is made again"
	for _, w := range convicted {
		c.cfg.Logger.Error("a worker made another result than "+w.Whose()+follows,
			"worker", w.WorkerID, "name", w.Worker, "job", w.JobID, "task", w.Task)
	}
}

// modelFile is the output that a job is for. Its digest is known before it is written.
const modelFile = "model.safetensors"

// isModel reports whether the files of a report include the model, and it is the job's.
func isModel(view state.State, t schedule.Task, files []*pb.OutputFile) bool {
	job, ok := view.Job(t.JobID)
	if !ok || !job.Reporting() {
		return true
	}
	for _, f := range files {
		if f.GetName() == modelFile {
			return bytes.Equal(f.GetSha256(), job.Model.SHA256[:]) && f.GetSize() == job.Model.Size
		}
	}
	return false
}

// tellCopies takes what the log has not been told of a job's speculative copies; nil when there is nothing. What a
// proposal takes along that does not come through is not told again: it may have come through. While the report is made
// it alone is heard. The caller holds lead.mu.
func (s *settlement) tellCopies(task schedule.Task) *pb.SpeculativeCopies {
	view, _ := s.fsm.View()
	job, ok := view.Job(task.JobID)
	if !ok || job.Reporting() && task.Kind != pb.TaskKind_TASK_KIND_REPORT {
		return nil
	}
	return lease.WireCopies(s.lead.board.Jobs.Tell(job))
}

// refusal is the failure of a task whose result state does not accept.
func refusal(r *pb.TaskResult) *pb.Failure {
	trees, leaves := r.GetOutput().GetNext().GetTrees(), uint64(0)
	for _, n := range trees {
		leaves += uint64(n)
	}
	fault := protocol.TaskFault(protocol.CodeInternal,
		"the coordinator does not accept the task's result: it names no task of the job, or lacks an object's digest")
	class := pb.FailureClass_FAILURE_CLASS_TASK
	if len(trees) > state.MaxTrees || leaves > state.MaxLeaves {
		class = pb.FailureClass_FAILURE_CLASS_INPUT
		fault = protocol.InputFault(protocol.CodeInputLimit,
			"a round of %d leaves in %d trees; there may be %d in %d", leaves, len(trees), state.MaxLeaves,
			state.MaxTrees).
			WithHint("Raise shard_bytes, so that the input has fewer shards.")
	}
	return &pb.Failure{Code: string(fault.Code), Class: class, Message: fault.Error()}
}

func (c Workers) workerFacts(lead *Leadership, workerID string) schedule.Worker {
	lead.mu.Lock()
	defer lead.mu.Unlock()
	if w, known := lead.board.Roster.Worker(workerID); known {
		return w
	}
	return schedule.Worker{Name: workerID}
}

func (c Workers) settleFailure(
	ctx context.Context, lead *Leadership, workerID string, held schedule.Held, failure *pb.Failure,
) error {
	name := c.workerFacts(lead, workerID).Name
	failure.Worker, failure.Task = name, held.Task.String()
	failure.Code, failure.Message = state.Clip(failure.GetCode(), 64),
		state.Clip(failure.GetMessage(), state.MaxFailureBytes)
	lead.mu.Lock()
	view, _ := c.fsm.View()
	cmd := lead.board.Fault(view, workerID, held, failure, c.clock.Mono())
	lead.signal()
	lead.mu.Unlock()
	c.meters.TaskFailures.WithLabelValues(meters.ClassName(failure.GetClass())).Inc()
	c.cfg.Logger.Warn("task failed", "job", held.Task.JobID, "task", failure.GetTask(), "worker", name, "code",
		failure.GetCode(), "message", failure.GetMessage())
	if cmd == nil {
		return nil
	}
	reply, err := c.log.Propose(ctx, cmd)
	if change := cmd.GetUncommit(); change != nil && err == nil {
		c.tellUncommit(change, reply)
	}
	return err
}

// tellUncommit logs and counts what was taken back. One that was refused came second.
func (c Workers) tellUncommit(change *pb.Uncommit, reply state.Reply) {
	if reply.Err != nil {
		return
	}
	remade := reply.Job.Counters.Remade
	c.meters.Remade.Add(float64(len(change.GetTasks())))
	c.cfg.Logger.Warn("what tasks had made is made again", "job", change.GetJobId(), "tasks", len(change.GetTasks()),
		"round", change.GetRound(),
		"reopened", remade.Reopened, "anew", remade.Anew, "reason", change.GetReason().String(), "message",
		change.GetMessage())
}
