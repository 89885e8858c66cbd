package forecast

import (
	"container/heap"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/gram-compute/gram/kernelops/philox"
)

// Lease is a task that covers some leaves of a round. Seconds is how long it took, or has been at work.
type Lease struct {
	Leaves  int // at least 1
	Seconds float64
}

// Open is a round that is not over.
type Open struct {
	Ended   []Lease   // times that are known, of this round and of earlier ones of its phase; at least one
	Running []Running // in the order in which they began
	Free    int       // leaves that are neither committed nor at work
	Total   int       // leaves of the round
	Slots   int       // that work on it; at least 1
	Copies  Copies    // From counts leaves here
	// Tails are how long rounds took from the end of the last leaf to the next round, in ascending order: the last
	// merges and the step. Where none is known, a round is taken to end with its leaves.
	Tails []float64
	// Mapped reports that all leaves are committed, Since for how many seconds.
	Mapped bool
	Since  float64
}

// Running is a lease at work, and its copy, if it has one.
type Running struct {
	Lease
	Copy   bool
	Copied float64 // seconds that the copy has been at work
}

// LeavesOfLease returns how many leaves the next lease covers, of a round of total leaves of which some are free, on
// slots in all: a quarter of a slot's even share of those, or more where that takes less than LeaseTime, up to an even
// share of the round, so that the end of a round is spread over all slots (factoring). leaf is how long a leaf takes; 0
// where that is not known.
func LeavesOfLease(total, free, slots int, leaf time.Duration) int {
	limit := max(1, free/(4*slots))
	if leaf <= 0 {
		return limit
	}
	share := (total + slots - 1) / slots
	return max(limit, min(share, int(LeaseTime/leaf)))
}

// LeaseTime is what a lease of leaves should take: a shorter one goes to a good part into calls, a commit and merges,
// of some ten milliseconds each.
const LeaseTime = 200 * time.Millisecond

// Bounds of the work of one forecast.
const (
	mostEvents       = 40_000
	leastRepetitions = 20
	mostRepetitions  = 400
	mostSlots        = 256
)

// Ends repeats the rest of the round, and returns in ascending order in how many seconds it ended. It is a function of
// the round alone. It takes some 40,000 events, or those of 20 repetitions where that is more. On more than 256 slots
// it repeats an even part of the round; the whole ends with the last of its parts.
func (o Open) Ends() []float64 {
	parts := (o.Slots + mostSlots - 1) / mostSlots
	if parts <= 1 || o.Mapped {
		return o.ends()
	}
	return lastOf(parts, o.part(parts).ends())
}

// part is one of several even parts of a round.
func (o Open) part(parts int) Open {
	share := func(n int) int { return (n + parts - 1) / parts }
	var running []Running
	for i := 0; i < len(o.Running); i += parts {
		running = append(running, o.Running[i])
	}
	o.Running = running
	o.Slots, o.Free, o.Total, o.Copies.Most = share(o.Slots), share(o.Free), share(o.Total), share(o.Copies.Most)
	return o
}

// lastOf draws, as often as there are ends of one part, when the last of several parts ends.
func lastOf(parts int, ends []float64) []float64 {
	key := philox.New(0, "forecast/parts")
	last := make([]float64, len(ends))
	for i := range last {
		d := draws{key: key, repetition: uint64(i)} //lint:checked at least 0
		for range parts {
			last[i] = max(last[i], ends[d.below(len(ends))])
		}
	}
	slices.Sort(last)
	return last
}

func (o Open) ends() []float64 {
	k, tails := newKnown(o.Ended), knownOf(o.Tails)
	slots := max(o.Slots, 1)
	leases := 1 + len(o.Running) + slots + min(o.Free, 4*slots*bits.Len(uint(o.Free/slots+1))) //lint:checked >= 0
	repetitions := max(leastRepetitions, min(mostRepetitions, mostEvents/leases))
	key := philox.New(0, "forecast/open")
	ends := make([]float64, repetitions)
	for i := range ends {
		d := draws{key: key, repetition: uint64(i)} //lint:checked at least 0
		if o.Mapped {
			ends[i] = tails.rest(&d, 1, o.Since)
			continue
		}
		c := openCourse{Open: o, known: k, draws: &d, free: o.Free, left: o.Free}
		if ends[i] = c.run(); len(o.Tails) > 0 {
			ends[i] += tails.rest(&d, 1, 0)
		}
	}
	slices.Sort(ends)
	return ends
}

// openCourse is one repetition of the rest of a round.
type openCourse struct {
	Open
	known known
	draws *draws

	now        float64
	free, left int // leaves to begin, and to end besides those at work
	idle       int
	copies     int
	tasks      []openTask
	overdue    []int
	events     events
}

type openTask struct {
	leaves        int
	ended, copied bool
}

// run returns when the last leaf ends.
func (c *openCourse) run() float64 {
	c.idle = c.Slots
	for _, r := range c.Running {
		c.begin(r.Leaves, r.Seconds)
		c.left += r.Leaves
		if r.Copy {
			c.copy(len(c.tasks)-1, r.Copied)
		}
	}
	for c.left > 0 {
		c.assign()
		e := heap.Pop(&c.events).(event) // while a leaf has not ended, an end is an event
		c.now = e.at
		switch t := &c.tasks[e.task]; {
		case t.ended:
		case e.overdue:
			c.overdue = append(c.overdue, e.task)
		default:
			c.end(t)
		}
	}
	return c.now
}

func (c *openCourse) end(t *openTask) {
	t.ended = true
	c.left -= t.leaves
	c.idle++
	if t.copied {
		c.idle++
		c.copies--
	}
}

// begin puts a task to work that has been so for some seconds.
func (c *openCourse) begin(leaves int, since float64) {
	at := len(c.tasks)
	c.tasks = append(c.tasks, openTask{leaves: leaves})
	c.idle--
	takes := c.known.rest(c.draws, leaves, since)
	heap.Push(&c.events, event{at: c.now + takes, task: at})
	if c.Copies.After == 0 {
		return
	}
	usual := float64(c.known.leaf * float64(leaves))
	if due := max(float64(c.Copies.After*usual), c.Copies.Least) - since; due < takes {
		heap.Push(&c.events, event{at: c.now + max(due, 0), task: at, overdue: true})
	}
}

func (c *openCourse) copy(at int, since float64) {
	t := &c.tasks[at]
	t.copied = true
	c.idle--
	c.copies++
	heap.Push(&c.events, event{at: c.now + c.known.rest(c.draws, t.leaves, since), task: at})
}

// assign gives idle slots something to do.
func (c *openCourse) assign() {
	for c.idle > 0 && c.free > 0 {
		leaves := min(c.free, LeavesOfLease(c.Total, c.free, c.Slots, c.known.leafTime()))
		c.free -= leaves
		c.begin(leaves, 0)
	}
	if float64(c.Total-c.left) < math.Ceil(float64(c.Copies.From*float64(c.Total))) {
		return
	}
	for c.idle > 0 && len(c.overdue) > 0 && (c.Copies.Most == 0 || c.copies < c.Copies.Most) {
		late := c.overdue[0]
		c.overdue = c.overdue[1:]
		if t := &c.tasks[late]; !t.ended && !t.copied {
			c.copy(late, 0)
		}
	}
}
