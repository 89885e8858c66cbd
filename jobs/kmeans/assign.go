package kmeans

import (
	"math"
	"slices"

	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// assigner finds the nearest centre of rows (equation 1.30): the argmin of float32 scores
// over data shifted to an origin. One goroutine.
type assigner struct {
	ops     *kernelops.Set
	ws      kernelops.Workspace
	width   int
	origin  []float32 // of each column, once for every row of a chunk
	packed  *kernelops.Centroids
	centers []float64

	index  []int32 // the centre of each row of the last chunk
	score  []float32
	sqDist []float64        // of each row of the last chunk to its centre
	rows   kernelops.Matrix // memory for shifted rows
}

func newAssigner(ops *kernelops.Set, centers []float64, origin []float32) *assigner {
	width := len(origin)
	a := &assigner{ops: ops, width: width, origin: origin, centers: centers}
	small := kernelops.NewMatrix(len(centers)/width, width)
	for i, v := range centers {
		small.Data[i] = float32(v - float64(origin[i%width]))
	}
	if small.Rows > 0 {
		a.packed = ops.PackCentroids(small)
	}
	return a
}

// assign finds the nearest centre of each row of a chunk. A row so far out that float32 has no finite score for it
// is a fault of CodeBadRecord.
func (a *assigner) assign(c chunk) error {
	if a.rows.Rows < c.x.Rows {
		a.rows = kernelops.NewMatrix(c.x.Rows, a.width)
		a.origin = slices.Repeat(a.origin[:a.width], c.x.Rows)
		a.index, a.score, a.sqDist = make([]int32, c.x.Rows), make([]float32, c.x.Rows), make([]float64, c.x.Rows)
	}
	shifted := a.rows.RowRange(0, c.x.Rows)
	a.index, a.score, a.sqDist = a.index[:c.x.Rows], a.score[:c.x.Rows], a.sqDist[:c.x.Rows]
	a.shift(shifted, c.x)
	a.ops.ArgMin(a.index, a.score, shifted, a.packed, &a.ws)
	for i, nearest := range a.index {
		if nearest < 0 || math.IsInf(float64(a.score[i]), -1) {
			return &protocol.Fault{Code: protocol.CodeBadRecord, Class: protocol.ClassInput, Object: c.ids[i].Object, Offset: c.ids[i].Offset,
				What: "the squared distances of the record to the centres are beyond the range of float32",
				Hint: "Scale the columns: params.scale standard or minmax."}
		}
	}
	a.ops.GroupDistances(a.sqDist, c.x, a.centers, a.index)
	return nil
}

// shift sets to = x - origin. Both have rows that follow each other without a gap.
func (a *assigner) shift(to, x kernelops.Matrix) {
	n := x.Rows * a.width
	copy(to.Data[:n], x.Data[:n])
	a.ops.Axpy(to.Data[:n], a.origin[:n], -1) // one FMA, exact but for its one rounding: x - origin
}
