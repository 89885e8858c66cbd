package kmeans

import (
	"cmp"
	"context"
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops"
)

const (
	meansName = "means"

	// maxIndices bounds k where indices are computed: Davies and Bouldin's compares all pairs of clusters.
	maxIndices = 1 << 12
)

// meansPhase finds the mean of the records of each cluster of the final centers, by which indices are defined. The
// centers themselves are others where the rounds ended early, with metric cosine, and with other algorithms.
type meansPhase struct{ job }

func (p *meansPhase) phase() jobs.Phase {
	return jobs.MapReduce[*state, *totals]{
		Name: meansName, State: jobs.Load[state], Partial: func() *totals { return new(totals) },
		Map: p.assign, Merge: (*totals).plus, Step: p.set,
	}.Phase()
}

func (p *meansPhase) assign(ctx context.Context, s *state, leaf jobs.Leaf, ops *kernelops.Set) (*totals, error) {
	final := *s
	final.centers, final.round = s.best.centers, 1
	leaf.Memo = nil // one round
	return (&lloydPhase{p.job}).assign(ctx, &final, leaf, ops)
}

// set puts the means into the state; a cluster that weighs nothing has its center in place of a mean.
func (p *meansPhase) set(_ context.Context, s *state, root *totals, _ jobs.Round) (jobs.Next, error) {
	width := s.space.Width
	if root.Sums.Len() != len(s.best.centers) || root.Width != width {
		return jobs.Next{}, jobs.Malformed("sums of %d numbers for centers of %d", root.Sums.Len(), len(s.best.centers))
	}
	s.means = append([]float64{}, s.best.centers...)
	for j, weight := range root.Weight.Floats() {
		if weight > 0 {
			root.Mean(j, s.means[j*width:(j+1)*width])
		}
	}
	return jobs.Next{Phase: finishName, State: jobs.ArraysOf(s)}, nil
}

// spread is how far the records of each cluster are from their mean.
type spread struct {
	distance *sums.Exact // sum of w |x - mean|
	square   *sums.Exact // sum of w |x - mean|^2

	sqDist []float64
}

func newSpread(k int) *spread { return &spread{distance: sums.NewExact(k), square: sums.NewExact(k)} }

// add adds rows that were just assigned. A nil spread adds nothing.
func (t *spread) add(c chunk, near *assigner, means []float64) {
	if t == nil {
		return
	}
	t.sqDist = kernelops.Resize(t.sqDist, c.X.Rows)
	near.ops.GroupDistances(t.sqDist, c.X, means, near.index)
	for i, j := range near.index {
		w, d := c.Weight(i), t.sqDist[i]
		t.distance.Add(int(j), float64(w*math.Sqrt(d)))
		t.square.Add(int(j), float64(w*d))
	}
}

func (t *spread) fields(f *jobs.Fields, k int) {
	jobs.Make(f, &t.distance).Fields(f, "spread.distance")
	jobs.Make(f, &t.square).Fields(f, "spread.square")
	f.Require(t.distance.Len() == k && t.square.Len() == k, "%d clusters with %d and %d sums of distances", k,
		t.distance.Len(), t.square.Len())
}

func (t *spread) join(right *spread) error {
	if t == nil || right == nil {
		if t != right {
			return jobs.Malformed("a census with distances from means, and one without")
		}
		return nil
	}
	return cmp.Or(sums.Join(&t.distance, right.distance), sums.Join(&t.square, right.square))
}

// indices judge a clustering by its distances alone.
type indices struct {
	calinskiHarabasz float64 // from 0, the greater the better
	daviesBouldin    float64 // from 0, the less the better
}

// indices computes both indices of the clusters that weigh more than 0, in float64 from sums over all records. A record
// of weight w counts as w equal ones. It returns nil unless there are at least two such clusters, and a greater total
// weight than clusters: the indices are not defined then. O(k^2 * width).
//
//	Calinski-Harabasz  (sum_j W_j |m_j - m|^2 / (k - 1)) / (sum_j sum_i w_i |x_i - m_j|^2 / (n - k))
//	Davies-Bouldin     1/k sum_j max_l (S_j + S_l) / |m_j - m_l|,  S_j = sum_i w_i |x_i - m_j| / W_j
//
// with the means m_j, the mean m of all records, the weights W_j and their sum n (Calinski and Harabasz, "A dendrite
// method for cluster analysis", Communications in Statistics 3, 1974; Davies and Bouldin, "A cluster separation
// measure", IEEE PAMI 1, 1979). As in scikit-learn, Calinski-Harabasz is 1 if every record equals its mean, and two
// equal means are left out of the maximum. scikit-learn takes distances below 1e-8 for 0 in Davies-Bouldin; here only 0
// is 0, so that the unit of the data does not matter.
func (t *spread) indices(ctx context.Context, means, weights []float64, width int) (*indices, error) {
	var rows [][]float64
	var weight, spreads []float64
	within := 0.0
	distance, square := t.distance.Floats(), t.square.Floats()
	for j, w := range weights {
		if w > 0 {
			rows, weight = append(rows, means[j*width:(j+1)*width]), append(weight, w)
			spreads, within = append(spreads, distance[j]/w), within+square[j]
		}
	}
	k, n := float64(len(rows)), sums.Total(weight)
	if len(rows) < 2 || n <= k {
		return nil, nil
	}
	x := &indices{calinskiHarabasz: 1}
	if within > 0 {
		x.calinskiHarabasz = float64(between(rows, weight, n)/(k-1)) / float64(within/(n-k))
	}
	for j, mean := range rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		worst := 0.0
		for l, other := range rows {
			if apart := squaredBetween(mean, other); apart > 0 {
				worst = max(worst, (spreads[j]+spreads[l])/math.Sqrt(apart))
			}
		}
		x.daviesBouldin += worst
	}
	x.daviesBouldin /= k
	if !(x.calinskiHarabasz <= math.MaxFloat64 && x.daviesBouldin <= math.MaxFloat64) {
		return nil, nil // beyond float64: records of a cluster that equal their mean but for its rounding
	}
	return x, nil
}

// between is the sum of W_j |m_j - m|^2.
func between(rows [][]float64, weight []float64, n float64) float64 {
	mean := make([]float64, len(rows[0]))
	for j, row := range rows {
		for d, v := range row {
			mean[d] += float64(weight[j] * v)
		}
	}
	for d := range mean {
		mean[d] /= n
	}
	sum := 0.0
	for j, row := range rows {
		sum += float64(weight[j] * squaredBetween(row, mean))
	}
	return sum
}

func squaredBetween(a, b []float64) (sum float64) {
	for d, v := range a {
		t := v - b[d]
		sum += float64(t * t)
	}
	return sum
}
