package coordinator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"golang.org/x/sync/errgroup"
)

const (
	maxLeaseWait  = 30 * time.Second
	maxTasksLease = 256
)

type workerService struct{ c *Coordinator }

// Register makes a worker known to this leader.
func (s *workerService) Register(ctx context.Context, req *connect.Request[pb.RegisterRequest]) (*connect.Response[pb.RegisterResponse], error) {
	m := req.Msg
	if m.GetWorkerId() == "" || len(m.GetWorkerId()) > 128 || m.GetSlots() < 1 || m.GetSlots() > 4096 {
		return nil, connect.NewError(connect.CodeInvalidArgument, errors.New("a worker needs an id of at most 128 bytes and 1 to 4096 slots"))
	}
	view, _, err := s.c.read(ctx)
	if err != nil {
		return nil, err
	}
	lead, err := s.c.leader()
	if err != nil {
		return nil, err
	}
	worker := schedule.Worker{ID: m.GetWorkerId(), Name: m.GetName(), Kernels: m.GetKernels(), Build: m.GetBuild(), Slots: int(m.GetSlots())}
	lead.mu.Lock()
	lead.board.Register(view, worker, heldFrom(m.GetHeld()), s.c.now())
	lead.mu.Unlock()
	s.c.cfg.Logger.Info("worker registered", "worker", m.GetWorkerId(), "name", m.GetName(), "slots", m.GetSlots(), "kernels", m.GetKernels())
	ttl := s.c.cfg.Schedule.LeaseTTL
	return connect.NewResponse(&pb.RegisterResponse{
		LeaseTtlMs: uint32(ttl.Milliseconds()), HeartbeatMs: uint32(max(1, (ttl / 3).Milliseconds())), StoreUri: s.c.cfg.StoreURI,
	}), nil
}

// Lease waits for work until there is some or the wait is over.
func (s *workerService) Lease(ctx context.Context, req *connect.Request[pb.LeaseRequest]) (*connect.Response[pb.LeaseResponse], error) {
	wait := min(time.Duration(req.Msg.GetWaitMs())*time.Millisecond, maxLeaseWait)
	deadline := s.c.now() + wait
	for {
		lead, err := s.c.leader()
		if err != nil {
			return nil, err
		}
		view, changed := s.c.fsm.view()
		lead.mu.Lock()
		if !lead.board.Known(req.Msg.GetWorkerId(), s.c.now()) {
			lead.mu.Unlock()
			return nil, connect.NewError(connect.CodeNotFound, fmt.Errorf("worker %q is not registered with this leader", req.Msg.GetWorkerId()))
		}
		grants := lead.board.Lease(view, req.Msg.GetWorkerId(), min(int(req.Msg.GetMaxTasks()), maxTasksLease), s.c.now())
		freed := lead.freed
		wake, timed := lead.board.NextWake(s.c.now())
		lead.mu.Unlock()
		if len(grants) > 0 || s.c.now() >= deadline {
			return connect.NewResponse(leaseResponse(view, grants)), nil
		}
		if !timed || wake > deadline {
			wake = deadline
		}
		if err := s.c.awaitWork(ctx, lead, wake, changed, freed); err != nil {
			return nil, err
		}
	}
}

func (c *Coordinator) awaitWork(ctx context.Context, lead *leadership, wake time.Duration, changed, freed <-chan struct{}) error {
	timer := time.NewTimer(wake - c.now())
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-changed:
	case <-freed:
	case <-lead.ctx.Done():
		return ErrNotLeader
	case <-c.stopping:
		return ErrShutdown
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// Heartbeat renews leases. It reads this member's state without asking the
// others: a lost leader's leases are void anyway.
func (s *workerService) Heartbeat(_ context.Context, req *connect.Request[pb.HeartbeatRequest]) (*connect.Response[pb.HeartbeatResponse], error) {
	lead, err := s.c.leader()
	if err != nil {
		return nil, err
	}
	view, _ := s.c.fsm.view()
	lead.mu.Lock()
	defer lead.mu.Unlock()
	if !lead.board.Known(req.Msg.GetWorkerId(), s.c.now()) {
		return nil, connect.NewError(connect.CodeNotFound, fmt.Errorf("worker %q is not registered with this leader", req.Msg.GetWorkerId()))
	}
	lost := lead.board.Heartbeat(view, req.Msg.GetWorkerId(), heldFrom(req.Msg.GetHeld()), s.c.now())
	res := &pb.HeartbeatResponse{}
	for _, t := range lost {
		res.Lost = append(res.Lost, taskID(t))
	}
	return connect.NewResponse(res), nil
}

// Complete commits results and takes failures into account; verdicts come in the
// order of the results.
func (s *workerService) Complete(ctx context.Context, req *connect.Request[pb.CompleteRequest]) (*connect.Response[pb.CompleteResponse], error) {
	lead, err := s.c.leader()
	if err != nil {
		return nil, err
	}
	if len(req.Msg.GetResults()) > maxTasksLease {
		return nil, connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("at most %d results a call", maxTasksLease))
	}
	res := &pb.CompleteResponse{Verdicts: make([]pb.Verdict, len(req.Msg.GetResults()))}
	settling, settlingCtx := errgroup.WithContext(ctx)
	for i, r := range req.Msg.GetResults() { // at once, so that they share log entries
		settling.Go(func() (err error) {
			res.Verdicts[i], err = s.c.settle(settlingCtx, lead, req.Msg.GetWorkerId(), r)
			return err
		})
	}
	if err := settling.Wait(); err != nil {
		return nil, err
	}
	return connect.NewResponse(res), nil
}

