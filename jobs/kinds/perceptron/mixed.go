package perceptron

import (
	"cmp"
	"context"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/shuffle"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops"
)

// mixedPhase learns from all blocks at once, a leaf from each, and each from the shared weights: an epoch of iterative
// parameter mixing.
type mixedPhase struct{ job }

func (p *mixedPhase) phase() jobs.Phase {
	return jobs.MapReduce[*state, *mix]{
		Name: overMixed, State: jobs.Load[state], Partial: func() *mix { return new(mix) },
		Map: p.learn, Merge: (*mix).plus, Step: p.finish, Gathers: shuffle.Gathers(p.Params.Shuffle),
		Rounds: jobs.Most(int64(p.Params.Epochs)),
	}.Phase()
}

// mix is what leaves learned together.
type mix struct {
	change, mean                     *sums.Exact // mean has no sums but of the averaged form
	leavesOf                         []int32
	leaves, steps, mistakes, updates int64
}

// learn learns from the leaf's own block.
func (p *mixedPhase) learn(ctx context.Context, s *state, leaf jobs.Leaf, ops *kernelops.Set) (*mix, error) {
	l := &Learner{Setup: s.Setup, ops: ops, weights: slices.Clone(s.weights)}
	l.ready()
	if p.Params.Mixing == mixChanged {
		l.touched = make([]bool, len(l.weights))
	}
	err := p.newWay(s.space, s.epoch, func(batch []Record) error {
		l.LearnAll(batch)
		return nil
	}).over(ctx, leaf.ReadBlock(ctx, jobs.Input, leaf.Index))
	if err == nil {
		err = l.fault()
	}
	if err != nil {
		return nil, err
	}
	return p.mixOf(l, s.weights), nil
}

// mixOf is what one leaf learned from the shared weights.
func (p *mixedPhase) mixOf(l *Learner, shared []float32) *mix {
	m := &mix{change: sums.NewExact(len(shared)), mean: sums.NewExact(0), steps: l.steps, mistakes: l.mistakes,
		updates: l.updates}
	share := 1.0
	if p.Params.Mixing == mixMistakes {
		share = float64(l.mistakes)
	}
	if l.touched != nil {
		m.leavesOf = make([]int32, len(shared))
	}
	for i, w := range l.weights {
		m.change.Add(i, float64(share*(float64(w)-float64(shared[i]))))
		if m.leavesOf != nil && l.touched[i] {
			m.leavesOf[i] = 1
		}
	}
	if l.Form == Averaged {
		m.mean = sums.NewExact(len(shared))
		for i, w := range l.weights {
			m.mean.Add(i, float64(float64(l.steps)*(float64(w)-float64(shared[i])))-l.sums[i])
		}
	}
	if l.steps > 0 {
		m.leaves = 1
	}
	return m
}

// Fields lists the mix.
func (m *mix) Fields(f *jobs.Fields) {
	jobs.Make(f, &m.change).Fields(f, "change") // sums of the changes of the weights, each times its share
	// averaged: sums over all steps of the weights then, less the shared ones; else none
	jobs.Make(f, &m.mean).Fields(f, "mean")
	jobs.Optional(f, "leaves", &m.leavesOf, m.change.Len()) // changed: leaves with an update that reached the weight
	jobs.Tuple(f, "counts", &m.leaves, &m.steps, &m.mistakes, &m.updates)
}

// plus adds what the leaves to the right learned.
func (m *mix) plus(right *mix) (*mix, error) {
	m.leaves, m.steps = m.leaves+right.leaves, m.steps+right.steps
	m.mistakes, m.updates = m.mistakes+right.mistakes, m.updates+right.updates
	return m, cmp.Or(sums.Join(&m.change, right.change), sums.Join(&m.mean, right.mean),
		sums.Into(&m.leavesOf, right.leavesOf))
}

// finish mixes the weights of all leaves.
func (p *mixedPhase) finish(_ context.Context, s *state, all *mix, round jobs.Round) (jobs.Next, error) {
	if all.change.Len() != len(s.weights) || all.mean.Len() != len(s.sums) ||
		(all.leavesOf != nil) != (p.Params.Mixing == mixChanged) {
		return jobs.Next{}, jobs.Malformed("changes of %d weights, not %d", all.change.Len(), len(s.weights))
	}
	if all.steps == 0 {
		return jobs.Next{}, weightless()
	}
	s.own()
	p.mix(s.Learner, all)
	if err := s.fault(); err != nil {
		return jobs.Next{}, err
	}
	s.progress.mistakes, s.progress.updates = all.mistakes, all.updates
	return p.endEpoch(s, round.Plan), nil
}

// mix moves the weights by the mean change, and the sums so that weights - sums/steps stays the mean
// over all steps: with the weights w before and w' after, the steps T before and K of the epoch, and m the sum of
// what the weights were above w in each of those K,
//
//	u' = u + (T + K)(w' - w) - m.
func (p *mixedPhase) mix(l *Learner, all *mix) {
	shares := float64(all.leaves)
	if p.Params.Mixing == mixMistakes {
		shares = float64(max(1, all.mistakes)) // without mistakes there are no changes
	}
	l.steps += all.steps
	for i := range l.weights {
		if all.leavesOf != nil {
			shares = float64(max(1, all.leavesOf[i]))
		}
		before := float64(l.weights[i])
		l.weights[i] = float32(before + all.change.Float(i)/shares)
		if l.sums != nil {
			l.sums[i] += float64(float64(l.steps)*(float64(l.weights[i])-before)) - all.mean.Float(i)
		}
	}
}
