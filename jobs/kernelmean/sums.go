package kernelmean

import (
	"context"

	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/kernels"
	"github.com/gram-compute/gram/kernelops"
)

// Rows of a tile of queries and of a tile of the base, at most; and values of either.
const (
	queryRows  = 256
	baseRows   = 4096
	tileFloats = 4 << 20
)

// tileRows is how many rows of a width a tile has, at most most.
func tileRows(width, most int) int { return max(1, min(most, tileFloats/max(1, width))) }

// summer adds kernel values up by class. One goroutine.
type summer struct {
	kernels.Evaluator
	kernel  kernels.Function
	spread  kernels.Rows
	x, y    kernels.Points
	classes int
}

func newSummer(ops *kernelops.Set, kernel kernels.Function, classes int) summer {
	return summer{Evaluator: kernels.Evaluator{Ops: ops}, kernel: kernel, classes: classes}
}

// add adds to sums[i*classes+y], in float64 and in the order of the rows of the base, the weighted values of
// row i of x and each row of the base from up to, not including, to, y being the class of the row:
// O(x.Rows * rows * width).
func (s *summer) add(ctx context.Context, sums []float64, x kernelops.Matrix, b features.Vectors, from, to int) error {
	step := tileRows(x.Cols, baseRows)
	s.x.Set(s.kernel, s.Ops, x)
	for ; from < to; from += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := min(to, from+step)
		s.y.Set(s.kernel, s.Ops, s.spread.Of(b, from, end))
		var weights []float32
		if b.Weights != nil {
			weights = b.Weights[from:end]
		}
		if err := s.Sums(s.kernel, sums, &s.x, &s.y, b.Class[from:end], weights); err != nil {
			return err
		}
	}
	return nil
}

// self is the kernel of a row with itself, which is 1 for rbf.
func (s *summer) self(x kernelops.Matrix) (float64, error) {
	var value [1]float32
	s.x.Set(s.kernel, s.Ops, x)
	err := s.Symmetric(s.kernel, kernelops.Matrix{Data: value[:], Rows: 1, Cols: 1, Stride: 1}, &s.x)
	return float64(value[0]), err
}
