package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"connectrpc.com/connect"
	"github.com/google/uuid"
	"github.com/gram-compute/gram/objstore"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// worker is one running worker.
type worker struct {
	cfg     Config
	id      string
	store   objstore.Store // job objects
	storeAt string
	jobs    *jobCache
	logs    *jobLogs
	results chan *pb.TaskResult
	slots   chan struct{} // one element per running task

	mu        sync.Mutex
	held      map[string]*heldTask // by task, for heartbeats
	heartbeat time.Duration
	ttl       time.Duration
	renewed   time.Time // when the coordinator last heard of us
}

type heldTask struct {
	task *pb.Task
	stop context.CancelCauseFunc
}

var errLost = errors.New("the lease is lost")

// Run works until ctx ends, then drains: it takes no more tasks, finishes and
// reports those it has, and gives back what does not finish in DrainTimeout.
func Run(ctx context.Context, cfg Config) error {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	w := &worker{
		cfg: cfg, id: uuid.NewString(), results: make(chan *pb.TaskResult, cfg.Slots),
		slots: make(chan struct{}, cfg.Slots), held: make(map[string]*heldTask),
	}
	if err := w.register(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	w.jobs, w.logs = newJobCache(w), newJobLogs(w)
	return w.run(ctx)
}

// run owns the worker's goroutines. Heartbeats and reports outlive ctx until the tasks are done.
func (w *worker) run(ctx context.Context) error {
	working, giveBack := context.WithCancelCause(context.WithoutCancel(ctx))
	defer giveBack(nil)
	speaking, hush := context.WithCancel(context.WithoutCancel(ctx))
	defer hush()
	var voices, reports, tasks sync.WaitGroup
	voices.Go(func() { w.beat(speaking) })
	voices.Go(func() { w.logs.run(speaking) })
	reports.Go(func() { w.report(speaking) })
	err := w.lease(ctx, working, &tasks)
	drained := w.drain(&tasks, giveBack)
	close(w.results)
	// An unreachable coordinator must not keep a drained worker for ever.
	impatience := time.AfterFunc(w.cfg.DrainTimeout, hush)
	defer impatience.Stop()
	reports.Wait()
	hush()
	voices.Wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.cfg.DrainTimeout)
	defer cancel()
	w.logs.flush(last)
	return errors.Join(err, drained)
}

// drain waits for the tasks, but not for ever.
func (w *worker) drain(tasks *sync.WaitGroup, giveBack context.CancelCauseFunc) error {
	done := make(chan struct{})
	go func() { // ends with the tasks, which this function waits for on every path
		defer close(done)
		tasks.Wait()
	}()
	timer := time.NewTimer(w.cfg.DrainTimeout)
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-timer.C:
	}
	giveBack(ErrDrainTimeout)
	<-done
	return ErrDrainTimeout
}

// lease asks for as many tasks as there are free slots, until ctx ends.
func (w *worker) lease(ctx, working context.Context, tasks *sync.WaitGroup) error {
	var wait backoff
	for {
		if !w.takeSlot(ctx) {
			return nil
		}
		free := 1 + w.takeMore()
		res, err := w.cfg.Client.Lease(ctx, connect.NewRequest(&pb.LeaseRequest{WorkerId: w.id, MaxTasks: uint32(free), WaitMs: 20_000}))
		if err != nil {
			w.giveSlots(free)
			if err := w.recover(ctx, err, &wait); err != nil || ctx.Err() != nil {
				return err
			}
			continue
		}
		wait.reset()
		w.begin(working, res.Msg, tasks)
		w.giveSlots(free - len(res.Msg.GetTasks()))
	}
}

// recover deals with a failed call: register again when the leader does not know
// us, give up when it refuses us, wait otherwise.
func (w *worker) recover(ctx context.Context, err error, wait *backoff) error {
	switch connect.CodeOf(err) {
	case connect.CodeNotFound:
		return w.register(ctx)
	case connect.CodeUnauthenticated, connect.CodePermissionDenied:
		return fmt.Errorf("%w: %w", ErrDenied, err)
	}
	if ctx.Err() == nil {
		w.cfg.Logger.Warn("coordinator not reachable; trying again", "error", err)
	}
	wait.sleep(ctx)
	return nil
}

func (w *worker) takeSlot(ctx context.Context) bool {
	select {
	case w.slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (w *worker) takeMore() int {
	taken := 0
	for {
		select {
		case w.slots <- struct{}{}:
			taken++
		default:
			return taken
		}
	}
}

func (w *worker) giveSlots(n int) {
	for range n {
		<-w.slots
	}
}

// begin starts the leased tasks; each holds one slot until its result is handed on.
func (w *worker) begin(working context.Context, res *pb.LeaseResponse, tasks *sync.WaitGroup) {
	briefs := make(map[string]*pb.JobBrief)
	for _, b := range res.GetJobs() {
		briefs[b.GetId()] = b
	}
	for _, task := range res.GetTasks() {
		ctx, stop := context.WithCancelCause(working)
		w.hold(task, stop)
		tasks.Go(func() {
			defer stop(nil)
			result := w.execute(ctx, briefs[task.GetId().GetJobId()], task)
			if result == nil {
				w.release(task)
			} else {
				w.results <- result
			}
			w.giveSlots(1)
		})
	}
}

func taskName(id *pb.TaskID) string { return id.String() }

func (w *worker) hold(task *pb.Task, stop context.CancelCauseFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held[taskName(task.GetId())] = &heldTask{task: task, stop: stop}
}

func (w *worker) release(task *pb.Task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.held, taskName(task.GetId()))
}
