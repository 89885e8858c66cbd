package kernelops

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// shiftedBy returns m with by[j] added to every element of column j.
func shiftedBy(m Matrix, by []float32) Matrix {
	moved := NewMatrix(m.Rows, m.Cols)
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			moved.Row(i)[j] = v + by[j]
		}
	}
	return moved
}

// TestSearchUnderShifts moves integer points, ties among them, by integers: nothing is rounded, in
// float32 or in float64, so neither ids nor distances may change, though the norms, by which
// Search filters, grow until they say nothing of the distances.
func TestSearchUnderShifts(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 0))
	for run := range 8 {
		x, y := NewMatrix(1+r.IntN(60), 1+r.IntN(50)), NewMatrix(1+r.IntN(400), 0)
		y = NewMatrix(y.Rows, x.Cols)
		for _, m := range []Matrix{x, y} {
			for i := range m.Data {
				m.Data[i] = float32(r.IntN(8) - 4)
			}
		}
		copy(y.Row(y.Rows/2), x.Row(0))
		k := 1 + r.IntN(12)
		wantIDs, wantDists := bruteForce(x, y, k)
		for _, d := range wantDists {
			if d != math.Trunc(d) || d < 0 { // +Inf, which fills up, passes
				t.Fatalf("distance %g of integer points", d)
			}
		}
		for _, size := range []int{0, 1, 1000, 1 << 20, 1<<24 - 8} {
			by := make([]float32, x.Cols)
			for j := range by {
				by[j] = float32(r.IntN(2*size+1) - size)
			}
			xs, ys := shiftedBy(x, by), shiftedBy(y, by)
			for _, s := range All() {
				for _, rows := range []int{1, x.Rows} { // alone and together
					where := fmt.Sprintf("%s, run %d, shifts to %d, %d of %dx%dx%d", s.Name, run, size, rows, x.Rows,
						y.Rows, x.Cols)
					ids, dists := make([]int, rows*k), make([]float64, rows*k)
					s.Search(ids, dists, k, xs.RowRange(0, rows), ys, &Workspace{})
					if !slices.Equal(ids, wantIDs[:rows*k]) || !slices.Equal(dists, wantDists[:rows*k]) {
						t.Fatalf("%s:\n%v\n%v, want\n%v\n%v", where, ids, dists, wantIDs[:rows*k], wantDists[:rows*k])
					}
				}
			}
		}
	}
}

// TestDistanceToItself searches every set of points in itself: the first distance is +0, at the row
// or at an earlier equal one, and none is negative, in float64 or in float32.
func TestDistanceToItself(t *testing.T) {
	r := rand.New(rand.NewPCG(32, 0))
	for name, fill := range awkward(r) {
		for range 3 {
			x := NewMatrix(1+r.IntN(120), 1+r.IntN(50))
			fill(x)
			for _, s := range All() {
				where := fmt.Sprintf("%s on %s, %dx%d", s.Name, name, x.Rows, x.Cols)
				checkSelf(t, s, x, where)
			}
		}
	}
}

func checkSelf(t *testing.T, s *Set, x Matrix, where string) {
	t.Helper()
	const k = 3
	var ws Workspace
	ids, dists := make([]int, x.Rows*k), make([]float64, x.Rows*k)
	s.Search(ids, dists, k, x, x, &ws)
	for i := range x.Rows {
		id := ids[i*k]
		if math.Float64bits(dists[i*k]) != 0 || id < 0 || id > i || id != i && sqDist64(x.Row(id), x.Row(i)) != 0 {
			t.Errorf("%s: nearest to row %d is row %d at %g", where, i, id, dists[i*k])
		}
	}
	if i := slices.IndexFunc(dists, func(d float64) bool { return !(d >= 0) }); i >= 0 {
		t.Errorf("%s: Search returns distance %g", where, dists[i])
	}
	fast := NewMatrix(x.Rows, x.Rows)
	s.SqDists(fast, x, x, &ws)
	if i := slices.IndexFunc(fast.Data, func(d float32) bool { return d < 0 }); i >= 0 {
		t.Errorf("%s: SqDists sets %g", where, fast.Data[i])
	}
	direct := make([]float32, x.Rows)
	for i := range x.Rows {
		s.SqEuclideanRows(direct, x, x.Row(i))
		if j := slices.IndexFunc(direct, func(d float32) bool { return !(d >= 0) }); j >= 0 ||
			math.Float32bits(direct[i]) != 0 {
			t.Errorf("%s: direct distances of row %d: %g", where, i, direct)
		}
	}
}
