package centers

import "github.com/gram-compute/gram/kernelops"

// Nearest finds the nearest centers of rows. One goroutine may use it at a time.
type Nearest struct {
	centers *kernelops.Centers
	ops     *kernelops.Set
	square  []float64
	work    kernelops.Workspace
}

// NewNearest packs centers, [centers x width]; the width must be above 0.
func NewNearest(centers []float32, width int, ops *kernelops.Set) *Nearest {
	values := make([]float64, len(centers))
	for i, v := range centers {
		values[i] = float64(v)
	}
	return &Nearest{centers: ops.PackCenters(values, make([]float32, width)), ops: ops}
}

// Add appends the number of the nearest center of each row, the first one of equals. Distances are compared as in
// float64, with the same result for each kernel set. If all distances of a row are beyond float64, it appends 0.
func (n *Nearest) Add(to []int32, x kernelops.Matrix) []int32 {
	from := len(to)
	to = append(to, make([]int32, x.Rows)...)
	n.square = kernelops.Resize(n.square, x.Rows)
	n.ops.Nearest(to[from:], n.square, x, n.centers, &n.work)
	for i := from; i < len(to); i++ {
		to[i] = max(0, to[i])
	}
	return to
}
