package supportvectormachine

import (
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
)

// joinRows is how many support vectors of the local phase have their kernel values at a time.
const joinRows = 256

// join computes the decisions on the records of a class anew, from all support vectors of the local phase, in float32
// kernel values as the rounds of training take them: stage prove measures what that leaves over. O(records * supports *
// width).
func (w *walk) join(g *group, class, base int, c rows.Chunk) error {
	n, slots := len(g.records), w.model.classes().Slots()
	if w.joining[class] == nil {
		w.joining[class] = (&proofSums{model: w.model}).termsOf(class)
	}
	w.sum = kernelops.Resize(w.sum, n*slots)
	clear(w.sum)
	for terms := w.joining[class]; len(terms) > 0; {
		var err error
		if terms, err = w.joinSome(g, terms); err != nil {
			return err
		}
	}
	for slot := range slots {
		for i, r := range g.records {
			f := w.sum[slot*n+i]
			if f-f != 0 {
				return kernels.Beyond(c.IDs[r], w.kernel.Kernel)
			}
			w.setDecision(base+r*w.perRecord(), slot, f)
		}
	}
	return nil
}

// joinSome adds the terms of the first support vectors to the sums of a group, and returns the others.
func (w *walk) joinSome(g *group, terms []proofTerm) ([]proofTerm, error) {
	end, count, last := 0, 0, -1
	w.moved = w.moved[:0]
	for ; end < len(terms) && (count < joinRows || terms[end].support == last); end++ {
		if j := terms[end].support; j != last {
			w.moved, last = append(w.moved, w.matrix().Row(j)...), j
			count++
		}
	}
	n := len(g.records)
	w.points.Set(w.coarse, w.evaluator.Ops, matrixOf(w.moved, count, w.space.Width))
	w.values = kernelops.Resize(w.values, count*n)
	tile := matrixOf(w.values, count, n)
	if err := w.evaluator.Matrix(w.coarse, tile, &w.points, &g.points); err != nil {
		return nil, err
	}
	place := -1
	last = -1
	for _, t := range terms[:end] {
		if t.support != last {
			place, last = place+1, t.support
		}
		w.evaluator.Ops.Mixed.Axpy(w.sum[t.slot*n:(t.slot+1)*n], tile.Row(place), t.coefficient)
	}
	return terms[end:], nil
}
