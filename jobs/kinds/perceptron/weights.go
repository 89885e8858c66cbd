package perceptron

import (
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// update adds a multiple of a record to a row of weights.
func (l *Learner) update(r int, x Row, a float32) {
	switch {
	case !l.Sparse:
		l.ops.Axpy(l.weights[r*l.stride():r*l.stride()+l.Width], x.Values, a)
	case l.rows() == 1:
		l.ops.SparseAxpy(l.weights[:l.Width], x.Index, x.Values, a)
	default:
		rows, w := l.rows(), l.weights[r:]
		for i, j := range x.Index {
			w[int(j)*rows] += float32(a * x.Values[i])
		}
	}
	if l.Bias {
		l.weights[l.at(r, l.Width)] += a
	}
	l.updates++
	if l.touched != nil {
		l.touch(r, x)
	}
	if l.Form == Averaged && l.steps > 0 {
		l.addSum(r, x, float64(float64(l.steps)*float64(a)))
	}
}

// touch marks the weights of a row that an update by a record reaches: those of the columns in which it is not 0, and
// the bias. What later updates take back was reached all the same: equality of rounded sums says nothing.
func (l *Learner) touch(r int, x Row) {
	if l.Sparse {
		for i, j := range x.Index {
			if x.Values[i] != 0 {
				l.touched[l.at(r, int(j))] = true
			}
		}
	} else {
		row := l.touched[r*l.stride():][:len(x.Values)]
		for j, v := range x.Values {
			row[j] = row[j] || v != 0
		}
	}
	if l.Bias {
		l.touched[l.at(r, l.Width)] = true
	}
}

// addSum adds t times an update to the sums of a row.
func (l *Learner) addSum(r int, x Row, ta float64) {
	if l.Sparse {
		rows, u, values := l.rows(), l.sums[r:], x.Values[:len(x.Index)]
		for i, j := range x.Index {
			u[int(j)*rows] += float64(ta * float64(values[i]))
		}
	} else {
		for i, v := range x.Values {
			l.scratch[i] = float64(v)
		}
		l.ops.AddScaled(l.sums[r*l.stride():r*l.stride()+l.Width], l.scratch, ta)
	}
	if l.Bias {
		l.sums[l.at(r, l.Width)] += ta
	}
}

// fault reports weights beyond float32.
func (l *Learner) fault() error {
	if !jobs.Finite(l.weights) || !jobs.Finite(l.sums) {
		return protocol.InputFault(protocol.CodeInputLimit, "the weights of the perceptron grew beyond float32").
			WithHint("Scale the features: params.features.scale.")
	}
	return nil
}

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

// Weights returns the last weights, row after row: a weight for each column, then the bias.
func (l *Learner) Weights() []float32 { return slices.Clone(l.weights) }
