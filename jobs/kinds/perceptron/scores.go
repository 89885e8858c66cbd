package perceptron

import "github.com/gram-compute/gram/kernelops"

// rate sets scores to <w, x> + b of every row of weights.
func (l *Learner) rate(x Row) {
	switch {
	case !l.Sparse && l.rows() == 1:
		l.scores[0] = l.ops.Dot(l.weights[:l.Width], x.Values)
	case !l.Sparse:
		l.ops.DotRows(l.scores, kernelops.Matrix{Data: l.weights, Rows: l.rows(), Cols: l.Width, Stride: l.stride()},
			x.Values)
	case l.rows() == 1:
		l.scores[0] = l.ops.SparseDot(x.Index, x.Values, l.weights[:l.Width])
	default:
		clear(l.scores)
		rows := len(l.scores)
		for i, j := range x.Index {
			l.ops.Axpy(l.scores, l.weights[int(j)*rows:(int(j)+1)*rows], x.Values[i])
		}
	}
	for r := range l.scores {
		l.scores[r] += l.weights[l.at(r, l.Width)]
	}
}

// deciding returns the weights by which the forms plain and averaged predict: the last ones, or
// the mean of those after each step, w - u/T with u the sums and T the steps.
func (l *Learner) deciding() []float32 {
	if l.Form != Averaged || l.steps == 0 {
		return l.weights
	}
	mean := make([]float32, len(l.weights))
	for i := range mean {
		mean[i] = l.mean(i)
	}
	return mean
}

func (l *Learner) mean(i int) float32 {
	return float32(float64(l.weights[i]) - l.sums[i]/float64(l.steps))
}
