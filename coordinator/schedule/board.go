// Package schedule chooses: who works on what, when again, and which decision to
// propose. Its Board is leader memory: losing it costs time, never correctness.
// Nothing here reads a clock, draws a random number or does I/O; now is an argument.
package schedule

import (
	"math"
	"slices"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/report/forecast"
)

// Config are the scheduler's constants.
type Config struct {
	LeaseTTL    time.Duration // a lease not renewed for this long is void
	MaxRunning  int           // jobs past the queue at a time
	MaxAttempts int           // task faults of one task before the job fails
	RetryDelay  time.Duration // before a failed task is leased again; doubles with each fault
	MaxPieces   int           // committed nodes folded by one reduce
	StepPieces  int           // committed nodes beyond the roots that a step folds; 0 means that it folds none
	StepBytes   int64         // of them and the roots together
	MaxDeaths   int           // workers that end while alone with a task before the job fails; 0 means it never does
	// DenyPatience is how long a job waits for the cluster's own store, which refuses its tasks; 0 means without end.
	// It is a minute more than a refusal may last without ending a job: attempts that began within are told after it.
	DenyPatience time.Duration
	FitPatience  time.Duration // how long a job waits for a worker that its state fits; 0 means without end
}

// DefaultConfig is what a cluster runs with.
func DefaultConfig() Config {
	return Config{LeaseTTL: 30 * time.Second, MaxRunning: 16, MaxAttempts: 4, RetryDelay: 200 * time.Millisecond,
		MaxPieces: 64, StepPieces: 16, StepBytes: 8 << 20, MaxDeaths: 4, FitPatience: 10 * time.Minute,
		DenyPatience: 16 * time.Minute}
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
	FoldsInSteps             bool  // it folds what a step is leased with
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
	SpeculativeCopies                 SpeculativeCopies
}

// Board is one leader's memory of workers and leases. It is not safe for
// concurrent use. Times are readings of the leader's monotonic clock.
type Board struct {
	cfg   Config
	term  uint64
	epoch uint64
	next  uint64
	ahead int // leases of the highest priority since one of a lower was granted

	Roster     Roster
	Jobs       Jobs
	Deaths     Deaths
	Audits     Audits
	Store      Store
	Fit        Fit
	stragglers stragglers

	// Foresee forecasts how a round ends, which may take a tenth of a second, and has take told. A leader does so
	// without the board; without another way the board itself does.
	Foresee func(o forecast.Open, take func(ends []float64))
}

// NewBoard is the memory of a leader elected in this term at now.
func NewBoard(cfg Config, term uint64, view state.State, now time.Duration) *Board {
	b := &Board{cfg: cfg, term: term, epoch: view.Epoch, next: 1, Foresee: foreseeNow}
	b.Roster = Roster{cfg: cfg}
	b.Jobs = Jobs{cfg: cfg, roster: &b.Roster, holdBefore: view.NextJob, began: now, latest: now,
		earliest: math.MaxInt64}
	b.Deaths = Deaths{cfg: cfg, roster: &b.Roster, jobs: &b.Jobs, missing: make(map[string]bool)}
	b.Audits = Audits{cfg: cfg, roster: &b.Roster, jobs: &b.Jobs}
	b.Store = Store{cfg: cfg, roster: &b.Roster, jobs: &b.Jobs}
	b.Fit = Fit{cfg: cfg, roster: &b.Roster, jobs: &b.Jobs}
	b.stragglers = stragglers{roster: &b.Roster, jobs: &b.Jobs}
	view.EachActive(func(job *state.Job) bool {
		if job.Stage != pb.JobState_JOB_STATE_QUEUED {
			b.Jobs.holdUntil = now + cfg.LeaseTTL
		}
		return true
	})
	return b
}

// Register makes a worker known and takes the tasks it holds as leased to it under
// the tokens it has, unless somebody else holds them or they are not needed any more.
func (b *Board) Register(view state.State, w Worker, held []Held, now time.Duration) {
	w.LastSeen = now
	b.Deaths.heard(w.ID)
	at, found := b.Roster.find(w.ID)
	if found {
		old := b.Roster.list[at]
		w.charges, w.quarantined, w.why = old.charges, old.quarantined, old.why
		b.Roster.list[at] = &w
	} else {
		b.Roster.list = slices.Insert(b.Roster.list, at, &w)
	}
	b.Roster.changed()
	b.Roster.heard(&w, now)
	b.Roster.quarantineConvicted(view)
	for _, h := range held {
		if job, ok := view.Job(h.Task.JobID); ok && b.Granted(h.Token) && b.Audits.holds(job, w.ID, h, now) {
			continue
		}
		if job, ok := view.Job(h.Task.JobID); ok && b.Granted(h.Token) && b.Jobs.needed(job, h.Task) &&
			b.Jobs.of(job).free(h.Task) {
			b.Jobs.put(b.Jobs.of(job), b.Jobs.takenOver(h, w.ID, now))
		}
	}
}

// Granted reports whether a lease may be this cluster's: one of another epoch is void.
func (b *Board) Granted(t Token) bool { return t.Epoch == b.epoch }

// Known reports whether the worker has registered with this leader, and notes that it was heard of.
func (b *Board) Known(workerID string, now time.Duration) bool {
	at, found := b.Roster.find(workerID)
	if found {
		b.Roster.heard(b.Roster.list[at], now)
		b.Deaths.heard(workerID)
	}
	return found
}

func (b *Board) nextToken() Token {
	b.next++
	return Token{Term: b.term, Sequence: b.next - 1, Epoch: b.epoch}
}
