package state_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"pgregory.net/rapid"
)

// retiredModel is what a state should remember of retired jobs, as a plain map.
type retiredModel struct {
	*rapid.T
	state state.State
	now   int64
	gone  map[string]state.Retired
	ended []string
}

func (m *retiredModel) apply(cmd *pb.Command) state.Reply {
	next, reply := state.Apply(m.state, at(m.now, cmd))
	if reply.Err != nil {
		m.Fatalf("%v: %v", cmd, reply.Err)
	}
	m.state = next
	return reply
}

// end adds jobs that have ended, but not under ids that are taken.
func (m *retiredModel) end(first, n int) {
	for i := first; i < first+n; i++ {
		id := fmt.Sprintf("j%d", i%700)
		next, reply := state.Apply(m.state, at(m.now, submit(id, "h")))
		_, retired := m.gone[id]
		if taken := reply.Err != nil; taken != retired {
			m.Fatalf("a submit under %s: %v; retired %t", id, reply.Err, retired)
		}
		if reply.Created {
			m.state, m.ended = next, append(m.ended, id)
			m.apply(&pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: id}}})
		}
	}
}

// retire retires what has ended, and notes what this forgets: MaxUpkeep of the old ones, in order of id.
func (m *retiredModel) retire(pass int64) {
	m.now += pass
	for batch := range slices.Chunk(append(m.ended, "none"), state.MaxUpkeep) {
		for _, id := range batch {
			if job, ok := m.state.Job(id); ok {
				m.gone[id] = state.Retired{ID: id, Number: job.Number, RetiredAt: m.now, OwnOutput: true}
			}
		}
		m.apply(retire(m.now, 1, batch...))
		forgotten := 0
		for _, id := range slices.Sorted(maps.Keys(m.gone)) {
			if r := m.gone[id]; r.Swept && m.now-r.RetiredAt > 30*day && forgotten < state.MaxUpkeep {
				delete(m.gone, id)
				forgotten++
			}
		}
	}
	m.ended = nil
}

func (m *retiredModel) sweep(first, step int) {
	ids := slices.Sorted(maps.Keys(m.gone))
	var marked []string
	for i := first; i < len(ids) && len(marked) < state.MaxUpkeep; i += step {
		marked = append(marked, ids[i])
		r := m.gone[ids[i]]
		r.Swept = true
		m.gone[ids[i]] = r
	}
	if len(marked) > 0 {
		m.apply(markSwept(nil, marked))
	}
}

func (m *retiredModel) setClock(back int64) {
	m.now = max(m.now-back, 1)
	m.apply(setClock(m.now))
	for id, r := range m.gone {
		r.RetiredAt = min(r.RetiredAt, m.now)
		m.gone[id] = r
	}
}

// check compares what a state shows with the map.
func (m *retiredModel) check(s state.State, gone map[string]state.Retired) {
	m.Helper()
	var got, want []state.Retired
	s.Retired.Each(func(r state.Retired) bool { got = append(got, r); return true })
	for _, id := range slices.Sorted(maps.Keys(gone)) {
		want = append(want, gone[id])
		if r, ok := s.Retired.Get(id); !ok || r != gone[id] {
			m.Fatalf("%s is %+v, %t; want %+v", id, r, ok, gone[id])
		}
	}
	if !slices.Equal(got, want) || s.Retired.Count() != len(want) {
		m.Fatalf("%d retired:\n%+v\nwant\n%+v", s.Retired.Count(), got, want)
	}
	if _, ok := s.Retired.Get("none"); ok {
		m.Fatalf("a job that never was is retired")
	}
	for stop := range min(3, len(want)) {
		seen := 0
		s.Retired.Each(func(state.Retired) bool { seen++; return seen <= stop })
		if seen != stop+1 {
			m.Fatalf("visited %d, told to stop after %d", seen, stop+1)
		}
	}
}

// Jobs are retired, swept and forgotten, the clock is set, snapshots are read: what is remembered is what a plain map
// holds, and states that were taken before stay what they were.
func TestRetiredJobsAreAMap(t *testing.T) {
	type taken struct {
		state state.State
		gone  map[string]state.Retired
	}
	rapid.Check(t, func(t *rapid.T) {
		m := &retiredModel{T: t, state: state.New(), now: 100 * day, gone: map[string]state.Retired{}}
		var before []taken
		for range rapid.IntRange(1, 15).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0, 1:
				m.end(rapid.IntRange(0, 700).Draw(t, "first"), rapid.SampledFrom([]int{1, 20, 300}).Draw(t, "jobs"))
				m.retire(rapid.SampledFrom([]int64{1, 40 * day}).Draw(t, "pass"))
			case 2:
				m.sweep(rapid.IntRange(0, 50).Draw(t, "first"), rapid.IntRange(1, 3).Draw(t, "every"))
			case 3:
				m.setClock(rapid.SampledFrom([]int64{0, 1, 35 * day, 80 * day}).Draw(t, "back"))
			case 4:
				m.state = reread(t, m.state)
			}
			m.check(m.state, m.gone)
			before = append(before, taken{m.state, maps.Clone(m.gone)})
		}
		for _, old := range before {
			m.check(old.state, old.gone)
		}
	})
}
