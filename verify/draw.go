package verify

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/gram-compute/gram/kernelops/philox"
	"github.com/gram-compute/gram/proof"
)

// work is what is repeated of a round.
type work struct {
	known bool           // the state that the round begins with is known before anything is repeated
	whole bool           // all leaves, merges and the step
	all   bool           // all leaves
	some  []int64        // else these, ascending: leaves, counted over the trees of the round
	drawn map[int64]bool // leaves that the sample chose; nil where all were
}

// leaves calls visit for each leaf to repeat.
func (w *work) leaves(of int64, visit func(leaf int64)) {
	if w.whole || w.all {
		for leaf := range of {
			visit(leaf)
		}
		return
	}
	for _, leaf := range w.some {
		visit(leaf)
	}
}

func (w *work) any() bool { return w.whole || w.all || len(w.some) > 0 }

func (w *work) count(of int64) int64 {
	if w.whole || w.all {
		return of
	}
	return int64(len(w.some))
}

// candidate is a leaf or round that may be drawn, with its random number.
type candidate struct {
	number uint64
	round  int
	leaf   int64
}

func (c candidate) compare(o candidate) int {
	return cmp.Or(cmp.Compare(c.number, o.number), cmp.Compare(c.round, o.round), cmp.Compare(c.leaf, o.leaf))
}

// candidates is a heap with the greatest on top.
type candidates []candidate

func (c candidates) Len() int           { return len(c) }
func (c candidates) Less(i, j int) bool { return c[i].compare(c[j]) > 0 }
func (c candidates) Swap(i, j int)      { c[i], c[j] = c[j], c[i] }
func (c *candidates) Push(x any)        { *c = append(*c, x.(candidate)) }
func (c *candidates) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

// sample draws n of the candidates that all yields: those with the smallest random numbers. Memory holds n.
func sample(n int, all func(yield func(candidate) bool)) []candidate {
	var first candidates
	if n <= 0 {
		return nil
	}
	all(func(r candidate) bool {
		switch {
		case len(first) < n:
			heap.Push(&first, r)
		case r.compare(first[0]) < 0:
			first[0] = r
			heap.Fix(&first, 0)
		}
		return true
	})
	slices.SortFunc(first, candidate.compare)
	return first
}

// draw decides what is repeated. It depends on the manifest, the kind and the draw alone.
func (v *verifier) draw() []work {
	plan := v.choose()
	v.needCarries(plan, v.tasks.Carries)
	return plan
}

// choose draws leaves and rounds.
func (v *verifier) choose() []work {
	plan := make([]work, len(v.rounds))
	eligible := int64(0)
	if v.result.Leaves.Of <= int64(v.cfg.Sample) {
		v.cfg.All = true // this is no more work than a sample
	}
	for i, r := range v.manifest.Rounds {
		plan[i].known = v.cfg.All || r.State || i == 0
		plan[i].whole = v.cfg.All
		if plan[i].known {
			eligible += r.Leaves
		}
	}
	v.result.DrawnOf, v.result.Unbacked = eligible, v.result.Leaves.Of-eligible
	switch {
	case v.cfg.All:
	case int64(v.cfg.Sample) >= eligible:
		for i := range plan {
			plan[i].whole = plan[i].known // merges and steps cost little beside the leaves
		}
	default:
		v.drawLeaves(plan)
		v.drawRounds(plan)
	}
	return plan
}

func (v *verifier) drawLeaves(plan []work) {
	key := philox.New(v.cfg.Draw, "verify/leaves")
	drawn := sample(v.cfg.Sample, func(yield func(candidate) bool) {
		for i, r := range v.manifest.Rounds {
			for leaf := int64(0); plan[i].known && leaf < r.Leaves; leaf++ {
				yield(candidate{key.Uint64(uint64(r.Round), uint64(leaf)), i, leaf})
			}
		}
	})
	for i := range plan {
		plan[i].drawn = map[int64]bool{}
	}
	for _, d := range drawn {
		plan[d.round].some = append(plan[d.round].some, d.leaf)
		plan[d.round].drawn[d.leaf] = true
	}
	for i := range plan {
		slices.Sort(plan[i].some)
	}
}

func (v *verifier) drawRounds(plan []work) {
	n := v.cfg.Rounds
	if n < 0 {
		if n = 1; v.manifest.Kept == proof.Full {
			n = 0
		}
	}
	key := philox.New(v.cfg.Draw, "verify/rounds")
	for _, d := range sample(n, func(yield func(candidate) bool) {
		for i, r := range v.manifest.Rounds {
			if plan[i].known {
				yield(candidate{number: key.Uint64(uint64(r.Round), 0), round: i})
			}
		}
	}) {
		plan[d.round].whole = true
	}
}

// needCarries adds the leaves whose carries later rounds of their phase need.
func (v *verifier) needCarries(plan []work, carries func(phase string) bool) {
	later := map[string]int{}
	for i := len(plan) - 1; i >= 0; i-- {
		phase := v.rounds[i].Phase
		if !carries(phase) {
			continue
		}
		w := &plan[i]
		if at, ok := later[phase]; ok && plan[at].any() {
			after := plan[at]
			w.all = w.all || after.whole || after.all || !slices.Equal(v.rounds[i].Trees, v.rounds[at].Trees)
			w.some = slices.Compact(slices.Sorted(slices.Values(slices.Concat(w.some, after.some))))
		}
		later[phase] = i
	}
}
