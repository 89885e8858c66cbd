package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/deploy/cluster"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// fleet is workers that compute nothing: they call as a worker does, and their results are names that were made up.
type fleet struct {
	q       *quorum
	load    load
	workers []*worker
	stop    context.CancelFunc
	working sync.WaitGroup

	mu      sync.Mutex
	fault   error
	current *course
}

// course is what the fleet saw of a job.
type course struct {
	id              string
	planned, mapped time.Time // the plan was committed; the last step was leased
	opened          time.Time // the round: its plan or step was committed
	leases          []time.Duration
	nodes, results  int
	calls           int // of Lease and Complete that were answered
}

// worker is one of the fleet, with a connection of its own.
type worker struct {
	fleet   *fleet
	id      string
	secret  []byte
	http    *http.Client
	calls   gramv1connect.WorkerServiceClient
	slots   chan struct{} // one element per task at work
	results chan *pb.TaskResult
}

// enlist registers the workers, which then wait for work until the fleet is dismissed.
func enlist(ctx context.Context, q *quorum, l load) (*fleet, error) {
	token, err := cluster.ReadToken(q.first().WorkerToken())
	if err != nil {
		return nil, err
	}
	working, stop := context.WithCancel(ctx)
	f := &fleet{q: q, load: l, stop: stop}
	for n := range l.workers {
		client, _, err := q.first().Client(patience)
		if err != nil {
			return nil, err
		}
		w := &worker{fleet: f, secret: make([]byte, 32), http: client,
			calls:   gramv1connect.NewWorkerServiceClient(client, "https://"+q.members[0].API, cluster.Bearer(token)),
			slots:   make(chan struct{}, l.slots),
			results: make(chan *pb.TaskResult, l.slots)}
		rand.Read(w.secret) // never fails
		w.id = protocol.WorkerID(w.secret)
		f.workers = append(f.workers, w)
		if _, err := w.calls.Register(ctx, connect.NewRequest(&pb.RegisterRequest{WorkerId: w.id, Secret: w.secret,
			Name: fmt.Sprint("w", n), Slots: uint32(l.slots), Kernels: "none", Build: "bench"})); err != nil {
			return nil, fmt.Errorf("register worker %d: %w", n, err)
		}
	}
	for _, w := range f.workers {
		f.working.Go(func() { w.lease(working) })
		f.working.Go(func() { w.report(working) })
		f.working.Go(func() { w.beat(working) })
	}
	return f, nil
}

// dismiss ends the workers and returns the first fault of one.
func (f *fleet) dismiss() error {
	f.stop()
	f.working.Wait()
	for _, w := range f.workers {
		w.http.CloseIdleConnections()
	}
	return f.fault
}

// fail notes what went wrong with a worker; the fleet ends.
func (f *fleet) fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = errors.Join(f.fault, err)
	f.stop()
}

const leaseWait = 20 * time.Second

// lease asks for as many tasks as there are free slots, as a worker does.
func (w *worker) lease(ctx context.Context) {
	for {
		select {
		case w.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		free := 1
		for more := true; more; {
			select {
			case w.slots <- struct{}{}:
				free++
			default:
				more = false
			}
		}
		began := time.Now()
		res, err := w.calls.Lease(ctx, connect.NewRequest(&pb.LeaseRequest{WorkerId: w.id, Secret: w.secret,
			MaxTasks: uint32(free), WaitMs: uint32(leaseWait.Milliseconds())}))
		if err != nil {
			w.fleet.fail(ctx, fmt.Errorf("lease: %w", err))
			return
		}
		w.fleet.leased(began, res.Msg.GetTasks())
		for _, task := range res.Msg.GetTasks() {
			w.results <- w.fleet.resultOf(task)
			<-w.slots
		}
		for range free - len(res.Msg.GetTasks()) {
			<-w.slots
		}
	}
}

// report sends results, as many at a time as wait.
func (w *worker) report(ctx context.Context) {
	for {
		var batch []*pb.TaskResult
		select {
		case first := <-w.results:
			batch = append(batch, first)
		case <-ctx.Done():
			return
		}
		for more := true; more && len(batch) < 64; {
			select {
			case next := <-w.results:
				batch = append(batch, next)
			default:
				more = false
			}
		}
		res, err := w.calls.Complete(ctx,
			connect.NewRequest(&pb.CompleteRequest{WorkerId: w.id, Secret: w.secret, Results: batch}))
		if err != nil {
			w.fleet.fail(ctx, fmt.Errorf("complete: %w", err))
			return
		}
		w.fleet.completed(ctx, batch, res.Msg.GetVerdicts())
	}
}

// heartbeat is how often a worker renews leases of the default length.
const heartbeat = 10 * time.Second

// beat tells that the worker lives. Its tasks end at once, so it holds none.
func (w *worker) beat(ctx context.Context) {
	for pause(ctx, heartbeat) == nil {
		if _, err := w.calls.Heartbeat(ctx,
			connect.NewRequest(&pb.HeartbeatRequest{WorkerId: w.id, Secret: w.secret})); err != nil {
			w.fleet.fail(ctx, fmt.Errorf("heartbeat: %w", err))
			return
		}
	}
}

// leased notes a call that brought leaves: from when it was made, or from when there were leaves to lease.
func (f *fleet) leased(began time.Time, tasks []*pb.Task) {
	now := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.current
	if c != nil {
		c.calls++
	}
	for i, task := range tasks {
		if c == nil || task.GetId().GetJobId() != c.id {
			continue
		}
		switch {
		case task.GetId().GetKind() == pb.TaskKind_TASK_KIND_STEP:
			if c.mapped.IsZero() && int(task.GetId().GetRound()) == f.load.rounds {
				c.mapped = now
			}
		case task.GetId().GetKind() == pb.TaskKind_TASK_KIND_NODE && i == 0 && len(task.GetPieces()) == 0:
			if began.Before(c.opened) {
				began = c.opened
			}
			c.leases = append(c.leases, now.Sub(began))
		}
	}
}

func (f *fleet) completed(ctx context.Context, batch []*pb.TaskResult, verdicts []pb.Verdict) {
	f.mu.Lock()
	c := f.current
	c.calls++
	for i, r := range batch {
		switch {
		case r.GetId().GetJobId() != c.id:
		case r.GetId().GetKind() == pb.TaskKind_TASK_KIND_PLAN:
			if c.planned.IsZero() {
				c.planned = time.Now()
				c.opened = c.planned
			}
		case r.GetId().GetKind() == pb.TaskKind_TASK_KIND_STEP && verdicts[i] == pb.Verdict_VERDICT_ACCEPTED:
			c.opened = time.Now()
		case r.GetId().GetKind() == pb.TaskKind_TASK_KIND_NODE && verdicts[i] == pb.Verdict_VERDICT_ACCEPTED:
			c.nodes++
		}
		c.results++
	}
	f.mu.Unlock()
	if slices.ContainsFunc(verdicts, func(v pb.Verdict) bool {
		return v == pb.Verdict_VERDICT_INVALID || v == pb.Verdict_VERDICT_UNGRANTED || v == pb.Verdict_VERDICT_VIOLATION
	}) {
		f.fail(ctx, fmt.Errorf("the coordinator did not take a result: %v", verdicts))
	}
}