// settle takes one result: an output is committed, a failure weighed.
func (c *Coordinator) settle(ctx context.Context, lead *leadership, workerID string, r *pb.TaskResult) (pb.Verdict, error) {
	held := schedule.Held{Task: taskFrom(r.GetId()), Token: tokenFrom(r.GetToken())}
	task := held.Task
	if failure := r.GetFailure(); failure != nil {
		return pb.Verdict_VERDICT_NOTED, c.settleFailure(ctx, lead, workerID, held, failure)
	}
	name, kernels := c.workerFacts(lead, workerID)
	verdict, err := c.complete(ctx, &pb.Completion{Id: r.GetId(), Output: r.GetOutput(), Worker: name, Kernels: kernels})
	if err != nil {
		return 0, err
	}
	view, _ := c.fsm.view()
	if job, ok := view.Job(task.JobID); ok && task.Round == job.Round.Number {
		lead.mu.Lock()
		lead.board.Done(job, task)
		lead.signal()
		lead.mu.Unlock()
	}
	return verdict, nil
}

func (c *Coordinator) workerFacts(lead *leadership, workerID string) (name, kernels string) {
	lead.mu.Lock()
	defer lead.mu.Unlock()
	for _, w := range lead.board.Workers(c.now()) {
		if w.ID == workerID {
			return w.Name, w.Kernels
		}
	}
	return workerID, ""
}

func (c *Coordinator) settleFailure(ctx context.Context, lead *leadership, workerID string, held schedule.Held, failure *pb.Failure) error {
	name, _ := c.workerFacts(lead, workerID)
	task := held.Task
	failure.Worker, failure.Task = name, task.String()
	view, _ := c.fsm.view()
	lead.mu.Lock()
	cmd := lead.board.Fault(view, workerID, held, failure, c.now())
	lead.signal()
	lead.mu.Unlock()
	c.cfg.Logger.Warn("task failed", "job", task.JobID, "task", failure.GetTask(), "worker", name, "code", failure.GetCode(), "message", failure.GetMessage())
	if cmd == nil {
		return nil
	}
	_, err := c.propose(ctx, cmd)
	return err
}

func leaseResponse(view state.State, grants []schedule.Grant) *pb.LeaseResponse {
	res := &pb.LeaseResponse{}
	briefed := make(map[string]bool)
	for _, g := range grants {
		job, _ := view.Job(g.Task.JobID)
		if !briefed[job.ID] {
			briefed[job.ID] = true
			res.Jobs = append(res.Jobs, brief(job))
		}
		res.Tasks = append(res.Tasks, wireTask(job, g))
	}
	return res
}

func brief(job *state.Job) *pb.JobBrief {
	b := &pb.JobBrief{
		Id: job.ID, SpecJson: string(job.SpecJSON), SpecHash: job.SpecHash, ResultHash: job.ResultHash,
		Manifest: job.Manifest.Proto(), Plan: job.Plan.Proto(), Model: job.Model.Proto(),
	}
	if job.Reporting() {
		b.Kernels, b.Workers = job.Kernels, job.Workers
		b.Record = &pb.Job{
			Id: job.ID, Name: job.Name, Kind: job.Kind, SubmittedUnixMs: job.SubmittedAt, StartedUnixMs: job.StartedAt,
			Counters: job.Counters.Proto(), Rounds: job.RoundRecords(),
		}
	}
	return b
}

func wireTask(job *state.Job, g schedule.Grant) *pb.Task {
	t := &pb.Task{
		Id: taskID(g.Task), Token: &pb.LeaseToken{Term: g.Token.Term, Sequence: g.Token.Sequence},
		Phase: job.Round.Phase, State: job.Round.State.Proto(),
	}
	for _, p := range g.Pieces {
		t.Pieces = append(t.Pieces, &pb.Piece{Tree: p.Tree, Level: uint32(p.Node.Level), Index: uint32(p.Node.Index), Object: p.Object.Proto()})
	}
	if g.Task.Kind == pb.TaskKind_TASK_KIND_NODE {
		t.TreeLeaves = job.Round.Trees[g.Task.Tree]
		first, end := job.Round.Tree(g.Task.Tree).Range(g.Task.Node)
		for _, carry := range job.Round.CarriesIn(g.Task.Tree, first, end) {
			t.Carries = append(t.Carries, &pb.CarryPiece{Tree: carry.Tree, First: carry.First, End: carry.End, Object: carry.Object.Proto()})
		}
	}
	return t
}

func taskID(t schedule.Task) *pb.TaskID {
	return &pb.TaskID{JobId: t.JobID, Round: t.Round, Kind: t.Kind, Tree: t.Tree, Level: uint32(t.Node.Level), Index: uint32(t.Node.Index)}
}

func taskFrom(id *pb.TaskID) schedule.Task {
	return schedule.Task{
		JobID: id.GetJobId(), Round: id.GetRound(), Kind: id.GetKind(), Tree: id.GetTree(),
		Node: protocol.Node{Level: int(min(id.GetLevel(), 63)), Index: int(id.GetIndex())},
	}
}

func heldFrom(list []*pb.HeldTask) []schedule.Held {
	held := make([]schedule.Held, len(list))
	for i, h := range list {
		held[i] = schedule.Held{Task: taskFrom(h.GetId()), Token: tokenFrom(h.GetToken())}
	}
	return held
}

func tokenFrom(t *pb.LeaseToken) schedule.Token {
	return schedule.Token{Term: t.GetTerm(), Sequence: t.GetSequence()}
}
