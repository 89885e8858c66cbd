package lead

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/lease"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

const (
	maxLeaseWait  = 30 * time.Second
	maxTasksLease = 256
)

// Workers grants leases and takes results.
type Workers struct{ *Leader }

// Register makes a worker known to this leader.
func (c Workers) Register(ctx context.Context, worker schedule.Worker, m *pb.RegisterRequest) error {
	if _, _, err := c.Read(ctx); err != nil { // only a leader knows workers
		return err
	}
	lead, err := c.Leadership()
	if err != nil {
		return err
	}
	if err := lead.register(ctx, c.Leader, worker, m); err != nil {
		return err
	}
	c.cfg.Logger.Info("worker registered",
		"worker", m.GetWorkerId(), "name", m.GetName(), "slots", m.GetSlots(), "kernels", m.GetKernels())
	return nil
}

// Lease waits for work until there is some or the wait is over.
func (c Workers) Lease(ctx context.Context, req *pb.LeaseRequest) (*pb.LeaseResponse, error) {
	lead, err := c.Leadership()
	if err != nil {
		return nil, err
	}
	wait := min(time.Duration(req.GetWaitMs())*time.Millisecond, maxLeaseWait)
	call := &waiter{worker: req.GetWorkerId(), want: min(int(req.GetMaxTasks()), maxTasksLease)}
	lead.mu.Lock()
	if err := lead.bound(ctx, call.worker, req.GetSecret()); err != nil {
		lead.mu.Unlock()
		return nil, err
	}
	now := c.clock.Mono()
	view, _ := c.fsm.View()
	found := c.look(lead, view, call.worker, call.want, now)
	if !found.found() && wait > 0 {
		lead.waiting.join(call)
	}
	lead.wakeFor(now)
	lead.mu.Unlock()
	if call.answer != nil {
		found = c.await(ctx, lead, call, wait)
	}
	if found.err != nil {
		return nil, found.err
	}
	return lease.Response(found.view, call.worker, found.grants, found.courses), nil
}

// timelines are those of the jobs of which a step is granted: it may be the last. The caller holds lead.mu.
func (c Workers) timelines(lead *Leadership, view state.State, grants []schedule.Grant) map[string]*pb.Timeline {
	found := make(map[string]*pb.Timeline)
	for _, g := range grants {
		if job, ok := view.Job(g.Task.JobID); ok && g.Task.Kind == pb.TaskKind_TASK_KIND_STEP {
			found[job.ID] = lease.WireTimeline(lead.board.Jobs.Timeline(job), c.clock.started)
		}
	}
	return found
}

// Heartbeat renews leases. It reads this member's state without asking the
// others: a lost leader's leases are void anyway.
func (c Workers) Heartbeat(ctx context.Context, req *pb.HeartbeatRequest) (*pb.HeartbeatResponse, error) {
	lead, err := c.Leadership()
	if err != nil {
		return nil, err
	}
	lead.mu.Lock()
	defer lead.mu.Unlock()
	if err := lead.bound(ctx, req.GetWorkerId(), req.GetSecret()); err != nil {
		return nil, err
	}
	view, _ := c.fsm.View()
	if !lead.board.Known(req.GetWorkerId(), c.clock.Mono()) {
		return nil, connect.NewError(connect.CodeNotFound,
			fmt.Errorf("worker %q is not registered with this leader", req.GetWorkerId()))
	}
	lost := lead.board.Heartbeat(view, req.GetWorkerId(), lease.HeldFrom(req.GetHeld()), c.clock.Mono())
	res := &pb.HeartbeatResponse{}
	for _, t := range lost {
		res.Lost = append(res.Lost, t.ID())
	}
	return res, nil
}

// Complete commits results and takes failures into account; verdicts come in the
// order of the results.
func (c Workers) Complete(ctx context.Context, req *pb.CompleteRequest) (*pb.CompleteResponse, error) {
	lead, err := c.Leadership()
	if err != nil {
		return nil, err
	}
	if len(req.GetResults()) > maxTasksLease {
		return nil, connect.NewError(connect.CodeInvalidArgument,
			fmt.Errorf("at most %d results a call", maxTasksLease))
	}
	lead.mu.Lock()
	err = lead.bound(ctx, req.GetWorkerId(), req.GetSecret())
	lead.mu.Unlock()
	if err != nil {
		return nil, err
	}
	s := newSettlement(c, lead, req)
	if err := s.settle(ctx); err != nil {
		return nil, err
	}
	return &pb.CompleteResponse{Verdicts: s.verdicts}, nil
}

// compareLeaves orders tasks by round and by the first of their leaves.
func compareLeaves(a, b *pb.TaskID) int {
	first := func(id *pb.TaskID) uint64 { return uint64(id.GetIndex()) << min(id.GetLevel(), 63) }
	return cmp.Or(cmp.Compare(a.GetRound(), b.GetRound()), cmp.Compare(a.GetTree(), b.GetTree()),
		cmp.Compare(first(a), first(b)))
}
