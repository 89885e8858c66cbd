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
	ops     *kernelops.Set
	kernel  kernelops.Kernel
	ws      kernelops.Workspace
	spread  kernels.Rows
	values  []float32 // where rows have weights
	classes int
}

// add adds to sums[i*classes+y], in float64 and in the order of the rows of the base, the weighted values of
// row i of x and each row of the base from up to, not including, to, y being the class of the row:
// O(x.Rows * rows * width).
func (s *summer) add(ctx context.Context, sums []float64, x kernelops.Matrix, b features.Vectors, from, to int) error {
	step := tileRows(x.Cols, baseRows)
	for ; from < to; from += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := min(to, from+step)
		y, class := s.spread.Of(b, from, end), b.Class[from:end]
		if b.Weights == nil {
			s.ops.KernelSums(sums, s.kernel, x, y, class, &s.ws)
			continue
		}
		s.addWeighted(sums, x, y, class, b.Weights[from:end])
	}
	return nil
}

func (s *summer) addWeighted(sums []float64, x, y kernelops.Matrix, class []int32, weights []float32) {
	if need := x.Rows * y.Rows; cap(s.values) < need {
		s.values = make([]float32, need)
	}
	m := kernelops.Matrix{Data: s.values[:x.Rows*y.Rows], Rows: x.Rows, Cols: y.Rows, Stride: y.Rows}
	s.ops.KernelMatrix(m, s.kernel, x, y, &s.ws)
	for i := range x.Rows {
		row := sums[i*s.classes : (i+1)*s.classes]
		for j, v := range m.Row(i) {
			row[class[j]] += float64(float64(weights[j]) * float64(v))
		}
	}
}

// self is the kernel of a row with itself.
func (s *summer) self(x kernelops.Matrix) float64 {
	var value [1]float32
	s.ops.KernelMatrix(kernelops.Matrix{Data: value[:], Rows: 1, Cols: 1, Stride: 1}, s.kernel, x, x, &s.ws)
	return float64(value[0])
}
