package kernelperceptron

import (
	"fmt"
	"math"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs/kernels"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// learner goes through records and changes a state. One goroutine.
type learner struct {
	*state
	steps  []float64 // class weights
	budget int
	drop   string

	maxState protocol.ByteSize // 0 for no bound

	place map[dataset.Identity]int // of the records that are support vectors
	sums  sums
	stale bool             // the coefficients of a place that is in the sums have changed
	gram  kernelops.Matrix // kernel values of a chunk's records with each other
	f     []float64
}

// newLearner takes a state over.
func newLearner(s *state, p Params, ops *kernelops.Set) (*learner, error) {
	steps, err := p.steps(s.space.Labels.List())
	if err != nil {
		return nil, err
	}
	l := &learner{state: s, steps: steps, budget: p.Budget, drop: p.Drop, sums: sums{ops: ops},
		place: make(map[dataset.Identity]int, s.supports()), f: make([]float64, s.columns())}
	for i, id := range s.ids {
		l.place[id] = i
	}
	return l, nil
}

// learn is the body of Algorithm 4's loop for each record of a chunk. O(records * support vectors *
// (width + columns)).
func (l *learner) learn(c chunk) error {
	l.measure(c)
	for i, id := range c.ids {
		weight := c.weight(i)
		if weight == 0 {
			continue
		}
		if l.stale {
			l.sums.again(&l.machine, i)
			l.stale = false
		}
		l.sums.at(&l.machine, l.f, i)
		own := float64(l.gram.Row(i)[i])
		against, gap := rival(l.f, int(c.class[i]))
		if !allFinite(l.f) || own-own != 0 {
			return kernels.Beyond(id, l.kernel)
		}
		l.radius = max(l.radius, own)
		l.seen++
		if gap > 0 {
			l.right(id, gap)
			continue
		}
		l.mistake(c, i, against, float64(weight*l.steps[c.class[i]]))
		if err := l.fits(); err != nil {
			return err
		}
	}
	return nil
}

// fits refuses support vectors that no state holds while they are few: sparse records are filled up, so that they take more
// memory than their shard.
func (l *learner) fits() error {
	size := 4*int64(len(l.rows)) + 8*int64(len(l.alpha)+len(l.lag))
	if l.maxState == 0 || size <= int64(l.maxState) {
		return nil
	}
	return &protocol.Fault{Code: protocol.CodeStateTooBig, Class: protocol.ClassInput, Offset: -1,
		What: fmt.Sprintf("%d support vectors take %d bytes; max_state_bytes is %d", l.supports(), size, l.maxState),
		Hint: "Set params.budget, raise run.max_state_bytes, or make the vectors narrower."}
}

// measure computes the kernel values of a chunk.
func (l *learner) measure(c chunk) {
	n := c.x.Rows
	l.sums.begin(&l.machine, c.x, n)
	l.stale = false
	if l.gram.Rows != n {
		l.gram = kernelops.NewMatrix(n, n)
	}
	l.sums.ops.KernelMatrixSymmetric(l.gram, l.kernel, c.x, &l.sums.ws)
}

// right notes a record on the right side.
func (l *learner) right(id dataset.Identity, gap float64) {
	l.gap = min(l.gap, gap)
	if place, ok := l.place[id]; ok {
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
	class, columns := int(c.class[i]), l.columns()
	places := l.supports()
	place, known := l.place[c.ids[i]]
	if !known {
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
		l.votes.place = append(l.votes.place, int32(place))
		l.votes.against = append(l.votes.against, int32(against))
		l.votes.step, l.votes.survived = append(l.votes.step, step), append(l.votes.survived, 1)
	}
}

// add gives record i of a chunk a place, and tells the records after it their kernel values with it.
func (l *learner) add(c chunk, i int) int {
	place, columns := l.supports(), l.columns()
	if l.budget > 0 && place >= l.budget {
		place = l.vacate()
	} else {
		l.rows = append(l.rows, c.x.Row(i)...)
		l.ids, l.class, l.born = append(l.ids, dataset.Identity{}), append(l.class, 0), append(l.born, 0)
		l.alpha = append(l.alpha, make([]float64, columns)...)
		if l.form == formAveraged {
			l.lag = append(l.lag, make([]float64, columns)...)
		}
	}
	copy(l.rows[place*l.space.Width:], c.x.Row(i))
	l.ids[place], l.class[place] = c.ids[i], c.class[i]
	l.born[place] = int64(l.supports()) + l.dropped
	l.place[c.ids[i]] = place
	copy(l.sums.tile.Row(place), l.gram.Row(i))
	return place
}

// vacate drops a support vector, with all that it contributed, and returns its place.
func (l *learner) vacate() int {
	place, columns := l.leaving(), l.columns()
	for y := range columns {
		at := place*columns + y
		if l.bias {
			l.b[y] -= l.alpha[at]
		}
		l.alpha[at] = 0
	}
	delete(l.place, l.ids[place])
	l.dropped++
	return place
}

// leaving is the place of the support vector that the budget drops: the oldest, or of the smallest the oldest.
func (l *learner) leaving() int {
	columns, best, least := l.columns(), 0, math.Inf(1)
	for i, born := range l.born {
		size := 0.0
		if l.drop == dropSmallest {
			for _, a := range l.alpha[i*columns:][:columns] {
				size += float64(a * a)
			}
		}
		if size < least || size == least && born < l.born[best] {
			best, least = i, size
		}
	}
	return best
}
