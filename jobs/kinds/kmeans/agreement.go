package kmeans

import (
	"context"
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/fmath"
)

// contingency counts records by label (rows) and cluster (columns).
type contingency struct {
	counts   []int64
	clusters int
}

// margins returns the sums of rows and of columns, and of all.
func (c contingency) margins() (rows, columns []float64, all float64) {
	rows, columns = make([]float64, len(c.counts)/c.clusters), make([]float64, c.clusters)
	for i, n := range c.counts {
		rows[i/c.clusters] += float64(n)
		columns[i%c.clusters] += float64(n)
		all += float64(n)
	}
	return rows, columns, all
}

// adjustedRand is the adjusted Rand index (Hubert and Arabie, "Comparing partitions", Journal of Classification 2,
// 1985): 1 for equal partitions, about 0 for unrelated ones. Partitions that leave nothing to adjust (all in one, or
// each alone, in both) give 1.
func (c contingency) adjustedRand() float64 {
	rows, columns, all := c.margins()
	index := 0.0
	for _, n := range c.counts {
		index += pairs(float64(n))
	}
	a, b := sumPairs(rows), sumPairs(columns)
	if pairs(all) == 0 {
		return 1
	}
	expected, greatest := float64(a*b)/pairs(all), (a+b)/2
	if greatest == expected {
		return 1
	}
	return (index - expected) / (greatest - expected)
}

func pairs(n float64) float64 { return n * (n - 1) / 2 }

func sumPairs(counts []float64) float64 {
	sum := 0.0
	for _, n := range counts {
		sum += pairs(n)
	}
	return sum
}

// normalizedMutualInformation is I(labels; clusters) over the mean of the two entropies, in [0, 1]; 1 where both
// partitions are a single class.
func (c contingency) normalizedMutualInformation() float64 {
	rows, columns, all := c.margins()
	if all == 0 {
		return 1
	}
	mutual := 0.0
	for i, n := range c.counts {
		if n > 0 {
			p := float64(n) / all
			mutual += float64(p * fmath.Log(float64(n)*all/float64(rows[i/c.clusters]*columns[i%c.clusters])))
		}
	}
	mean := (entropy(rows, all) + entropy(columns, all)) / 2
	if mean == 0 {
		return 1
	}
	return min(1, max(0, mutual/mean))
}

func entropy(counts []float64, all float64) float64 {
	h := 0.0
	for _, n := range counts {
		if n > 0 {
			h -= float64(n / all * fmath.Log(n/all))
		}
	}
	return h
}

// silhouette sets the mean silhouette widths of a sample and of its records in each cluster (Rousseeuw, "Silhouettes: a
// graphical aid to the interpretation and validation of cluster analysis", Journal of Computational and Applied
// Mathematics 20, 1987): s = (b - a) / max(a, b), with a the mean distance to the sample's other records of the same
// cluster and b the least of the means to those of another. A record alone in its cluster has 0, and so has every
// record where there is one cluster only. O(n^2 * width) for n records.
func (p *finishPhase) silhouette(ctx context.Context, m *model, draws []sampling.Draw) error {
	width, k := m.space.Width, m.clusters()
	m.silhouette, m.silhouettes = 0, slices.Repeat([]float64{noSilhouette}, k)
	if len(draws) == 0 {
		return nil
	}
	x := kernelops.NewMatrix(len(draws), width)
	c := chunk{X: x}
	for i, d := range draws {
		copy(x.Row(i), d.Row)
		c.IDs = append(c.IDs, d.ID)
	}
	near := m.assigner(kernelops.Best())
	if err := near.assign(c); err != nil {
		return err
	}
	members := make([]int, k)
	for _, j := range near.index {
		members[j]++
	}
	total, sums, totals := 0.0, make([]float64, k), make([]float64, k)
	for i := range draws {
		if err := ctx.Err(); err != nil {
			return err
		}
		clear(sums)
		row := wide(x.Row(i))
		for other := range draws {
			sums[near.index[other]] += distance(rows.SquaredDistance(x.Row(other), row), p.cosine())
		}
		s := silhouetteWidth(sums, members, int(near.index[i]))
		total += s
		totals[near.index[i]] += s
	}
	m.silhouette = total / float64(len(draws))
	for j, n := range members {
		if n > 0 {
			m.silhouettes[j] = totals[j] / float64(n)
		}
	}
	return nil
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
