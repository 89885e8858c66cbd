package kernelperceptron

import (
	"math"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs/kernels"
	"github.com/gram-compute/gram/kernelops"
)

// learner goes through records and changes a state. One goroutine.
type learner struct {
	*state
	ops    *kernelops.Set
	steps  []float64 // class weights
	budget int
	drop   string

	place map[dataset.Identity]int // of the records that are support vectors
	ws    kernelops.Workspace
	tile  kernelops.Matrix // kernel values of a chunk's records with the support vectors
	gram  kernelops.Matrix // and with each other
	f     []float64
}

// newLearner takes a state over.
func newLearner(s *state, p Params, ops *kernelops.Set) (*learner, error) {
	steps, err := p.steps(s.space.Labels.List())
	if err != nil {
		return nil, err
	}
	l := &learner{state: s, ops: ops, steps: steps, budget: p.Budget, drop: p.Drop,
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
		l.score(l.ops, l.f, l.tile.Data[i*l.tile.Stride:][:l.supports()])
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
	}
	return nil
}

// measure computes the kernel values of a chunk, with room for the support vectors that it brings.
func (l *learner) measure(c chunk) {
	n, had := c.x.Rows, l.supports()
	stride := had + n
	if cap(l.tile.Data) < n*stride {
		l.tile.Data = make([]float32, n*(stride+stride/4))
	}
	l.tile = kernelops.Matrix{Data: l.tile.Data[:n*stride], Rows: n, Cols: had, Stride: stride}
	if l.gram.Rows != n {
		l.gram = kernelops.NewMatrix(n, n)
	}
	if had > 0 {
		l.ops.KernelMatrix(l.tile, l.kernel, c.x, l.matrix(), &l.ws)
	}
	l.ops.KernelMatrixSymmetric(l.gram, l.kernel, c.x, &l.ws)
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
	for later := i + 1; later < len(c.ids); later++ {
		l.tile.Data[later*l.tile.Stride+place] = l.gram.Row(later)[i]
	}
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
