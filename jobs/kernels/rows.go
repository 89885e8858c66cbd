package kernels

import (
	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/kernelops"
)

// Rows gives vectors as the dense rows that kernels take. One goroutine.
type Rows struct{ dense kernelops.Matrix }

// Of returns rows from up to, not including, to. Sparse rows are filled up with their zeros
// into memory that the next call uses again.
func (r *Rows) Of(v features.Vectors, from, to int) kernelops.Matrix {
	if v.Sparse.Width == 0 {
		return v.Dense.RowRange(from, to)
	}
	if r.dense.Rows < to-from || r.dense.Cols != v.Sparse.Width {
		r.dense = kernelops.NewMatrix(to-from, v.Sparse.Width)
	}
	x := r.dense.RowRange(0, to-from)
	clear(x.Data[:x.Rows*x.Stride])
	for i := range x.Rows {
		row := x.Row(i)
		indices, values := v.Sparse.Row(from + i)
		for n, column := range indices {
			row[column] = values[n]
		}
	}
	return x
}

// Beyond is the fault of a record that has a kernel value beyond float32.
func Beyond(id dataset.Identity, k kernelops.Kernel) error {
	return id.Fault("a kernel value of the record is beyond the range of float32 (%s)", Text(k)).
		WithHint("Scale the columns (features.scale standard, minmax or l2), or choose a smaller scale or degree.")
}
