package kmeans

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
)

// tree says which cluster of a bisecting model a record is in: at each split, from the first, the record goes to the
// nearer of two centers, to the first at a tie.
type tree struct {
	children []int32   // two for each split: a later split, or ^number of a cluster
	centers  []float64 // those of both children
}

// Fields lists the tree of a model with k centers.
func (t *tree) Fields(f *jobs.Fields, prefix string, k, width int) {
	splits := max(0, k-1)
	jobs.List(f, prefix+".children", &t.children, splits, 2)
	jobs.List(f, prefix+".centers", &t.centers, splits, 2, width)
	f.Check(func() error { return t.check(k) })
}

// check rejects a tree in which a walk does not end, or a cluster or a split is not met exactly once.
func (t *tree) check(k int) error {
	split, cluster := make([]bool, k-1), make([]bool, k)
	for i, child := range t.children {
		met, at := cluster, int(^child)
		if child >= 0 {
			if met, at = split, int(child); at <= i/2 {
				return jobs.Malformed("split %d leads back to %d", i/2, at)
			}
		}
		if at >= len(met) || met[at] {
			return jobs.Malformed("split %d leads to %d, which does not exist or is met twice", i/2, child)
		}
		met[at] = true
	}
	return nil
}

// find returns the cluster of a row, and its squared distance to the center of that. O(width * splits on the way).
func (t *tree) find(row []float32) (cluster int32, sqDist float64) {
	width := len(row)
	for at := int32(0); ; {
		first := 2 * int(at)
		sqDist = rows.SquaredDistance(row, t.centers[first*width:(first+1)*width])
		at = t.children[first]
		if d := rows.SquaredDistance(row, t.centers[(first+1)*width:(first+2)*width]); d < sqDist {
			at, sqDist = t.children[first+1], d
		}
		if at < 0 {
			return ^at, sqDist
		}
	}
}

// descend is assign by the tree.
func (a *assigner) descend(c chunk) error {
	a.index, a.sqDist = kernelops.Resize(a.index, c.X.Rows), kernelops.Resize(a.sqDist, c.X.Rows)
	for i := range c.IDs {
		a.index[i], a.sqDist[i] = a.tree.find(c.X.Row(i))
		if a.sqDist[i]-a.sqDist[i] != 0 {
			return beyond(c.IDs[i])
		}
	}
	return nil
}
