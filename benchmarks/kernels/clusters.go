package main

import (
	"fmt"

	"github.com/gram-compute/gram/kernelops"
)

// kmeansExact is one round of k-means over n points, by the operations that the kind KMeans calls: every point to the
// nearest of k centers, decided in float64 where float32 cannot, the points added up, then the means. The first k
// points are the first centers.
func kmeansExact(n, d, k int) workload {
	w := workload{
		id:     workloadID("kmeansexact", n, d, k),
		title:  fmt.Sprintf("exact k-means round, %d x %d, k = %d", n, d, k),
		unit:   gflops,
		amount: 2 * float64(n) * float64(d) * float64(k),
		limits: arithmetic,
	}
	w.entrant = func(e env) []contender {
		x := e.points(0, n, d)
		return each(e, func(s *kernelops.Set, _ *kernelops.Workspace) (func(), func() float64) {
			r := newRound(s, e, x, k)
			return r.run, func() float64 {
				sum := 0.0
				for _, v := range r.means {
					sum += v * v
				}
				return sum
			}
		})
	}
	return w
}

// round is what a set needs for a round: a leaf of the points for every thread.
type round struct {
	set     *kernelops.Set
	centers []float64
	origin  []float32 // the mean of the points, or near it
	means   []float64
	leaves  []leaf
}

// leaf is a range of points and what a round finds out about them.
type leaf struct {
	x         kernelops.Matrix
	index     []int32
	sqDist    []float64
	sums      []float64
	counts    []int
	workspace kernelops.Workspace
}

func newRound(s *kernelops.Set, e env, x kernelops.Matrix, k int) *round {
	r := &round{set: s, origin: make([]float32, x.Cols), means: make([]float64, k*x.Cols)}
	for i := range k {
		for _, v := range x.Row(i) {
			r.centers = append(r.centers, float64(v))
		}
	}
	for t := range e.threads {
		rows := x.RowRange(t*x.Rows/e.threads, (t+1)*x.Rows/e.threads)
		r.leaves = append(r.leaves, leaf{
			x: rows, index: make([]int32, rows.Rows), sqDist: make([]float64, rows.Rows),
			sums: make([]float64, k*x.Cols), counts: make([]int, k),
		})
	}
	return r
}

// run is a round: assignment and sums of every leaf, then the means.
func (r *round) run() {
	packed := r.set.PackCenters(r.centers, r.origin)
	onThreads(len(r.leaves), func(t int) { r.leaves[t].assign(r.set, packed) })
	first := &r.leaves[0]
	for _, l := range r.leaves[1:] {
		r.set.Add(first.sums, l.sums)
		for c, n := range l.counts {
			first.counts[c] += n
		}
	}
	width := len(r.origin)
	for i, sum := range first.sums {
		r.means[i] = sum / float64(first.counts[i/width])
	}
}

func (l *leaf) assign(s *kernelops.Set, centers *kernelops.Centers) {
	clear(l.sums)
	clear(l.counts)
	s.Nearest(l.index, l.sqDist, l.x, centers, &l.workspace)
	s.AccumulateRows(l.sums, l.x, l.index)
	for _, c := range l.index {
		l.counts[c]++
	}
}
