package lead

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/lease"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"golang.org/x/sync/errgroup"
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
	wait := min(time.Duration(req.GetWaitMs())*time.Millisecond, maxLeaseWait)
	deadline := c.clock.Mono() + wait
	for {
		lead, err := c.Leadership()
		if err != nil {
			return nil, err
		}
		if err := lead.bound(ctx, req.GetWorkerId(), req.GetSecret()); err != nil {
			return nil, err
		}
		lead.mu.Lock()
		view, changed := c.fsm.View()
		now := c.clock.Mono() // one time for all: what ends between two readings would wake nobody
		if !lead.board.Known(req.GetWorkerId(), now) {
			lead.mu.Unlock()
			return nil, connect.NewError(connect.CodeNotFound,
				fmt.Errorf("worker %q is not registered with this leader", req.GetWorkerId()))
		}
		grants := lead.board.Lease(view, req.GetWorkerId(), min(int(req.GetMaxTasks()), maxTasksLease), now)
		courses := c.timelines(lead, view, grants)
		freed := lead.freed
		wake, timed := lead.board.NextWake(now)
		if timed {
			lead.rouse(wake)
		}
		lead.mu.Unlock()
		if len(grants) > 0 || now >= deadline {
			return lease.Response(view, req.GetWorkerId(), grants, courses), nil
		}
		if !timed || wake > deadline {
			wake = deadline
		}
		if err := c.awaitWork(ctx, lead, wake, changed, freed); err != nil {
			return nil, err
		}
	}
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

func (c Workers) awaitWork(
	ctx context.Context, lead *Leadership, wake time.Duration, changed, freed <-chan struct{},
) error {
	timer := time.NewTimer(wake - c.clock.Mono())
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-changed:
	case <-freed:
	case <-lead.Ctx.Done():
		return outcome.ErrNotLeader
	case <-c.tasks.Stopping():
		return outcome.ErrShutdown
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// Heartbeat renews leases. It reads this member's state without asking the
// others: a lost leader's leases are void anyway.
func (c Workers) Heartbeat(ctx context.Context, req *pb.HeartbeatRequest) (*pb.HeartbeatResponse, error) {
	lead, err := c.Leadership()
	if err != nil {
		return nil, err
	}
	if err := lead.bound(ctx, req.GetWorkerId(), req.GetSecret()); err != nil {
		return nil, err
	}
	lead.mu.Lock()
	defer lead.mu.Unlock()
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
	if err := lead.bound(ctx, req.GetWorkerId(), req.GetSecret()); err != nil {
		return nil, err
	}
	results, failures := req.GetResults(), []int(nil)
	res := &pb.CompleteResponse{Verdicts: make([]pb.Verdict, len(results))}
	settling, settlingCtx := errgroup.WithContext(ctx)
	for i, r := range results { // at once, so that they share log entries
		if r.GetFailure() != nil {
			failures = append(failures, i)
			continue
		}
		settling.Go(func() (err error) {
			res.Verdicts[i], err = c.settle(settlingCtx, lead, req.GetWorkerId(), r)
			return err
		})
	}
	if err := settling.Wait(); err != nil {
		return nil, err
	}
	// total order: equal ones keep that of the call
	slices.SortStableFunc(failures, func(i, j int) int { return compareLeaves(results[i].GetId(), results[j].GetId()) })
	for _, i := range failures { // one by one: the first ends the job
		if res.Verdicts[i], err = c.settle(ctx, lead, req.GetWorkerId(), results[i]); err != nil {
			return nil, err
		}
	}
	return res, nil
}

// compareLeaves orders tasks by round and by the first of their leaves.
func compareLeaves(a, b *pb.TaskID) int {
	first := func(id *pb.TaskID) uint64 { return uint64(id.GetIndex()) << min(id.GetLevel(), 63) }
	return cmp.Or(cmp.Compare(a.GetRound(), b.GetRound()), cmp.Compare(a.GetTree(), b.GetTree()),
		cmp.Compare(first(a), first(b)))
}
