package kernelperceptron

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// learner goes through records and changes a state. One goroutine.
type learner struct {
	*state
	steps  []float64 // class weights
	budget int
	drop   string

	maxState int64 // bytes; 0 for no bound

	place  map[int64]int  // of the records that are support vectors, retired or not, by ordinal
	points kernels.Points // of a chunk
	sums   sums
	stale  bool             // the coefficients of a place that is in the sums have changed
	gram   kernelops.Matrix // kernel values of a chunk's records with each other
	marks  marks            // of gram
	f      []float64
}

// newLearner takes a state over.
func newLearner(s *state, p Params, ops *kernelops.Set) (*learner, error) {
	steps, err := p.ClassWeights.By(s.space.Labels.List())
	if err != nil {
		return nil, err
	}
	l := &learner{state: s, steps: steps, budget: p.Budget, drop: p.Drop, sums: newSums(ops),
		place: make(map[int64]int, s.supports()), f: make([]float64, s.columns())}
	for i, record := range s.of {
		l.place[record] = i
	}
	l.held.Begin(l.kernel, ops, l.matrix())
	return l, nil
}

// learn is the body of Algorithm 4's loop for each record of a chunk. O(records * support vectors *
// (width + columns)).
func (l *learner) learn(c chunk) error {
	if err := l.measure(c); err != nil {
		return err
	}
	for i, id := range c.IDs {
		weight := c.Weight(i)
		if weight == 0 {
			continue
		}
		if l.stale {
			l.sums.again(&l.machine, i)
			l.stale = false
		}
		l.sums.at(&l.machine, l.f, i)
		own := float64(l.gram.Row(i)[i])
		against, gap := rival(l.f, int(c.Class[i]))
		if !jobs.Finite(l.f) || own-own != 0 {
			return kernels.Beyond(id, l.kernel.Kernel)
		}
		l.radius = max(l.radius, own)
		l.roads.Add(l.held.Roads(l.kernel, &l.points, i, l.live, l.sums.marks.column(i)))
		l.seen++
		if gap > 0 {
			l.right(c.of[i], gap)
			continue
		}
		l.mistake(c, i, against, float64(weight*l.steps[c.Class[i]]))
		if err := l.fits(); err != nil {
			return err
		}
	}
	return nil
}

// fits refuses support vectors that no state holds while they are few: sparse records are filled up, so that they take
// more memory than their shard.
func (l *learner) fits() error {
	size := 4*int64(len(l.rows)) + 8*int64(len(l.alpha)+len(l.lag)) + stepBytes*int64(len(l.votes.place))
	if l.maxState == 0 || size <= l.maxState {
		return nil
	}
	return protocol.InputFault(protocol.CodeStateTooBig,
		"%d support vectors take %d bytes; max_state_bytes is %d", l.supports(), size, l.maxState).
		WithHint("Set params.budget with form plain, raise run.max_state_bytes, or make the vectors narrower.")
}

// measure computes the kernel values of a chunk.
func (l *learner) measure(c chunk) error {
	n := c.X.Rows
	l.points.Set(l.kernel, l.sums.Ops, c.X)
	if err := l.sums.begin(&l.machine, &l.points, n); err != nil {
		return err
	}
	l.stale = false
	if l.gram.Rows != n {
		l.gram = kernelops.NewMatrix(n, n)
	}
	l.marks.begin(n, n)
	l.sums.Mark = func(i, j int) {
		l.marks.set(i, j)
		l.marks.set(j, i)
	}
	return l.sums.Symmetric(l.kernel, l.gram, &l.points)
}

// right notes a record on the right side.
func (l *learner) right(record int64, gap float64) {
	l.gap = min(l.gap, gap)
	if place, ok := l.place[record]; ok && place < l.live {
		for y, f := range l.f {
			l.norm += float64(l.alpha[place*len(l.f)+y] * (f - l.b[y]))
		}
	}
	if n := len(l.votes.survived); n > 0 {
		l.votes.survived[n-1]++
	}
}

// mistake takes a step for record i of a chunk: f <- f + y k(x, .) + y.
func (l *learner) mistake(c chunk, i, against int, step float64) {
	class, columns := int(c.Class[i]), l.columns()
	places := l.live
	place, known := l.place[c.of[i]]
	if !known || place >= l.live {
		place = l.add(c, i)
	}
	l.mistakes[l.epoch()]++
	l.even = l.even && step == 1
	change(l.alpha[place*columns:][:columns], class, against, step)
	if l.bias {
		change(l.b, class, against, step)
	}
	if place < places { // it is among those added up
		l.stale = true
	} else {
		l.sums.add(&l.machine, place, i)
	}
	switch l.form {
	case formAveraged:
		late := float64(step * float64(l.seen-1))
		change(l.lag[place*columns:][:columns], class, against, late)
		if l.bias {
			change(l.bLag, class, against, late)
		}
	case formVoted:
		l.votes.add(l.number[place], against, step, 1)
	}
}
