package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/lease"
	"github.com/gram-compute/gram/coordinator/outcome"
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
	kernels := max(len(m.GetKernels()), len(m.GetOtherKernels()))
	if len(m.GetName()) > 256 || kernels > 64 || len(m.GetBuild()) > 256 { // they enter the log with each result
		return nil, connect.NewError(connect.CodeInvalidArgument, errors.New("a worker's name and build have at most 256 bytes each, its kernel set 64"))
	}
	for _, text := range []string{m.GetWorkerId(), m.GetName(), m.GetKernels(), m.GetOtherKernels(), m.GetBuild()} {
		if strings.ContainsFunc(text, protocol.Steers) {
			return nil, connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("a worker's id, name, kernel set and build hold no control characters: %q", text))
		}
	}
	if _, _, err := s.c.read(ctx); err != nil { // only a leader knows workers
		return nil, err
	}
	lead, err := s.c.leader()
	if err != nil {
		return nil, err
	}
	worker := schedule.Worker{
		ID: m.GetWorkerId(), Name: m.GetName(), Kernels: m.GetKernels(), Other: m.GetOtherKernels(), Build: m.GetBuild(),
		Slots: int(m.GetSlots()), Memory: max(m.GetMemoryBytes(), 0),
	}
	if err := lead.register(ctx, s.c, worker, m); err != nil {
		return nil, err
	}
	s.c.cfg.Logger.Info("worker registered", "worker", m.GetWorkerId(), "name", m.GetName(), "slots", m.GetSlots(), "kernels", m.GetKernels())
	ttl := s.c.cfg.Schedule.LeaseTTL
	return connect.NewResponse(&pb.RegisterResponse{
		LeaseTtlMs: uint32(ttl.Milliseconds()), HeartbeatMs: uint32(max(1, (ttl / 3).Milliseconds())), StoreUri: s.c.cfg.StoreURI,
		ClusterId: s.c.claimed(),
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
		if err := lead.bound(ctx, req.Msg.GetWorkerId(), req.Msg.GetSecret()); err != nil {
			return nil, err
		}
		lead.mu.Lock()
		view, changed := s.c.fsm.View()
		now := s.c.now() // one time for all: what ends between two readings would wake nobody
		if !lead.board.Known(req.Msg.GetWorkerId(), now) {
			lead.mu.Unlock()
			return nil, connect.NewError(connect.CodeNotFound, fmt.Errorf("worker %q is not registered with this leader", req.Msg.GetWorkerId()))
		}
		grants := lead.board.Lease(view, req.Msg.GetWorkerId(), min(int(req.Msg.GetMaxTasks()), maxTasksLease), now)
		courses := s.c.timelines(lead, view, grants)
		freed := lead.freed
		wake, timed := lead.board.NextWake(now)
		if timed {
			lead.rouse(wake)
		}
		lead.mu.Unlock()
		if len(grants) > 0 || now >= deadline {
			return connect.NewResponse(lease.Response(view, req.Msg.GetWorkerId(), grants, courses)), nil
		}
		if !timed || wake > deadline {
			wake = deadline
		}
		if err := s.c.awaitWork(ctx, lead, wake, changed, freed); err != nil {
			return nil, err
		}
	}
}

// timelines are those of the jobs of which a step is granted: it may be the last. The caller holds lead.mu.
func (c *Coordinator) timelines(lead *leadership, view state.State, grants []schedule.Grant) map[string]*pb.Timeline {
	found := make(map[string]*pb.Timeline)
	for _, g := range grants {
		if job, ok := view.Job(g.Task.JobID); ok && g.Task.Kind == pb.TaskKind_TASK_KIND_STEP {
			found[job.ID] = lease.WireTimeline(lead.board.Timeline(job), c.started)
		}
	}
	return found
}

func (c *Coordinator) awaitWork(ctx context.Context, lead *leadership, wake time.Duration, changed, freed <-chan struct{}) error {
	timer := time.NewTimer(wake - c.now())
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-changed:
	case <-freed:
	case <-lead.ctx.Done():
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
func (s *workerService) Heartbeat(ctx context.Context, req *connect.Request[pb.HeartbeatRequest]) (*connect.Response[pb.HeartbeatResponse], error) {
	lead, err := s.c.leader()
	if err != nil {
		return nil, err
	}
	if err := lead.bound(ctx, req.Msg.GetWorkerId(), req.Msg.GetSecret()); err != nil {
		return nil, err
	}
	lead.mu.Lock()
	defer lead.mu.Unlock()
	view, _ := s.c.fsm.View()
	if !lead.board.Known(req.Msg.GetWorkerId(), s.c.now()) {
		return nil, connect.NewError(connect.CodeNotFound, fmt.Errorf("worker %q is not registered with this leader", req.Msg.GetWorkerId()))
	}
	lost := lead.board.Heartbeat(view, req.Msg.GetWorkerId(), lease.HeldFrom(req.Msg.GetHeld()), s.c.now())
	res := &pb.HeartbeatResponse{}
	for _, t := range lost {
		res.Lost = append(res.Lost, t.ID())
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
	if err := lead.bound(ctx, req.Msg.GetWorkerId(), req.Msg.GetSecret()); err != nil {
		return nil, err
	}
	results, failures := req.Msg.GetResults(), []int(nil)
	res := &pb.CompleteResponse{Verdicts: make([]pb.Verdict, len(results))}
	settling, settlingCtx := errgroup.WithContext(ctx)
	for i, r := range results { // at once, so that they share log entries
		if r.GetFailure() != nil {
			failures = append(failures, i)
			continue
		}
		settling.Go(func() (err error) {
			res.Verdicts[i], err = s.c.settle(settlingCtx, lead, req.Msg.GetWorkerId(), r)
			return err
		})
	}
	if err := settling.Wait(); err != nil {
		return nil, err
	}
	// total order: equal ones keep that of the call
	slices.SortStableFunc(failures, func(i, j int) int { return compareLeaves(results[i].GetId(), results[j].GetId()) })
	for _, i := range failures { // one by one: the first ends the job
		if res.Verdicts[i], err = s.c.settle(ctx, lead, req.Msg.GetWorkerId(), results[i]); err != nil {
			return nil, err
		}
	}
	return connect.NewResponse(res), nil
}

// compareLeaves orders tasks by round and by the first of their leaves.
func compareLeaves(a, b *pb.TaskID) int {
	first := func(id *pb.TaskID) uint64 { return uint64(id.GetIndex()) << min(id.GetLevel(), 63) }
	return cmp.Or(cmp.Compare(a.GetRound(), b.GetRound()), cmp.Compare(a.GetTree(), b.GetTree()), cmp.Compare(first(a), first(b)))
}
