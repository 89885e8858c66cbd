package kmeans

import "github.com/gram-compute/gram/kernelops/fmath"

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
