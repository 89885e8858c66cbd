// Package centers divides records into clusters: each belongs to its nearest center. The centers are found on a sample,
// by k-means++ and Lloyd's method (Arthur and Vassilvitskii, "k-means++: the advantages of careful seeding", SODA
// 2007).
//
// It is for jobs that need any reasonable division, the same with any number of workers and any kernel set. Kind KMeans
// finds better centers, on all records.
package centers

import (
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/kernelops/philox"
)

// centerRounds is the greatest number of rounds of Lloyd's method.
const centerRounds = 25

// Of returns at most as many centers of a sample as clusters, [centers x width]. Each is the nearest center of some row
// of the sample, so they are fewer if fewer rows differ, or if a center loses its rows. They are computed in float64
// and rounded once, at the end. The sample must have at least one row. O(sample * clusters * width) for each of at most
// 25 rounds.
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

// rounded returns the centers in float32, without those that are nearest to no row.
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
	nearest []int     // center of each row
	square  []float64 // of the distance between them
}

// begin chooses the first centers (k-means++): the first row, then rows drawn with probabilities in proportion to their
// squared distance to the nearest center before. It stops early if all rows are centers, or a distance is not finite.
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
		for at > 0 && c.square[at] == 0 { // rounding may end the draw at a row that is a center
			at--
		}
	}
}

// distance returns the squared distance between a row and a center.
func (c *clustering) distance(i, k int) (sum float64) {
	center := c.centers[k*c.width : (k+1)*c.width]
	for j, v := range c.sample[i].Row {
		d := float64(v) - center[j]
		sum += float64(d * d)
	}
	return sum
}

// move moves each center to the mean of its rows, and reports whether the nearest center of a row changed. A center
// without rows stays.
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
