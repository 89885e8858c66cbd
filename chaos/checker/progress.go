package checker

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/gram-compute/gram/chaos/history"
)

// replicas is I6: at the end, and wherever two answers told of the same index.
func replicas(_ context.Context, e *Evidence, v *verdict) error {
	told := make(map[uint64]history.Position)
	for _, op := range e.Operations {
		if op.Status == nil {
			continue
		}
		now := *op.Status
		before, known := told[now.Index]
		v.must(!known || before.Digest == now.Digest, "state at index %d: %s says %.16s, %s says %.16s", now.Index,
			before.Leader, before.Digest, now.Leader, now.Digest)
		told[now.Index] = now
	}
	for _, r := range e.Replicas {
		first := e.Replicas[0]
		v.must(r.Index == first.Index, "at rest %s has applied %d entries, %s %d", first.Member, first.Index, r.Member,
			r.Index)
		v.must(r.Digest == first.Digest, "the state at index %d: %s has %.16s, %s %.16s", r.Index, first.Member,
			first.Digest, r.Member, r.Digest)
	}
	v.must(len(e.Replicas) > 1, "%d replicas could be asked", len(e.Replicas))
	return nil
}

// sight is a job as one answer tells of it, between two instants.
type sight struct {
	invoked, returned time.Duration
	by                string
	history.Job
}

// sights are all answers about each job.
func sights(e *Evidence) map[string][]sight {
	seen := make(map[string][]sight)
	add := func(op history.Operation, job history.Job) {
		seen[job.ID] = append(seen[job.ID], sight{op.Invoked, op.Returned, string(op.Kind) + " of " + op.Member, job})
	}
	last := time.Duration(0)
	for _, op := range e.Operations {
		last = max(last, op.Returned)
		if op.Seen != nil {
			add(op, *op.Seen)
		}
		for _, job := range op.Listed {
			add(op, job)
		}
	}
	for _, job := range e.Jobs {
		seen[job.GetId()] = append(seen[job.GetId()], sight{last + 1, last + 1, "the end",
			history.Job{ID: job.GetId(), SpecHash: job.GetSpecHash(), State: stateOf(job),
				Round:  job.GetProgress().GetRound(),
				Remade: job.GetCounters().GetRemade().GetChanges(), Model: modelOf(job)}})
	}
	return seen
}

// rank orders the states: a job moves along it only. A terminal state is the last.
var rank = map[history.State]int{history.Queued: 1, history.Planning: 2, history.Running: 3,
	history.Succeeded: 4, history.Failed: 4, history.Cancelled: 4}

func rankOf(s history.State) int { return rank[s] }

// further reports whether a sight is of a later state of the job than another.
func (s *sight) further(than *sight) bool {
	return cmp.Or(cmp.Compare(s.Remade, than.Remade), cmp.Compare(rank[s.State], rank[than.State]),
		cmp.Compare(s.Round, than.Round)) > 0
}

// progress is I7. Of two answers, one is later if its call began after the other had returned.
func progress(_ context.Context, e *Evidence, v *verdict) error {
	all := sights(e)
	for _, id := range slices.Sorted(maps.Keys(all)) {
		onward(v, id, all[id])
	}
	positions := make(map[int]history.Position)
	for _, op := range e.Operations { // each client makes one call at a time
		if op.Status == nil {
			continue
		}
		before, now := positions[op.Client], *op.Status
		v.must(now.Term >= before.Term && now.Index >= before.Index,
			"client %d was told of term %d, index %d, and then at %v by %s of term %d, index %d",
			op.Client, before.Term, before.Index, op.Returned, op.Member, now.Term, now.Index)
		positions[op.Client] = now
	}
	return nil
}

func onward(v *verdict, id string, seen []sight) {
	began, ended := slices.Clone(seen), slices.Clone(seen)
	// total order: equal ones are as they were recorded
	slices.SortStableFunc(began, func(a, b sight) int { return cmp.Compare(a.invoked, b.invoked) })
	// total order: likewise
	slices.SortStableFunc(ended, func(a, b sight) int { return cmp.Compare(a.returned, b.returned) })
	var furthest, end *sight
	next := 0
	for i := range began {
		now := &began[i]
		for ; next < len(ended) && ended[next].returned < now.invoked; next++ {
			if past := &ended[next]; furthest == nil || past.further(furthest) {
				furthest = past
			}
		}
		if rank[now.State] == 0 {
			v.fail("job %s is told to be %q", id, now.State)
			continue
		}
		if furthest != nil {
			v.must(now.Follows(furthest.Job, rankOf),
				"job %s was %s in round %d (%s at %v), and later %s in round %d (%s at %v)",
				id, furthest.State, furthest.Round, furthest.by, furthest.returned, now.State, now.Round, now.by,
				now.returned)
		}
		if now.State.Terminal() {
			v.must(end == nil || end.State == now.State && end.Model == now.Model,
				"job %s ended as %s %.16s and as %s %.16s", id, state(end), model(end), now.State, now.Model)
			end = now
		}
	}
}

func state(s *sight) history.State {
	if s == nil {
		return ""
	}
	return s.State
}

func model(s *sight) string {
	if s == nil {
		return ""
	}
	return s.Model
}
