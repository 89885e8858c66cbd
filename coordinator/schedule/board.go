// Package schedule chooses: who works on what, when again, and which decision to
// propose. Its Board is leader memory: losing it costs time, never correctness.
// Nothing here reads a clock, draws a random number or does I/O; now is an argument.
package schedule

import (
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Config are the scheduler's constants.
type Config struct {
	LeaseTTL    time.Duration // a lease not renewed for this long is void
	MaxRunning  int           // jobs past the queue at a time
	MaxAttempts int           // task faults of one task before the job fails
	RetryDelay  time.Duration // before a failed task is leased again; doubles with each fault
	MaxPieces   int           // committed nodes folded by one reduce
	MaxDeaths   int           // workers that end while alone with a task before the job fails; 0 means it never does
	// DenyPatience is how long a job waits for the cluster's own store, which refuses its tasks; 0 means without end.
	// It is a minute more than a refusal may last without ending a job: attempts that began within are told after it.
	DenyPatience time.Duration
	FitPatience  time.Duration // how long a job waits for a worker that its state fits; 0 means without end
}

// DefaultConfig is what a cluster runs with.
func DefaultConfig() Config {
	return Config{LeaseTTL: 30 * time.Second, MaxRunning: 16, MaxAttempts: 4, RetryDelay: 200 * time.Millisecond,
		MaxPieces: 64, MaxDeaths: 4, FitPatience: 10 * time.Minute, DenyPatience: 16 * time.Minute}
}

// Token orders leases: strictly increasing, across elections too. The epoch is the cluster's: a cluster
// made of a backup knows none of the leases that the old one granted.
type Token struct{ Term, Sequence, Epoch uint64 }

// Worker is what the leader knows of a worker.
type Worker struct {
	ID, Name, Kernels, Build string
	Other                    string // the second kernel set that its machine runs; "" if it runs one only
	Slots                    int
	Bond                     Bond
	Memory                   int64 // bytes it plans with; 0 means not told
	LastSeen                 time.Duration
	gone                     bool // it has been silent for a lease's time
	charges                  []charge
	quarantined              time.Duration // leased nothing before
	why                      string
}

// Bond is what a worker's id belongs to.
type Bond struct {
	Secret      [32]byte // its digest
	Certificate string   // the digest of its public key; "" without one
}

// Counts are facts since this leader was elected.
type Counts struct {
	Granted, Expired, CommittedLeased uint64
	Backups                           Backups
}

// Board is one leader's memory of workers and leases. It is not safe for
// concurrent use. Times are readings of the leader's monotonic clock.
type Board struct {
	cfg     Config
	term    uint64
	epoch   uint64
	next    uint64
	workers []*Worker   // by id
	jobs    []*jobBoard // by number
	// Jobs accepted before this leader are not leased before holdUntil: their tasks
	// may be at work under the last leader's leases.
	holdBefore uint64
	holdUntil  time.Duration
	earliest   time.Duration   // no lease ends before
	began      time.Duration   // of this leader
	latest     time.Duration   // that anybody told the board
	straggling time.Duration   // when the next backup may be due, as the last search found; 0 means no such time
	missing    map[string]bool // workers whose leases ran out, and that were not heard of since
	loner      string          // the worker that is kept apart for tasks that must be alone; or empty
	ahead      int             // leases of the highest priority since one of a lower was granted
	patience   time.Duration   // when a job has waited long enough for a larger worker; 0 means none waits
	forlorn    bool            // a job waits for audits alone
	verdict    time.Duration   // when a task may be found to end its workers; 0 means no such time
	Counts     Counts
}

// NewBoard is the memory of a leader elected in this term at now.
func NewBoard(cfg Config, term uint64, view state.State, now time.Duration) *Board {
	b := &Board{
		cfg: cfg, term: term, epoch: view.Epoch, next: 1, holdBefore: view.NextJob, began: now, latest: now,
		earliest: math.MaxInt64, missing: make(map[string]bool),
	}
	view.EachActive(func(job *state.Job) bool {
		if job.Stage != pb.JobState_JOB_STATE_QUEUED {
			b.holdUntil = now + cfg.LeaseTTL
		}
		return true
	})
	return b
}

// Workers returns the workers heard of within the last TTL, by id.
func (b *Board) Workers(now time.Duration) []Worker {
	var live []Worker
	for w := range b.live(now) {
		live = append(live, *w)
	}
	return live
}

func (b *Board) live(now time.Duration) iter.Seq[*Worker] {
	return func(yield func(*Worker) bool) {
		for _, w := range b.workers {
			if now-w.LastSeen < b.cfg.LeaseTTL && !yield(w) {
				return
			}
		}
	}
}

// Worker returns what is known of one worker.
func (b *Board) Worker(id string) (Worker, bool) {
	at, found := b.findWorker(id)
	if !found {
		return Worker{}, false
	}
	return *b.workers[at], true
}

// Register makes a worker known and takes the tasks it holds as leased to it under
// the tokens it has, unless somebody else holds them or they are not needed any more.
func (b *Board) Register(view state.State, w Worker, held []Held, now time.Duration) {
	w.LastSeen = now
	b.heard(w.ID)
	at, found := b.findWorker(w.ID)
	if found {
		w.charges, w.quarantined, w.why = b.workers[at].charges, b.workers[at].quarantined, b.workers[at].why
		b.workers[at] = &w
	} else {
		b.workers = slices.Insert(b.workers, at, &w)
	}
	b.condemn(view)
	for _, h := range held {
		if job, ok := view.Job(h.Task.JobID); ok && b.Granted(h.Token) && b.holdsAudit(job, w.ID, h, now) {
			continue
		}
		if job, ok := view.Job(h.Task.JobID); ok && b.Granted(h.Token) && b.needed(job, h.Task) &&
			b.jobBoard(job).free(h.Task) {
			b.put(b.jobBoard(job), b.takenOver(h, w.ID, now))
		}
	}
}

// takenOver is the lease of a task that its worker held before it registered here.
func (b *Board) takenOver(h Held, workerID string, now time.Duration) *lease {
	return &lease{task: h.Task, worker: workerID, token: h.Token, deadline: now + b.cfg.LeaseTTL, granted: -1,
		since: now}
}

// Granted reports whether a lease may be this cluster's: one of another epoch is void.
func (b *Board) Granted(t Token) bool { return t.Epoch == b.epoch }

func (b *Board) put(memory *jobBoard, l *lease) {
	b.begun(memory, l)
	memory.put(l)
	b.earliest = min(b.earliest, l.deadline)
}

// Known reports whether the worker has registered with this leader, and notes that it was heard of.
func (b *Board) Known(workerID string, now time.Duration) bool {
	at, found := b.findWorker(workerID)
	if found {
		b.workers[at].LastSeen, b.workers[at].gone = now, false
		b.heard(workerID)
	}
	return found
}

func (b *Board) findWorker(id string) (int, bool) {
	return slices.BinarySearchFunc(b.workers, id, func(w *Worker, id string) int { return strings.Compare(w.ID, id) })
}

func (b *Board) slots(now time.Duration) int {
	total := 0
	for w := range b.live(now) {
		total += w.Slots
	}
	return max(total, 1)
}

// place is where among n leaves a worker begins: the live ones divide them evenly by slots.
func (b *Board) place(workerID string, n int, now time.Duration) int {
	before := 0
	for w := range b.live(now) {
		if w.ID == workerID {
			break
		}
		before += w.Slots
	}
	total := b.slots(now)
	return n/total*before + n%total*before/total // n*before may not fit an int
}

func (b *Board) nextToken() Token {
	b.next++
	return Token{Term: b.term, Sequence: b.next - 1, Epoch: b.epoch}
}

// Leased counts the live leases of a job and of a worker; an empty name counts all.
func (b *Board) Leased(jobID, workerID string) int {
	count := 0
	for _, j := range b.jobs {
		if jobID != "" && j.id != jobID {
			continue
		}
		if workerID == "" {
			count += j.leases.Len()
			j.eachAudit(func(Task, *auditWork) { count++ })
			continue
		}
		j.each(func(l *lease) {
			if l.worker == workerID {
				count++
			}
		})
		j.eachAudit(func(_ Task, work *auditWork) {
			if work.lease.worker == workerID {
				count++
			}
		})
	}
	return count
}

// Holding reports whether job waits for workers to announce what they still do.
func (b *Board) Holding(job *state.Job, now time.Duration) bool {
	return job.Number < b.holdBefore && now < b.holdUntil
}
