package kmeans

import (
	"slices"

	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/kernelops"
)

// prunes is how much farther than twice its distance a seed's neighbor may be for it to matter to a record: more than
// float64 distances err by, relatively. It is of squared distances. See docs/numerics.md.
const prunes = 4 * (1 + 1e-6)

// reaches reports whether a point may be nearer to a record than the record's seed, by the squared distances from the
// seed to the point and to the record. If the first is more than four times the second, it is not (the triangle
// inequality).
func reaches(gap, sqDist float64) bool { return gap <= float64(prunes*sqDist) }

// reach finds the records of a leaf that a new point may be nearer to than their seeds, and their distances to it. One
// goroutine.
type reach struct {
	ops   *kernelops.Set
	point []float64
	gaps  []float64 // its squared distance to each seed; nil where it is not asked for
	tally

	open   []int32 // records of the last chunk that the point may be nearer to
	rows   []float32
	sqDist []float64 // of these, or of all records of the chunk
	groups []int32
}

// tally counts what a bound was asked for, and what it left.
type tally struct{ looked, all int }

// Bounds are given up in a leaf, or a sample, after leastAsked questions of which they spared less than one in
// leastSpared.
const (
	leastAsked  = 4096
	leastSpared = 16
)

// spares reports whether bounds have spared anything, or were hardly asked.
func (t *tally) spares() bool { return t.all < leastAsked || t.all-t.looked >= t.all/leastSpared }

// seedShare is how many records there are for each seed, at least, where the distances to all seeds are computed to
// spare some of those to records.
const seedShare = 16

// newReach returns the reach of a point among a number of records that have these seeds, rows of float32.
func newReach(ops *kernelops.Set, point []float64, seeds []float32, records int) *reach {
	r := &reach{ops: ops, point: point}
	n := len(seeds) / len(point)
	if n > records/seedShare {
		return r
	}
	x := kernelops.Matrix{Data: seeds, Rows: n, Cols: len(point), Stride: len(point)}
	r.gaps = make([]float64, n)
	ops.GroupDistances(r.gaps, x, point, make([]int32, n))
	return r
}

// find looks at those of the rows of x that are among some, or at all if that is nil: rows with these squared distances
// to these seeds. It returns the rows that the point may be nearer to, and their squared distances to it; nil for the
// first stands for all rows.
func (r *reach) find(x kernelops.Matrix, sqDist []float64, seeds, among []int32) (open []int32, to []float64) {
	if r.gaps == nil || !r.spares() {
		return nil, r.measure(x)
	}
	r.open = reached(r.open, r.gaps, sqDist, seeds, among)
	r.all += x.Rows
	if len(r.open) > x.Rows/2 { // copying them would take as long as going through all
		r.looked += x.Rows
		return nil, r.measure(x)
	}
	r.looked += len(r.open)
	r.rows = kernelops.Resize(r.rows, len(r.open)*x.Cols)
	some := kernelops.Matrix{Data: r.rows, Rows: len(r.open), Cols: x.Cols, Stride: x.Cols}
	for at, i := range r.open {
		copy(some.Row(at), x.Row(int(i)))
	}
	return r.open, r.measure(some)
}

// reached lists, in the memory of open, the rows that are reached over gaps: of those among some, or of all if that is
// nil. It has no branch to be guessed.
func reached(open []int32, gaps, sqDist []float64, seeds, among []int32) []int32 {
	open = kernelops.Resize(open, len(sqDist))
	n := 0
	if among == nil {
		for i, seed := range seeds[:len(sqDist)] {
			open[n] = int32(i)
			one := 0
			if reaches(gaps[seed], sqDist[i]) {
				one = 1
			}
			n += one
		}
		return open[:n]
	}
	for _, i := range among {
		open[n] = i
		one := 0
		if reaches(gaps[seeds[i]], sqDist[i]) {
			one = 1
		}
		n += one
	}
	return open[:n]
}

// measure returns the squared distances of rows to the point, until the next call.
func (r *reach) measure(x kernelops.Matrix) []float64 {
	r.sqDist, r.groups = kernelops.Resize(r.sqDist, x.Rows), kernelops.Resize(r.groups, x.Rows)
	clear(r.groups)
	r.ops.GroupDistances(r.sqDist, x, r.point, r.groups)
	return r.sqDist
}

// try draws from a chunk as if each candidate were a seed. Most records are not drawn, and most that a candidate does
// not reach count in each branch as they do without: those are looked at once for all.
func (d *seedDraw) try(c chunk, sqDists []float64, seeds []int32) {
	limit := 0.0
	for b := range d.branches {
		limit = max(limit, d.branches[b].sample.Limit())
	}
	d.fixed, d.early = kernelops.Resize(d.fixed, c.X.Rows), d.early[:0]
	for i, cost := range d.costs {
		d.fixed[i] = d.at.of(cost)
		d.rest.join(d.fixed[i])
		if !sampling.Late(d.chances[i], cost, limit) {
			d.early = append(d.early, int32(i))
		}
	}
	var among []int32
	if d.gaps != nil {
		d.among = reached(d.among, d.gaps, sqDists, seeds, nil)
		among = d.among
	}
	for b := range d.branches {
		to := &d.branches[b]
		d.withCandidate(to, c, sqDists, seeds, among)
		for _, i := range d.early {
			d.offer(to.sample, c, int(i), d.nearer[i])
		}
		if b == 0 {
			d.setCosts(c, d.nearer)
			d.potential.AddAll(0, d.costs)
		}
	}
}

// withCandidate sets d.nearer to the squared distances to the nearest of the seeds and a candidate, and takes what that
// changes to its potential.
func (d *seedDraw) withCandidate(to *branch, c chunk, sqDists []float64, seeds, among []int32) {
	d.nearer = append(d.nearer[:0], sqDists...)
	open, found := to.reach.find(c.X, sqDists, seeds, among)
	for at, sqDist := range found {
		i := at
		if open != nil {
			i = int(open[at])
		}
		if sqDist < sqDists[i] {
			d.nearer[i] = sqDist
			to.potential.leave(d.fixed[i])
			to.potential.join(d.at.of(float64(c.Weight(i) * sqDist)))
		}
	}
}

// leastOf lowers the elements of least to those of list; a nil least stands for +Inf.
func leastOf(least, list []float64) []float64 {
	if least == nil {
		return slices.Clone(list)
	}
	for i, v := range list {
		least[i] = min(least[i], v)
	}
	return least
}
