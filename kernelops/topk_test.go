package kernelops

import (
	"math"
	"slices"
	"testing"
)

// TestNearestListByHand fills a list of two: by distance, ties by row, in whatever order they come.
func TestNearestListByHand(t *testing.T) {
	inf := math.Inf(1)
	n := nearest{k: 2}
	for i, c := range []struct {
		dist  float64
		row   int
		rows  []int
		worst float64
	}{
		{inf, 9, nil, inf},
		{math.NaN(), 8, nil, inf},
		{5, 4, []int{4}, inf}, // not full: any distance may enter
		{5, 6, []int{4, 6}, 5},
		{5, 7, []int{4, 6}, 5}, // full, and the lower rows win
		{inf, 0, []int{4, 6}, 5},
		{5, 1, []int{1, 4}, 5},
		{5, 3, []int{1, 3}, 5},
		{4, 8, []int{8, 1}, 5},
		{3, 9, []int{9, 8}, 4},
	} {
		n.offer(c.dist, c.row)
		if !slices.Equal(n.rows, c.rows) || n.worst() != c.worst {
			t.Fatalf("offer %d, row %d at %g: rows %v, worst %g, want %v, %g",
				i, c.row, c.dist, n.rows, n.worst(), c.rows, c.worst)
		}
	}
}

// TestTopKLimit: once a list is full, a scan reports only rows nearer than its last entry, for a tie comes too late to
// win. The rows of y are at distances 1, 3 and 2 from x, the origin.
func TestTopKLimit(t *testing.T) {
	top := topK{
		k: 2, lists: []nearest{{k: 2}},
		norms: []float32{0}, limits: []float32{math.MaxFloat32}, base: []float32{1, 9, 4},
	}
	for j, want := range []float32{math.MaxFloat32, math.Nextafter32(9, 0), math.Nextafter32(4, 0)} {
		if top.hit(0, j, 0); top.limits[0] != want {
			t.Errorf("after row %d, the limit is %g, want %g", j, top.limits[0], want)
		}
	}
}

// TestTopKOfFewRows: id -1 and distance +Inf fill up a list of fewer than k rows. A row that is not finite is not
// listed.
func TestTopKOfFewRows(t *testing.T) {
	x := Matrix{Data: []float32{1, 2}, Rows: 2, Cols: 1, Stride: 1}
	y := Matrix{Data: []float32{float32(math.NaN()), 4}, Rows: 2, Cols: 1, Stride: 1}
	for _, s := range All() {
		ids, dists := slices.Repeat([]int{-7}, 6), repeat(-7, 6)
		s.TopK(ids, dists, 3, x, y, &Workspace{})
		if !slices.Equal(ids, []int{1, -1, -1, 1, -1, -1}) ||
			!slices.Equal(dists, []float32{9, inf32, inf32, 4, inf32, inf32}) {
			t.Errorf("%s: %v, %v", s.Name, ids, dists)
		}
	}
}

// TestSelectEdges compares all selections on rows that fill blocks or groups of queries exactly, without rows, and
// without columns.
func TestSelectEdges(t *testing.T) {
	next := hardMatrices(19)["normal"]
	for _, c := range []struct{ rows, cols, dim int }{
		{0, 5, 3}, {blockRows, 5, 3}, {2 * blockRows, blockRows, 9}, {maxWidth, maxWidth, 2}, {5, 0, 3}, {5, 7, 0},
	} {
		x, _ := guardedMatrix(c.rows, c.dim, 1, 3, next)
		y, _ := guardedMatrix(c.cols, c.dim, 2, 1, next)
		compareSelections(t, "edges", x, y, 2, 3)
	}
}

// TestSelectMisuse passes results that are one short or one long, and a k below 1.
func TestSelectMisuse(t *testing.T) {
	const wrong = "kernelops: result has the wrong shape"
	x, y, ws := NewMatrix(3, 2), NewMatrix(4, 2), &Workspace{}
	for _, s := range All() {
		for _, c := range []struct {
			ids, dists, k int
			want          any
		}{{6, 6, 2, nil}, {3, 3, 1, nil}, {5, 6, 2, wrong}, {6, 7, 2, wrong}, {0, 0, 0, wrong}, {1, 1, -1, wrong}} {
			for name, run := range map[string]func(){
				"TopK":   func() { s.TopK(make([]int, c.ids), make([]float32, c.dists), c.k, x, y, ws) },
				"Search": func() { s.Search(make([]int, c.ids), make([]float64, c.dists), c.k, x, y, ws) },
			} {
				if got := panicOf(run); got != c.want {
					t.Errorf("%s: %s of %+v: panic %v", s.Name, name, c, got)
				}
			}
		}
		for n, want := range map[int]any{2: wrong, 3: nil, 4: wrong} {
			if got := panicOf(func() { s.RadiusCounts(make([]int, n), 1, x, y, ws) }); got != want {
				t.Errorf("%s: RadiusCounts with room for %d: panic %v", s.Name, n, got)
			}
			index, score := make([]int32, 3), make([]float32, 3)
			c := s.PackCentroids(y)
			if got := panicOf(func() { s.ArgMin(index, make([]float32, n), x, c, ws) }); got != want {
				t.Errorf("%s: ArgMin with room for %d scores: panic %v", s.Name, n, got)
			}
			if got := panicOf(func() { s.ArgMin(make([]int32, n), score, x, c, ws) }); got != want {
				t.Errorf("%s: ArgMin with room for %d: panic %v", s.Name, n, got)
			}
		}
	}
}

// TestPackedForAnotherSet packs by one set and computes by another.
func TestPackedForAnotherSet(t *testing.T) {
	x, ws := NewMatrix(3, 2), &Workspace{}
	for _, s := range All() {
		for _, other := range All() {
			var argMin, near any
			if s != other && s.Name != other.Name {
				argMin = "kernelops: centroids packed for another kernel set"
				if other.matrix != nil { // a set without one leaves the centers as they are
					near = "kernelops: centers packed for another kernel set"
				}
			}
			c, empty := other.PackCentroids(x), other.PackCentroids(NewMatrix(0, 2))
			index, score, dist := make([]int32, 3), make([]float32, 3), make([]float64, 3)
			if got := panicOf(func() { s.ArgMin(index, score, x, c, ws) }); got != argMin {
				t.Errorf("ArgMin by %s of %s: panic %v", s.Name, other.Name, got)
			}
			if got := panicOf(func() { s.ArgMin(index, score, x, empty, ws) }); got != nil {
				t.Errorf("ArgMin by %s of no centroids of %s: panic %v", s.Name, other.Name, got)
			}
			centers := other.PackCenters(make([]float64, 6), make([]float32, 2))
			if got := panicOf(func() { s.Nearest(index, dist, x, centers, ws) }); got != near {
				t.Errorf("Nearest by %s of %s: panic %v", s.Name, other.Name, got)
			}
		}
	}
}
