package kernelmean

import (
	"context"

	"github.com/gram-compute/gram/jobs/kernels"
	"github.com/gram-compute/gram/jobs/rows"
	"github.com/gram-compute/gram/kernelops"
)

// summer adds kernel values up by class. One goroutine.
type summer struct {
	kernels.Evaluator
	kernel  kernels.Function
	spread  []float32
	x, y    kernels.Points
	classes int
	zeros   []int32 // the classes of rows of one group
}

func newSummer(ops *kernelops.Set, kernel kernels.Function, classes int) summer {
	return summer{Evaluator: kernels.Evaluator{Ops: ops}, kernel: kernel, classes: classes}
}

// add adds to sums[i*classes+y], in float64 and in the order of the rows of the base, the weighted values of
// row i of x and each row of the base from up to, not including, to, y being the class of the row, or 0 if there is one
// group alone: O(x.Rows * rows * width).
func (s *summer) add(ctx context.Context, sums []float64, x kernelops.Matrix, b *base, from, to int) error {
	s.x.Set(s.kernel, s.Ops, x)
	for from, y := range b.Tiles(from, to, rows.BaseRows, &s.spread) {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.y.Set(s.kernel, s.Ops, y)
		end := from + y.Rows
		var weights []float32
		if b.weights != nil {
			weights = b.weights[from:end]
		}
		if err := s.Sums(s.kernel, sums, &s.x, &s.y, s.groupsOf(b, from, end), weights); err != nil {
			return err
		}
	}
	return nil
}

// groupsOf says which sum each of some rows counts for.
func (s *summer) groupsOf(b *base, from, to int) []int32 {
	if s.classes > 1 {
		return b.class[from:to]
	}
	if len(s.zeros) < to-from {
		s.zeros = make([]int32, to-from)
	}
	return s.zeros[:to-from]
}

// self is the kernel of a row with itself, which is 1 for rbf.
func (s *summer) self(x kernelops.Matrix) (float64, error) {
	var value [1]float32
	s.x.Set(s.kernel, s.Ops, x)
	err := s.Symmetric(s.kernel, kernelops.Matrix{Data: value[:], Rows: 1, Cols: 1, Stride: 1}, &s.x)
	return float64(value[0]), err
}
