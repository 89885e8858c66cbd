package kernelops

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLimitMetExactly puts every pair's distance on its limit, one float32 below it and one above: notBeyond drops only
// what is above it, and a NaN is not beyond anything.
func TestLimitMetExactly(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		dot, rowNorm, colNorm float32 // the distance is 5 + 8 - 2*3 = 7
		limit                 float32
		notBeyond             bool
	}{
		{3, 5, 8, 7, true},
		{3, 5, 8, math.Nextafter32(7, 0), false},
		{3, 5, 8, math.Nextafter32(7, 8), true},
		{0, 0, 0, 0, true},
		{3, 5, 8, inf, true},
		{3, 5, inf, inf, true}, // +Inf meets +Inf
		{nan, 5, 8, 7, true},
		{3, nan, 8, 7, true},
		{3, 5, nan, inf, true},
	} {
		for _, s := range All() {
			if s.matrix == nil {
				continue
			}
			for _, width := range []int{s.matrix.lanes, 2 * s.matrix.lanes} {
				const rows = 5
				dots, rowNorms := repeat(c.dot, rows*width), repeat(c.rowNorm, rows)
				colNorms, limits := repeat(c.colNorm, width), repeat(c.limit, width)
				want := uint64(0)
				if c.notBeyond {
					want = 1<<width - 1
				}
				hits := make([]uint64, rows)
				s.matrix.notBeyond(&hits[0], &dots[0], &rowNorms[0], &colNorms[0], &limits[0], rows,
					width/s.matrix.lanes)
				if slices.ContainsFunc(hits, func(h uint64) bool { return h != want }) {
					t.Errorf("%s, %d columns, %+v: %x, want %x", s.Name, width, c, hits, want)
				}
			}
		}
	}
}

func repeat(v float32, n int) []float32 { return slices.Repeat([]float32{v}, n) }

// TestQueryKeepsWhatMeetsTheLimit gives a query bounds that are attained: two rows at distance 4, one with
// 4 as its lower bound and one with 4 as its upper. The lower row wins the tie, so a contender whose lower
// bound equals the limit must live through consider, drop and finish, in whatever order the rows come.
//
// No data reach this through Search: a bound of the filter has slack on both sides of every distance
// (see TestFilterHolds), so a float32 error would have to be as large as its bound.
func TestQueryKeepsWhatMeetsTheLimit(t *testing.T) {
	y := Matrix{Data: []float32{2, -2, 2, -2}, Rows: 4, Cols: 1, Stride: 1}
	bounds := [][2]float64{{4, 9}, {1, 4}, {4, 4}, {3, 4}}
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 0, 3, 2}, {2, 3, 0, 1}} {
		for k := 1; k <= 4; k++ {
			for _, prepare := range []func(q *query){func(*query) {}, (*query).drop, (*query).finish} {
				q := newQuery(k, []float32{0}, y, math.Inf(1))
				for _, row := range order {
					q.consider(row, bounds[row][0], bounds[row][1])
					prepare(&q)
				}
				q.finish()
				if want := []int{0, 1, 2, 3}[:k]; !slices.Equal(q.best.rows, want) {
					t.Errorf("rows in the order %v, k = %d: %v, want %v", order, k, q.best.rows, want)
				}
			}
		}
	}
}

// TestQueryManyContenders makes a query clear its list on the way: more contenders than it keeps, all tied.
func TestQueryManyContenders(t *testing.T) {
	y := NewMatrix(1000, 1)
	for _, k := range []int{1, 3, 70} {
		q := newQuery(k, []float32{2}, y, math.Inf(1))
		for row := y.Rows - 1; row >= 0; row-- { // 4, the distance, meets every limit
			q.consider(row, 4, 4)
			if len(q.pending) > 2*k+64 {
				t.Fatalf("k = %d: %d contenders kept", k, len(q.pending))
			}
		}
		q.finish()
		for i, row := range q.best.rows {
			if row != i || q.best.dists[i] != 4 {
				t.Fatalf("k = %d: place %d holds row %d at %g", k, i, row, q.best.dists[i])
			}
		}
		if len(q.best.rows) != k {
			t.Errorf("k = %d: found %d", k, len(q.best.rows))
		}
	}
}

// TestFilterHolds checks the error bounds on which Search rests against the distances themselves, with ties,
// underflow and offsets: the float64 distance lies strictly between them, and the float32 score of a scan
// is not above the lower one. A bound that holds because it is infinite is counted and must be rare.
func TestFilterHolds(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 0))
	for name, fill := range awkward(r) {
		loose, pairs := 0, 0
		for _, dim := range []int{1, 2, 31, 33, 100, 784, 5000} {
			x, y := NewMatrix(12, dim), NewMatrix(12, dim)
			fill(x)
			fill(y)
			copy(x.Row(1), y.Row(1))
			for i := range x.Rows {
				for j := range y.Rows {
					pairs++
					if !checkFilter(t, name, x.Row(i), y.Row(j)) {
						loose++
					}
				}
			}
		}
		if loose > 0 && name != "huge" {
			t.Errorf("%s: %d of %d bounds are infinite", name, loose, pairs)
		}
	}
	if f := newFilter(2 << 20); !math.IsInf(f.relative, 1) {
		t.Errorf("a filter for 2^21 dimensions claims the bound %g", f.relative)
	}
}

// checkFilter reports whether the bounds of a pair are finite.
func checkFilter(t *testing.T, data string, x, y []float32) bool {
	t.Helper()
	f, exact := newFilter(len(x)), sqDist64(x, y)
	norms := []float32{chain32(x, x, 0), chain32(y, y, 0)}
	dot := chain32(x, y, 0)
	low, high := f.bounds(dot, norms[0], norms[1])
	if !(low < exact && exact < high) {
		t.Fatalf("%s, %d columns: distance %g is not between %g and %g", data, len(x), exact, low, high)
	}
	lows := f.lowNorms(make([]float32, 2), norms)
	if score := fma32(-2, dot, lows[0]+lows[1]); float64(score) > low {
		t.Fatalf("%s, %d columns: score %g is above the bound %g", data, len(x), score, low)
	}
	one := make([]float32, 1)
	Generic().SqEuclideanRows(one, Matrix{Data: y, Rows: 1, Cols: len(y), Stride: len(y)}, x)
	directLow, directHigh := f.directBounds(one[0])
	if !(directLow < exact && exact < directHigh) {
		t.Fatalf("%s, %d columns: distance %g is not between %g and %g, direct", data, len(x), exact, directLow,
			directHigh)
	}
	if l := f.directLimit(exact); one[0] <= math.MaxFloat32 && float64(one[0]) > l && directLow <= exact {
		t.Fatalf("%s, %d columns: %g is above the limit %g and its bound %g is not above %g", data, len(x), one[0], l,
			directLow, exact)
	}
	return !math.IsInf(low, 0) && !math.IsInf(directLow, 0)
}
