package kmeans

import (
	"context"
	"math"

	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/kernelops"
)

// silhouette is the mean silhouette width of a sample (Rousseeuw, "Silhouettes: a graphical aid to the interpretation
// and validation of cluster analysis", Journal of Computational and Applied Mathematics 20, 1987): s = (b - a) / max(a,
// b), with a the mean distance to the sample's other records of the same cluster and b the least of the means to those
// of another. A record alone in its cluster has 0, and so has every record where there is one cluster only. O(n^2 *
// width) for n records.
func (p *finishPhase) silhouette(ctx context.Context, m *model, draws []sampling.Draw) (float64, error) {
	if len(draws) == 0 {
		return 0, nil
	}
	width, k := m.space.Width, m.clusters()
	x := kernelops.NewMatrix(len(draws), width)
	c := chunk{X: x}
	for i, d := range draws {
		copy(x.Row(i), d.Row)
		c.IDs = append(c.IDs, d.ID)
	}
	near := newAssigner(kernelops.Best(), m.centers, origin(m.space))
	if err := near.assign(c); err != nil {
		return 0, err
	}
	members := make([]int, k)
	for _, j := range near.index {
		members[j]++
	}
	total, sums := 0.0, make([]float64, k)
	for i := range draws {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		clear(sums)
		row := wide(x.Row(i))
		for other := range draws {
			sums[near.index[other]] += distance(rows.SquaredDistance(x.Row(other), row), p.cosine())
		}
		total += silhouetteWidth(sums, members, int(near.index[i]))
	}
	return total / float64(len(draws)), nil
}

// silhouetteWidth takes the sums of a record's distances to the members of each cluster, and its own cluster.
func silhouetteWidth(sums []float64, members []int, own int) float64 {
	if members[own] < 2 {
		return 0
	}
	a, b := sums[own]/float64(members[own]-1), math.Inf(1)
	for j, n := range members {
		if j != own && n > 0 {
			b = min(b, sums[j]/float64(n))
		}
	}
	if math.IsInf(b, 1) || max(a, b) == 0 {
		return 0
	}
	return (b - a) / max(a, b)
}
