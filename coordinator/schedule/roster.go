package schedule

import (
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
)

// Roster is the workers that have registered with this leader.
type Roster struct {
	cfg    Config
	list   []*Worker // by id
	counts census
	look   time.Duration // before this no worker falls silent or is forgotten
	looked int           // workers that look is of
}

// census is the slots of the live workers, as they are from one time until another: thousands of leases are granted
// between two changes of the roster.
type census struct {
	from, until time.Duration
	slots       int
	before      []int // by worker: the slots of the live ones before it
}

// changed makes the next question count anew.
func (r *Roster) changed() { r.counts.until = 0 }

// count is the census at now.
func (r *Roster) count(now time.Duration) *census {
	c := &r.counts
	if len(c.before) == len(r.list) && c.from <= now && now < c.until {
		return c
	}
	c.from, c.until, c.slots, c.before = now, math.MaxInt64, 0, make([]int, len(r.list))
	for i, w := range r.list {
		c.before[i] = c.slots
		if now-w.LastSeen < r.cfg.LeaseTTL {
			c.slots, c.until = c.slots+w.Slots, min(c.until, w.LastSeen+r.cfg.LeaseTTL)
		}
	}
	return c
}

// heard notes that a worker was heard of.
func (r *Roster) heard(w *Worker, now time.Duration) {
	if w.gone || now-w.LastSeen >= r.cfg.LeaseTTL {
		r.changed()
	}
	w.LastSeen, w.gone = now, false
	r.look = min(r.look, now+r.cfg.LeaseTTL)
}

// Live returns the workers heard of within the last TTL, by id.
func (r *Roster) Live(now time.Duration) []Worker {
	var live []Worker
	for w := range r.live(now) {
		live = append(live, *w)
	}
	return live
}

// Count is how many workers are live.
func (r *Roster) Count(now time.Duration) int {
	count := 0
	for range r.live(now) {
		count++
	}
	return count
}

func (r *Roster) live(now time.Duration) iter.Seq[*Worker] {
	return func(yield func(*Worker) bool) {
		for _, w := range r.list {
			if now-w.LastSeen < r.cfg.LeaseTTL && !yield(w) {
				return
			}
		}
	}
}

// Worker returns what is known of one worker.
func (r *Roster) Worker(id string) (Worker, bool) {
	at, found := r.find(id)
	if !found {
		return Worker{}, false
	}
	return *r.list[at], true
}

func (r *Roster) find(id string) (int, bool) {
	return slices.BinarySearchFunc(r.list, id, func(w *Worker, id string) int { return strings.Compare(w.ID, id) })
}

func (r *Roster) slots(now time.Duration) int {
	return max(r.count(now).slots, 1)
}

// place is where among n leaves a worker begins: the live ones divide them evenly by slots.
func (r *Roster) place(workerID string, n int, now time.Duration) int {
	before, total := 0, r.slots(now)
	if at, known := r.find(workerID); known {
		before = r.count(now).before[at]
	}
	return n/total*before + n%total*before/total // n*before may not fit an int
}

// nameOf is a worker's name for people.
func (r *Roster) nameOf(workerID string) string {
	if w, known := r.Worker(workerID); known && w.Name != "" {
		return w.Name
	}
	return workerID
}

// hasOther reports whether another worker is there that the job's state fits.
func (r *Roster) hasOther(job *state.Job, workerID string, now time.Duration) bool {
	for w := range r.live(now) {
		if w.ID != workerID && w.fits(job) && now >= w.quarantined {
			return true
		}
	}
	return false
}

// confirmed reports whether two workers said the same, or one twice that has no other beside it. A second
// worker that never gets as far delays that, up to a limit.
func (r *Roster) confirmed(job *state.Job, by reporters, workerID string, now time.Duration) bool {
	return len(by.workers) > 1 || by.count > 1 && !r.hasOther(job, workerID, now) || by.count >= r.cfg.MaxAttempts
}
