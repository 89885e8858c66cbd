package worker

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// register makes the worker known to the leader, with the tasks it still holds. It
// tries until it succeeds, is refused, or ctx ends.
func (w *worker) register(ctx context.Context) error {
	var wait backoff
	for {
		w.cfg.Alive()
		res, err := w.tryRegister(ctx)
		if err == nil {
			return w.registered(ctx, res)
		}
		switch connect.CodeOf(err) {
		case connect.CodeUnauthenticated, connect.CodePermissionDenied:
			return fmt.Errorf("%w: %w", ErrDenied, err)
		case connect.CodeInvalidArgument:
			return fmt.Errorf("register: %w", err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		w.cfg.Logger.Warn("cannot register; trying again", "error", err)
		wait.sleep(ctx)
	}
}

func (w *worker) tryRegister(ctx context.Context) (*pb.RegisterResponse, error) {
	call, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	res, err := w.cfg.Client.Register(call, connect.NewRequest(&pb.RegisterRequest{
		WorkerId: w.id, Name: w.cfg.Name, Slots: uint32(w.cfg.Slots), Kernels: w.cfg.Ops.Name, Build: w.cfg.Build,
		Held:        w.holding(),
		MemoryBytes: w.cfg.Memory, Secret: w.secret, OtherKernels: w.checker.name(), FoldsInSteps: true,
	}))
	if err != nil {
		return nil, err
	}
	return res.Msg, nil
}

func (w *worker) registered(ctx context.Context, res *pb.RegisterResponse) error {
	if w.store != nil && w.storeAt != res.GetStoreUri() {
		return fmt.Errorf("the cluster's store moved from %s to %s; restart this worker", w.storeAt, res.GetStoreUri())
	}
	if w.store == nil {
		store, err := w.cfg.OpenStore(ctx, res.GetStoreUri())
		if err != nil {
			return fmt.Errorf("open the cluster's store %s: %w", res.GetStoreUri(), err)
		}
		if err := w.checkOwner(ctx, store, res); err != nil {
			return err
		}
		w.store, w.storeAt = store, res.GetStoreUri()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heartbeat = time.Duration(max(res.GetHeartbeatMs(), 1)) * time.Millisecond
	w.ttl = time.Duration(max(res.GetLeaseTtlMs(), 1)) * time.Millisecond
	w.renewed = time.Now()
	w.cfg.Logger.Info("registered", "worker", w.id, "store", w.storeAt)
	return nil
}

// checkOwner refuses a store of another cluster: a directory of the same name on another machine, say. One that does
// not answer shows with the first task.
func (w *worker) checkOwner(ctx context.Context, store objstore.Store, res *pb.RegisterResponse) error {
	if res.GetClusterId() == "" {
		return nil
	}
	asking, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	err := objstore.CheckOwner(asking, store, res.GetClusterId())
	if errors.Is(err, objstore.ErrOwned) {
		return fmt.Errorf("what this worker finds at %s is not this cluster's store: %w", res.GetStoreUri(), err)
	}
	if err != nil {
		w.cfg.Logger.Warn("the cluster's store does not say whose it is", "store", res.GetStoreUri(), "error", err)
	}
	return nil
}

func (w *worker) holding() []*pb.HeldTask {
	w.mu.Lock()
	defer w.mu.Unlock()
	held := make([]*pb.HeldTask, 0, len(w.held))
	for _, h := range w.held {
		held = append(held, &pb.HeldTask{Id: h.task.GetId(), Token: h.task.GetToken(), Progress: h.progress.Load()})
	}
	return held
}

// beat renews the leases until ctx ends. It stops the tasks whose leases are lost,
// and all of them when the coordinator was not reached for a whole TTL.
func (w *worker) beat(ctx context.Context) {
	for {
		w.cfg.Alive()
		interval := w.interval()
		if !sleep(ctx, interval) {
			return
		}
		w.renew(ctx, interval)
	}
}

// interval is how long heartbeats are apart.
func (w *worker) interval() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.heartbeat
}

// stillMine asks the coordinator, and returns nil if the task of ctx is still leased to this worker.
func (w *worker) stillMine(ctx context.Context) error {
	asked := time.Now()
	w.renew(ctx, w.interval())
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.renewed.Before(asked) {
		return protocol.InfrastructureFault(protocol.CodeInternal,
			"the coordinator does not say whether the task is still this worker's")
	}
	return nil
}

func (w *worker) renew(ctx context.Context, limit time.Duration) {
	call, cancel := context.WithTimeout(ctx, max(limit, time.Second))
	defer cancel()
	sent := time.Now()
	res, err := w.cfg.Client.Heartbeat(call,
		connect.NewRequest(&pb.HeartbeatRequest{WorkerId: w.id, Held: w.holding(), Secret: w.secret}))
	if connect.CodeOf(err) == connect.CodeNotFound {
		// A new leader. A call for tasks would register too, but with every slot
		// taken nobody asks, and what we hold would be leased to others.
		if again, registerErr := w.tryRegister(call); registerErr == nil {
			err = w.registered(ctx, again)
		}
	}
	var lost []*pb.TaskID
	if res != nil {
		lost = res.Msg.GetLost()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		w.renewed = sent
		for _, id := range lost {
			if h, ok := w.held[taskName(id)]; ok {
				h.stop(errLost)
			}
		}
		return
	}
	if ctx.Err() == nil && time.Since(w.renewed) > w.ttl {
		for _, h := range w.held { // all of them, in any order
			h.stop(errLost)
		}
	}
}

// report sends results to the coordinator until the channel is closed. It takes
// along what waits, so that one call carries many.
func (w *worker) report(ctx context.Context) {
	for first := range w.results {
		batch := []*pb.TaskResult{first}
	gather:
		for len(batch) < 64 {
			select {
			case next, open := <-w.results:
				if !open {
					break gather
				}
				batch = append(batch, next)
			default:
				break gather
			}
		}
		w.complete(ctx, batch)
	}
}

// complete repeats the call until it is answered: completions are safe to repeat.
func (w *worker) complete(ctx context.Context, batch []*pb.TaskResult) {
	var wait backoff
	for ctx.Err() == nil {
		err := w.tryComplete(ctx, batch)
		if err == nil {
			break
		}
		if tooFast(err) {
			wait.sleep(ctx)
			continue
		}
		switch connect.CodeOf(err) {
		case connect.CodeUnauthenticated, connect.CodePermissionDenied:
			w.cfg.Logger.Error("the coordinator refuses this worker's token; its tasks will be leased again", "error",
				err)
		case connect.CodeInvalidArgument, connect.CodeResourceExhausted:
			w.completeApart(ctx, batch, err)
		default:
			w.cfg.Logger.Warn("results not reported yet; trying again", "results", len(batch), "error", err)
			wait.sleep(ctx)
			continue
		}
		break
	}
	for _, r := range batch {
		w.release(r.GetId(), r.GetToken())
	}
}

func (w *worker) tryComplete(ctx context.Context, batch []*pb.TaskResult) error {
	call, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	res, err := w.cfg.Client.Complete(call,
		connect.NewRequest(&pb.CompleteRequest{WorkerId: w.id, Results: batch, Secret: w.secret}))
	if err != nil {
		return err
	}
	for i, v := range res.Msg.GetVerdicts()[:min(len(res.Msg.GetVerdicts()), len(batch))] {
		w.logs.committed(batch[i], v)
	}
	return nil
}

// completeApart reports one by one what was refused together, and a result that is
// refused by itself as the failure it is.
func (w *worker) completeApart(ctx context.Context, batch []*pb.TaskResult, refusal error) {
	switch {
	case len(batch) > 1:
		for i := range batch {
			w.complete(ctx, batch[i:i+1])
		}
	case batch[0].GetFailure() == nil:
		failure := failureOf(ctx, fmt.Errorf("the coordinator refuses the result: %w", refusal))
		w.logs.failed(&pb.Task{Id: batch[0].GetId()}, failure)
		w.complete(ctx, []*pb.TaskResult{{Id: batch[0].GetId(), Token: batch[0].GetToken(),
			Outcome: &pb.TaskResult_Failure{Failure: failure}}})
	default:
		w.cfg.Logger.Error("the coordinator refuses a failure; the task will be leased again", "task",
			taskName(batch[0].GetId()), "error", refusal)
	}
}

// tooFast reports whether a call was refused for the number of calls alone. What is too big is refused with the same
// code, and will be every time.
func tooFast(err error) bool {
	var refused *connect.Error
	return connect.CodeOf(err) == connect.CodeResourceExhausted && errors.As(err, &refused) &&
		refused.Meta().Get("Retry-After") != ""
}

// backoff waits longer after each failure, with full jitter.
type backoff struct{ failures int }

func (b *backoff) reset() { b.failures = 0 }

func (b *backoff) sleep(ctx context.Context) {
	ceiling := min(50*time.Millisecond<<min(b.failures, 7), 3*time.Second)
	b.failures++
	sleep(ctx, ceiling/4+rand.N(ceiling*3/4))
}

// sleep waits; false means ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
