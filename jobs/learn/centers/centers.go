// Package centers divides records into clusters, by the nearest of some centers. The centers are those of a sample, by
// k-means++ and Lloyd's method (Arthur and Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007).
//
// It is for jobs that need some division, the same with any workers and kernel sets. Kind KMeans finds better ones.
package centers

import (
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/kernelops/philox"
)

// centerRounds is how often the centers of a sample move at most.
const centerRounds = 25

// Of returns the centers of clusters of a sample, [centers x width], in float64 rounded once at the end. They are fewer
// where the sample has fewer rows that differ, and each is the nearest to a row. The sample has at least one row.
// O(sample * clusters * width) for each of at most 25 rounds.
func Of(sample []sampling.Draw, clusters int, key philox.Key) []float32 {
	c := &clustering{sample: sample, width: len(sample[0].Row), nearest: make([]int, len(sample)),
		square: make([]float64, len(sample))}
	c.begin(clusters, key)
	for range centerRounds {
		if !c.move() {
			break
		}
	}
	return c.rounded()
}

// rounded are the centers that are nearest to a row, so that each has records.
func (c *clustering) rounded() (list []float32) {
	for i, v := range c.centers {
		c.centers[i] = float64(float32(v))
	}
	c.assign()
	used := make([]bool, len(c.centers)/max(1, c.width))
	for _, k := range c.nearest {
		used[k] = true
	}
	for k, is := range used {
		for _, v := range c.centers[k*c.width : (k+1)*c.width] {
			if is {
				list = append(list, float32(v))
			}
		}
	}
	return list
}

// clustering is a sample in clusters.
type clustering struct {
	sample  []sampling.Draw
	width   int
	centers []float64
	nearest []int     // of each row
	square  []float64 // of its distance to the nearest center
}

// begin chooses the first centers: each row by chance in proportion to the square of its distance to those before it.
func (c *clustering) begin(clusters int, key philox.Key) {
	for i := range c.square {
		c.square[i] = math.Inf(1)
	}
	at := 0
	for k := range clusters {
		for _, v := range c.sample[at].Row {
			c.centers = append(c.centers, float64(v))
		}
		total := 0.0
		for i := range c.sample {
			if d := c.distance(i, k); d < c.square[i] {
				c.square[i], c.nearest[i] = d, k
			}
			total += c.square[i]
		}
		if !(total > 0) || total-total != 0 {
			return
		}
		left := float64(key.Float64(uint64(k), 0) * total)
		for at = 0; at < len(c.sample)-1 && left >= c.square[at]; at++ {
			left -= c.square[at]
		}
		for at > 0 && c.square[at] == 0 { // of rounding at the end
			at--
		}
	}
}

// distance is the square of that between a row and a center.
func (c *clustering) distance(i, k int) (sum float64) {
	center := c.centers[k*c.width : (k+1)*c.width]
	for j, v := range c.sample[i].Row {
		d := float64(v) - center[j]
		sum += float64(d * d)
	}
	return sum
}

// move moves each center to the mean of its rows, and reports whether a row then has another center. One without rows
// stays.
func (c *clustering) move() bool {
	k := len(c.centers) / max(1, c.width)
	sums, counts := make([]float64, len(c.centers)), make([]int, k)
	for i, d := range c.sample {
		counts[c.nearest[i]]++
		sum := sums[c.nearest[i]*c.width:]
		for j, v := range d.Row {
			sum[j] += float64(v)
		}
	}
	for n, count := range counts {
		for j := range c.width {
			if count > 0 {
				c.centers[n*c.width+j] = sums[n*c.width+j] / float64(count)
			}
		}
	}
	before := slices.Clone(c.nearest)
	c.assign()
	return !slices.Equal(before, c.nearest)
}

// assign finds the nearest center of each row.
func (c *clustering) assign() {
	for i := range c.sample {
		c.square[i] = math.Inf(1)
		for n := range len(c.centers) / max(1, c.width) {
			if d := c.distance(i, n); d < c.square[i] {
				c.square[i], c.nearest[i] = d, n
			}
		}
	}
}
