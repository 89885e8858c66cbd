package workload

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sort"
	"sync"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/chaos/history"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Config says what clients do.
type Config struct {
	Clients   int
	MaxActive int // jobs that have not ended, as far as the clients know
	Seed      uint64
	Members   []Member
	Specs     []Spec
	Schedules int
	// Recent is how long after its submit clients still ask for a job: the cluster must keep it for longer.
	Recent time.Duration
	Record *history.Recorder
	// HTTP is a client of its own for each caller, with the options that carry its token.
	HTTP func() (*http.Client, connect.ClientOption, error)
}

// Workload is the clients at work.
type Workload struct {
	cfg     Config
	clients []*client

	mu     sync.Mutex
	active map[string]bool // submitted and not known to have ended
	jobs   []submitted     // all of them, in order
}

// submitted is a job and when it was first asked for.
type submitted struct {
	id string
	at time.Time
}

// New makes the clients; they call nobody yet.
func New(cfg Config) (*Workload, error) {
	w := &Workload{cfg: cfg, active: make(map[string]bool)}
	for i := range cfg.Clients {
		client, err := w.client(i)
		if err != nil {
			return nil, err
		}
		w.clients = append(w.clients, client)
	}
	return w, nil
}

func (w *Workload) client(id int) (*client, error) {
	caller, options, err := w.cfg.HTTP()
	if err != nil {
		return nil, err
	}
	return &client{id: id, rng: rand.New(rand.NewPCG(w.cfg.Seed, uint64(id))), rec: w.cfg.Record,
		members: w.cfg.Members, http: caller, options: options}, nil
}

// ScheduleID is the id of a schedule, counted from 0. Every minute has a tick.
func ScheduleID(n int) string { return fmt.Sprint("every-minute-", n) }

// CreateSchedules makes the schedules, which takes a cluster that answers.
func (w *Workload) CreateSchedules(ctx context.Context) error {
	overlaps := []pb.ScheduleOverlap{pb.ScheduleOverlap_SCHEDULE_OVERLAP_ALLOW,
		pb.ScheduleOverlap_SCHEDULE_OVERLAP_FORBID}
	catchUps := []pb.CatchUp{pb.CatchUp_CATCH_UP_ALL, pb.CatchUp_CATCH_UP_LATEST}
	most := []uint32{100, 0} // for those caught up all
	for i := range w.cfg.Schedules {
		op := w.clients[0].createSchedule(ctx, &pb.ScheduleDefinition{
			Id: ScheduleID(i), SpecJson: w.cfg.Specs[i%len(w.cfg.Specs)].JSON, Cron: "* * * * *",
			Overlap: overlaps[i%2], CatchUp: catchUps[i%2], CatchUpMax: most[i%2],
		})
		if op.Outcome != history.OK {
			return errors.New("make schedule " + op.Schedule + ": " + op.Error)
		}
	}
	return nil
}

// Run lets every client work until ctx ends, and waits for the calls it has begun.
func (w *Workload) Run(ctx context.Context) {
	var working sync.WaitGroup
	for _, c := range w.clients {
		working.Go(func() { w.work(ctx, c) })
	}
	working.Wait()
}

// Close lets go of the clients' connections.
func (w *Workload) Close() {
	for _, c := range w.clients {
		c.http.CloseIdleConnections()
	}
}

func (w *Workload) work(ctx context.Context, c *client) {
	for n := 0; ctx.Err() == nil; n++ {
		switch draw := c.rng.IntN(100); {
		case draw < 25:
			w.submitOne(ctx, c, n)
		case draw < 73:
			w.readOne(ctx, c)
		case draw < 74 && c.rng.IntN(3) == 0:
			w.cancelOne(ctx, c)
		case draw < 82:
			c.list(ctx)
		case draw < 94:
			c.status(ctx)
		case draw < 97 && w.cfg.Schedules > 0:
			c.getSchedule(ctx, ScheduleID(c.rng.IntN(w.cfg.Schedules)))
		default:
			w.conflict(ctx, c)
		}
		pause(ctx, time.Duration(c.rng.Int64N(int64(120*time.Millisecond))))
	}
}

// submitOne submits a job, again and again while the outcome is unknown; now and then once more after that.
func (w *Workload) submitOne(ctx context.Context, c *client, n int) {
	spec := w.cfg.Specs[c.rng.IntN(len(w.cfg.Specs))]
	id := fmt.Sprintf("job-%d-%d", c.id, n)
	if !w.enter(id) {
		return
	}
	for ctx.Err() == nil {
		op := c.submit(ctx, id, spec)
		if op.Outcome == history.Refused {
			w.note(id, history.Failed) // there is no such job
		}
		if op.Outcome != history.Unknown && c.rng.IntN(6) != 0 {
			return
		}
		pause(ctx, time.Duration(c.rng.Int64N(int64(300*time.Millisecond))))
	}
}

// enter makes room for a job, if there is any.
func (w *Workload) enter(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.active) >= w.cfg.MaxActive {
		return false
	}
	w.active[id] = true
	w.jobs = append(w.jobs, submitted{id, time.Now()})
	return true
}

// some is a job: mostly one that has not ended; "" when there is none.
func (w *Workload) some(c *client, activeOnly bool) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	recent := w.recent()
	if len(recent) == 0 {
		return ""
	}
	if !activeOnly && c.rng.IntN(5) == 0 {
		return recent[c.rng.IntN(len(recent))].id
	}
	newest := recent[max(0, len(recent)-4*w.cfg.MaxActive):]
	for range 16 {
		if id := newest[c.rng.IntN(len(newest))].id; w.active[id] {
			return id
		}
	}
	for _, job := range w.jobs {
		if w.active[job.id] {
			return job.id
		}
	}
	return ""
}

// recent are the jobs that the cluster cannot have retired yet.
func (w *Workload) recent() []submitted {
	since := time.Now().Add(-w.cfg.Recent)
	first := sort.Search(len(w.jobs), func(i int) bool { return w.jobs[i].at.After(since) })
	return w.jobs[first:]
}

// note takes a job off the active ones when it has ended.
func (w *Workload) note(id string, state history.State) {
	if !state.Terminal() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.active, id)
}

func (w *Workload) readOne(ctx context.Context, c *client) {
	id := w.some(c, false)
	if id == "" {
		return
	}
	op := c.get(ctx, id)
	switch {
	case op.Seen != nil:
		w.note(id, op.Seen.State)
	case op.Code == history.NotFound:
		// Not submitted yet, or never: its client knows.
	}
}

func (w *Workload) cancelOne(ctx context.Context, c *client) {
	if id := w.some(c, true); id != "" {
		if op := c.cancel(ctx, id); op.Seen != nil {
			w.note(id, op.Seen.State)
		}
	}
}

// conflict submits another spec under an id in use, which must be refused; or asks for a job that nobody submitted.
func (w *Workload) conflict(ctx context.Context, c *client) {
	if c.rng.IntN(2) == 0 {
		c.get(ctx, fmt.Sprintf("nobodys-%d", c.rng.IntN(5)))
		return
	}
	if id := w.some(c, false); id != "" {
		c.submit(ctx, id, w.cfg.Specs[c.rng.IntN(len(w.cfg.Specs))])
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
