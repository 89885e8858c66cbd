package main

import (
	"fmt"

	"github.com/gram-compute/gram/kernelops"
)

// kmeans is one round of k-means over n points: every point to the nearest of k
// centroids, then the means. The first k points are the first centroids.
func kmeans(n, d, k int) workload {
	w := workload{
		id:     workloadID("kmeans", n, d, k),
		title:  fmt.Sprintf("k-means round, %d x %d, k = %d", n, d, k),
		unit:   gflops,
		amount: 2 * float64(n) * float64(d) * float64(k),
		limits: arithmetic,
	}
	w.entrant = func(e env) []contender {
		x := e.points(0, n, d)
		return each(e, func(s *kernelops.Set, _ *kernelops.Workspace) (func(), func() float64) {
			r := newRound(s, e, x, k)
			return r.run, func() float64 { return squares(r.means.Data) }
		})
	}
	return w
}

// round is what a set needs for a round: a leaf of the points for every thread.
type round struct {
	set       *kernelops.Set
	x         kernelops.Matrix
	centroids kernelops.Matrix
	means     kernelops.Matrix
	leaves    []leaf
}

// leaf is a range of points and what a round finds out about them.
type leaf struct {
	x         kernelops.Matrix
	index     []int32
	score     []float32
	sums      []float64
	counts    []int
	workspace kernelops.Workspace
}

func newRound(s *kernelops.Set, e env, x kernelops.Matrix, k int) *round {
	r := &round{set: s, x: x, centroids: x.RowRange(0, k), means: e.matrix(k, x.Cols)}
	for t := range e.threads {
		rows := x.RowRange(t*x.Rows/e.threads, (t+1)*x.Rows/e.threads)
		r.leaves = append(r.leaves, leaf{
			x: rows, index: make([]int32, rows.Rows), score: allocate[float32](e.memory, rows.Rows),
			sums: make([]float64, k*x.Cols), counts: make([]int, k),
		})
	}
	return r
}

// run is a round: assignment and sums of every leaf, then the means.
func (r *round) run() {
	packed := r.set.PackCentroids(r.centroids)
	onThreads(len(r.leaves), func(t int) { r.leaves[t].assign(r.set, packed) })
	first := &r.leaves[0]
	for _, l := range r.leaves[1:] {
		r.set.Add(first.sums, l.sums)
		for c, n := range l.counts {
			first.counts[c] += n
		}
	}
	for c, n := range first.counts {
		mean := r.means.Row(c)
		for j := range mean {
			mean[j] = float32(first.sums[c*len(mean)+j] / float64(n))
		}
	}
}

func (l *leaf) assign(s *kernelops.Set, centroids *kernelops.Centroids) {
	clear(l.sums)
	clear(l.counts)
	s.Assign(l.sums, l.index, l.score, l.x, centroids, &l.workspace)
	for _, c := range l.index {
		l.counts[c]++
	}
}
