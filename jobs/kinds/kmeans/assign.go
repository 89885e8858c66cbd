package kmeans

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
)

// assigner finds the nearest center of rows (equation 1.30), exactly: see kernelops.Set.Nearest. One goroutine.
type assigner struct {
	ops    *kernelops.Set
	ws     kernelops.Workspace
	packed *kernelops.Centers // nil without centers

	index  []int32   // the center of each row of the last chunk
	sqDist []float64 // of each row of the last chunk to its center
}

// newAssigner takes centers as wide as the origin, a point in the middle of the data, which changes the speed only.
func newAssigner(ops *kernelops.Set, centers []float64, origin []float32) *assigner {
	a := &assigner{ops: ops}
	if len(centers) > 0 {
		a.packed = ops.PackCenters(centers, origin)
	}
	return a
}

// assign finds the nearest center of each row of a chunk.
func (a *assigner) assign(c chunk) error {
	if a.packed == nil {
		return jobs.Malformed("records are assigned to no centers")
	}
	a.index, a.sqDist = kernelops.Resize(a.index, c.X.Rows), kernelops.Resize(a.sqDist, c.X.Rows)
	a.ops.Nearest(a.index, a.sqDist, c.X, a.packed, &a.ws)
	for i, nearest := range a.index {
		if nearest < 0 { // not of rows that were read and centers that are means of them
			return c.IDs[i].Fault("no center is at a finite distance of the record").
				WithHint("Scale the columns: params.scale standard or minmax.")
		}
	}
	return nil
}
