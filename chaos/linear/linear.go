// Package linear judges whether what clients saw of jobs could have been seen if calls had taken
// effect one at a time, each at some instant between its begin and its end (Herlihy and
// Wing, "Linearizability: a correctness condition for concurrent objects", 1990). It searches for
// such an order with Porcupine, for each job by itself: jobs do not touch each other, and
// linearizability is local.
package linear

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/gram-compute/gram/chaos/history"
)

var (
	// ErrViolation: no order explains what clients saw.
	ErrViolation = errors.New("the history is not linearizable")
	// ErrUndecided: the search took too long, which counts as a failure.
	ErrUndecided = errors.New("no order was found in time, nor that there is none")
)

// searchLimit is for all jobs together.
const searchLimit = 5 * time.Minute

// Check returns nil if the history is linearizable, else an error for every job whose is not.
func Check(ops []history.Operation) error {
	jobs := callsOf(ops)
	deadline := time.Now().Add(searchLimit)
	var failures []error
	for _, id := range slices.Sorted(maps.Keys(jobs)) {
		left := max(time.Until(deadline), time.Millisecond) // 0 would be no limit
		switch porcupine.CheckOperationsTimeout(model(jobs[id]), jobs[id], left) {
		case porcupine.Illegal:
			failures = append(failures, fmt.Errorf("%w: job %s:\n%s", ErrViolation, id, describe(jobs[id])))
		case porcupine.Unknown:
			failures = append(failures, fmt.Errorf("%w: job %s with %d calls", ErrUndecided, id, len(jobs[id])))
		}
	}
	return errors.Join(failures...)
}

// Calls is how many calls of a history say something about a job, and of how many jobs.
func Calls(ops []history.Operation) (calls, jobs int) {
	of := callsOf(ops)
	for id := range of {
		calls += len(of[id])
	}
	return calls, len(of)
}

// callsOf are the calls that say something, by job. A list is a look at each job on it; what it
// does not hold it may have had no room for.
func callsOf(ops []history.Operation) map[string][]porcupine.Operation {
	jobs := make(map[string][]porcupine.Operation)
	for _, op := range ops {
		switch op.Kind {
		case history.Submit, history.Get, history.Cancel:
			if outcome, tells := outcomeOf(op); tells {
				jobs[op.Job] = append(jobs[op.Job], call(op, outcome))
			}
		case history.List:
			for _, job := range op.Listed {
				seen := op
				seen.Kind, seen.Job, seen.Seen = history.Get, job.ID, &job
				jobs[job.ID] = append(jobs[job.ID], call(seen, outcome{kind: answered, seen: job}))
			}
		}
	}
	return jobs
}

func call(op history.Operation, out outcome) porcupine.Operation {
	returned := int64(op.Returned)
	if out.kind == unknown {
		returned = math.MaxInt64 // it may take effect whenever
	}
	return porcupine.Operation{ClientId: op.Client, Input: op, Output: out, Call: int64(op.Invoked), Return: returned}
}

// describe lists the calls in the order in which they began, the last of many.
func describe(calls []porcupine.Operation) string {
	const most = 60
	calls = slices.Clone(calls)
	// total order: the history's, where they began at once
	slices.SortStableFunc(calls, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	var text strings.Builder
	if left := len(calls) - most; left > 0 {
		fmt.Fprintf(&text, "  %d earlier calls\n", left)
		calls = calls[left:]
	}
	for _, c := range calls {
		op := c.Input.(history.Operation)
		fmt.Fprintf(&text, "  %12v to %12v  client %d at %s: %s -> %s\n", op.Invoked, op.Returned, op.Client, op.Member,
			op.Kind, c.Output)
	}
	return text.String()
}
