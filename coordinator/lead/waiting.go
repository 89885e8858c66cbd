package lead

import (
	"container/list"
	"context"
	"fmt"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// waiting is the calls for tasks that found none, in the order in which they came. One goroutine looks for tasks for
// all of them whenever something changes. If each call looked for itself, every commit would wake thousands.
type waiting struct {
	calls list.List // of *waiter
	sleep sleeper   // of serve
}

// waiter is a call that waits.
type waiter struct {
	worker string
	want   int
	place  *list.Element // nil once it is answered
	answer chan granted  // has room for the answer
}

// granted is what a call for tasks found.
type granted struct {
	view    state.State
	grants  []schedule.Grant
	courses map[string]*pb.Timeline
	err     error
}

func (g granted) found() bool { return len(g.grants) > 0 || g.err != nil }

// look looks for tasks for a worker in a view that was taken under lead.mu, which the caller still holds.
func (c Workers) look(
	lead *Leadership, view state.State, workerID string, want int, now time.Duration,
) (g granted) {
	g.view = view
	if !lead.board.Known(workerID, now) {
		g.err = connect.NewError(connect.CodeNotFound,
			fmt.Errorf("worker %q is not registered with this leader", workerID))
		return g
	}
	g.grants = lead.board.Lease(g.view, workerID, want, now)
	g.courses = c.timelines(lead, g.view, g.grants)
	return g
}

// wakeFor has time wake those who look again when the board wants it. The caller holds lead.mu.
func (l *Leadership) wakeFor(now time.Duration) (wake time.Duration, timed bool) {
	if wake, timed = l.board.NextWake(now); timed {
		l.deciding.rouse(wake)
		l.waiting.sleep.rouse(wake)
	}
	return wake, timed
}

// join queues a call. The caller holds lead.mu, and has looked for tasks under it.
func (w *waiting) join(call *waiter) {
	call.answer = make(chan granted, 1)
	call.place = w.calls.PushBack(call)
}

// leave takes a call out of the queue; false means that it has been answered. The caller holds lead.mu.
func (w *waiting) leave(call *waiter) bool {
	if call.place == nil {
		return false
	}
	w.calls.Remove(call.place)
	call.place = nil
	return true
}

// await waits until a queued call is answered, or its time is over.
func (c Workers) await(ctx context.Context, lead *Leadership, call *waiter, wait time.Duration) (g granted) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case g = <-call.answer:
		return g
	case <-timer.C:
	case <-lead.Ctx.Done():
		g.err = outcome.ErrNotLeader
	case <-c.tasks.Stopping():
		g.err = outcome.ErrShutdown
	case <-ctx.Done():
		g.err = context.Cause(ctx)
	}
	lead.mu.Lock()
	defer lead.mu.Unlock()
	if !lead.waiting.leave(call) {
		return <-call.answer
	}
	return g
}

const (
	// servedAtOnce is for how many calls serve looks before it lets others have the board.
	servedAtOnce = 64
	// restTimes is how many times as long as a search for all that wait serve rests after it, so that searches take
	// at most a fifth of one processor, however many calls wait. A search for a few takes microseconds.
	restTimes = 4
	leastRest = time.Millisecond
)

// serve looks for tasks for the calls that wait, whenever the view changes, leases are freed or time frees a task.
func (c Workers) serve(lead *Leadership) {
	for {
		began := c.clock.Mono()
		_, changed := c.fsm.View()
		lead.mu.Lock()
		freed := lead.freed
		lead.mu.Unlock()
		wake, timed := c.serveAll(lead)
		if rest := restTimes * (c.clock.Mono() - began); rest >= leastRest &&
			!c.sleepUntil(lead.Ctx, c.clock.Mono()+rest, true, nil, nil, nil) {
			return
		}
		if !c.sleepUntil(lead.Ctx, wake, timed, changed, freed, lead.waiting.sleep.roused) {
			return
		}
	}
}

// serveAll looks for tasks for every call that waits, and returns when to look again.
func (c Workers) serveAll(lead *Leadership) (wake time.Duration, timed bool) {
	lead.mu.Lock()
	defer lead.mu.Unlock()
	next := lead.waiting.calls.Front()
	for next != nil {
		now := c.clock.Mono()   // one time for all: what ends between two readings would wake nobody
		view, _ := c.fsm.View() // one for all: a task that turns up in between would go to a later call
		for n := 0; next != nil && n < servedAtOnce; n++ {
			call, _ := next.Value.(*waiter)
			next = next.Next()
			if g := c.look(lead, view, call.worker, call.want, now); g.found() {
				lead.waiting.leave(call)
				call.answer <- g
			}
		}
		if at, ok := lead.board.NextWake(now); ok && (!timed || at < wake) {
			wake, timed = at, true
		}
		next = c.letOthers(lead, next)
	}
	if timed {
		lead.deciding.rouse(wake)
	}
	lead.waiting.sleep.until(wake, timed)
	return wake, timed
}

// letOthers gives the board away for a moment, and returns the call to go on with: next may have left meanwhile.
func (c Workers) letOthers(lead *Leadership, next *list.Element) *list.Element {
	if next == nil {
		return nil
	}
	here := lead.waiting.calls.InsertBefore((*waiter)(nil), next)
	lead.mu.Unlock()
	lead.mu.Lock()
	next = here.Next()
	lead.waiting.calls.Remove(here)
	return next
}

// sleeper is a goroutine that sleeps until a time or a change, and may be wanted earlier. Its leadership's mu guards
// it.
type sleeper struct {
	asleep time.Duration // until when; 0 means until something changes
	roused chan struct{} // holds an element when it is to look again
}

func (s *sleeper) until(wake time.Duration, timed bool) {
	if s.asleep = 0; timed {
		s.asleep = wake
	}
}

// rouse wakes it if it would sleep beyond a time.
func (s *sleeper) rouse(wake time.Duration) {
	if s.asleep != 0 && s.asleep <= wake {
		return
	}
	select {
	case s.roused <- struct{}{}:
	default: // it has been
	}
}
