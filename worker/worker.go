package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/worker/scratch"
	"google.golang.org/protobuf/proto"
)

// worker is one running worker.
type worker struct {
	cfg     Config
	id      string
	checker *selfCheck
	secret  []byte         // that the id follows from
	store   objstore.Store // job objects
	storeAt string
	jobs    *jobCache
	cache   *blockCache
	states  stateCache
	memory  *taskMemory
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
	task     *pb.Task
	stop     context.CancelCauseFunc
	progress *atomic.Uint64
}

var errLost = errors.New("the lease is lost")

// Run works until ctx ends, then drains: it takes no more tasks, finishes and
// reports those it has, and gives back what does not finish in DrainTimeout.
func Run(ctx context.Context, cfg Config) (ended error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	secret := make([]byte, 32)
	rand.Read(secret) // never fails (crypto/rand)
	w := &worker{
		cfg: cfg, checker: newSelfCheck(cfg.Ops, kernelops.All()), id: protocol.WorkerID(secret), secret: secret,
		results: make(chan *pb.TaskResult, cfg.Slots),
		slots:   make(chan struct{}, cfg.Slots), held: make(map[string]*heldTask),
		cache: newBlockCache(cfg.Memory / cacheShare), states: stateCache{budget: cfg.Memory / stateShare},
		memory: newTaskMemory(cfg.Memory),
	}
	if cfg.Scratch != "" {
		dir, err := scratch.Open(cfg.Scratch, cfg.ScratchLimit)
		if err != nil {
			return err
		}
		w.cache.spillTo(dir, cfg.Logger)
		defer func() { ended = errors.Join(ended, dir.Close()) }()
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

// farewell is how long reports may take after the time to drain, and the last log lines after them.
const farewell = 2 * time.Second

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
	// A coordinator that does not take results must not keep a worker running without end, nor
	// the tasks that wait to hand theirs on.
	impatience := time.AfterFunc(w.cfg.DrainTimeout+farewell, hush)
	defer impatience.Stop()
	drained := w.drain(&tasks, giveBack)
	close(w.results)
	reports.Wait()
	hush()
	voices.Wait()
	w.logs.flushNow(ctx, atTheEnd)
	return errors.Join(err, drained)
}

// drain waits for the tasks, up to a limit.
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
		res, err := w.askForTasks(ctx, free)
		if err != nil {
			w.giveSlots(free)
			switch err := w.recover(ctx, err, &wait); {
			case ctx.Err() != nil && !errors.Is(err, ErrDenied):
				return nil // told to end: whatever went wrong meanwhile
			case err != nil:
				return err
			}
			continue
		}
		wait.reset()
		leased := res.GetTasks()[:min(len(res.GetTasks()), free)] // more than asked for expire by themselves
		w.begin(working, res.GetJobs(), leased, tasks)
		w.giveSlots(free - len(leased))
		if len(leased) == 0 && free == w.cfg.Slots {
			w.cache.removeFiles() // there was nothing to do for leaseWait: the jobs have ended, or others have them
		}
	}
}

// Time limits of calls: a host that is gone without a word must not keep a caller.
const (
	leaseWait = 20 * time.Second // how long the coordinator may keep a call that asks for tasks
	callLimit = 15 * time.Second // beyond that
)

func (w *worker) askForTasks(ctx context.Context, free int) (*pb.LeaseResponse, error) {
	call, cancel := context.WithTimeout(ctx, leaseWait+callLimit)
	defer cancel()
	res, err := w.cfg.Client.Lease(call, connect.NewRequest(&pb.LeaseRequest{
		WorkerId: w.id, MaxTasks: uint32(free), WaitMs: uint32(leaseWait.Milliseconds()), Secret: w.secret,
	}))
	if err != nil {
		return nil, err
	}
	return res.Msg, nil
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
func (w *worker) begin(working context.Context, jobs []*pb.JobBrief, leased []*pb.Task, tasks *sync.WaitGroup) {
	briefs := make(map[string]*pb.JobBrief)
	for _, b := range jobs {
		briefs[b.GetId()] = b
	}
	for _, task := range leased {
		ctx, stop := context.WithCancelCause(working)
		ctx = withProgress(ctx, w.hold(task, stop))
		tasks.Go(func() {
			defer stop(nil)
			result := w.execute(ctx, briefs[task.GetId().GetJobId()], task)
			if result == nil {
				w.release(task.GetId(), task.GetToken())
			} else {
				w.results <- result
			}
			w.giveSlots(1)
		})
	}
}

func taskName(id *pb.TaskID) string { return id.String() }

// hold remembers a task, and returns where its progress is noted.
func (w *worker) hold(task *pb.Task, stop context.CancelCauseFunc) *atomic.Uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	held := &heldTask{task: task, stop: stop, progress: new(atomic.Uint64)}
	w.held[taskName(task.GetId())] = held
	return held.progress
}

// release forgets a task, unless it has been leased again under another token.
func (w *worker) release(id *pb.TaskID, token *pb.LeaseToken) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if h, ok := w.held[taskName(id)]; ok && proto.Equal(h.task.GetToken(), token) {
		delete(w.held, taskName(id))
	}
}
