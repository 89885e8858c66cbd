package forecast

import (
	"cmp"
	"container/heap"
	"math/bits"
	"slices"

	"github.com/gram-compute/gram/kernelops/philox"
)

// Round is tasks that are handed out in order to slots as they become free. When all have begun, idle slots take
// copies of those that take long; when one of two attempts ends, both slots are free.
type Round struct {
	Tasks, Slots int // at least 1 each
	Times        Times
	Copies       Copies
}

// Simulate repeats rounds that follow each other, and returns in ascending order how long all of them took together,
// once for each repetition. What is drawn is a function of the seed, the repetition, the round, the task and the
// attempt. One repetition takes O(n log n) for n tasks.
func Simulate(rounds []Round, repetitions int, seed uint64) []float64 {
	key := philox.New(seed, "forecast")
	totals := make([]float64, repetitions)
	for i := range totals {
		for r, round := range rounds {
			times := round.Times.sorted
			totals[i] += round.Once(func(task, attempt int) float64 {
				drawn := key.Uint64(uint64(r)<<32|uint64(i), uint64(task)<<1|uint64(attempt))
				at, _ := bits.Mul64(drawn, uint64(len(times)))
				return times[at]
			})
		}
	}
	slices.Sort(totals)
	return totals
}

// Once returns how long the round takes where an attempt at a task takes as long as drawn: attempt 0 is the original,
// 1 its copy.
func (r Round) Once(draw func(task, attempt int) float64) float64 {
	c := course{Round: r, draw: draw, idle: r.Slots, tasks: make([]task, r.Tasks)}
	if r.Copies.After > 0 {
		c.patience = r.Times.patience(r.Copies)
	}
	for {
		c.assign()
		e := heap.Pop(&c.events).(event) // while a task has not ended, its end is an event
		c.now = e.at
		switch t := &c.tasks[e.task]; {
		case t.ended:
		case e.overdue:
			c.overdue = append(c.overdue, e.task)
		default:
			c.end(t)
			if c.ended == r.Tasks {
				return c.now
			}
		}
	}
}

// course is one run of a round.
type course struct {
	Round
	draw     func(task, attempt int) float64
	patience float64 // how long a task may take before it is copied

	now     float64
	idle    int // slots
	begun   int // tasks
	ended   int
	copies  int // at work
	tasks   []task
	overdue []int // tasks to be copied, in the order in which they became so
	events  events
}

type task struct{ ended, copied bool }

func (c *course) end(t *task) {
	t.ended = true
	c.ended++
	c.idle++
	if t.copied {
		c.idle++
		c.copies--
	}
}

// assign gives idle slots something to do.
func (c *course) assign() {
	for ; c.idle > 0 && c.begun < c.Tasks; c.begun++ {
		c.idle--
		takes := c.draw(c.begun, 0)
		heap.Push(&c.events, event{at: c.now + takes, task: c.begun})
		if c.Copies.After > 0 && takes > c.patience {
			heap.Push(&c.events, event{at: c.now + c.patience, task: c.begun, overdue: true})
		}
	}
	if float64(c.ended) < float64(c.Copies.From*float64(c.Tasks)) {
		return
	}
	for c.idle > 0 && len(c.overdue) > 0 && (c.Copies.Most == 0 || c.copies < c.Copies.Most) {
		late := c.overdue[0]
		c.overdue = c.overdue[1:]
		if t := &c.tasks[late]; !t.ended {
			t.copied = true
			c.idle--
			c.copies++
			heap.Push(&c.events, event{at: c.now + c.draw(late, 1), task: late})
		}
	}
}

// event is the end of an attempt, or the moment from which on a task may be copied.
type event struct {
	at      float64
	task    int
	overdue bool
}

// events is a heap of them. Of those at one moment ends come first, and then the task that began first.
type events []event

func (e events) Len() int      { return len(e) }
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e events) Less(i, j int) bool {
	a, b := e[i], e[j]
	if a.at != b.at {
		return a.at < b.at
	}
	if a.overdue != b.overdue {
		return b.overdue
	}
	return cmp.Less(a.task, b.task)
}

// Push adds an event; package heap calls it.
func (e *events) Push(x any) { *e = append(*e, x.(event)) }

// Pop takes the last event off; package heap calls it.
func (e *events) Pop() any {
	last := len(*e) - 1
	popped := (*e)[last]
	*e = (*e)[:last]
	return popped
}
