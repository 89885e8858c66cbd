package kernelops

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSearchByHand checks every set on points of a line: 0, 3, 3 and 10 against 1, 3 and 7.
func TestSearchByHand(t *testing.T) {
	y := Matrix{Data: []float32{0, 3, 3, 10}, Rows: 4, Cols: 1, Stride: 1}
	x := Matrix{Data: []float32{1, 3, 7}, Rows: 3, Cols: 1, Stride: 1}
	inf := math.Inf(1)
	for _, s := range All() {
		ids, dists := make([]int, 15), make([]float64, 15)
		s.Search(ids, dists, 5, x, y, &Workspace{})
		if !slices.Equal(ids, []int{0, 1, 2, 3, -1, 1, 2, 0, 3, -1, 3, 1, 2, 0, -1}) ||
			!slices.Equal(dists, []float64{1, 4, 4, 81, inf, 0, 0, 9, 49, inf, 9, 16, 16, 49, inf}) {
			t.Errorf("%s: %v, %v", s.Name, ids, dists)
		}
	}
}

// TestNaNNeverWins puts a NaN into a row of the base and into a query.
func TestNaNNeverWins(t *testing.T) {
	nan := float32(math.NaN())
	y := Matrix{Data: []float32{nan, 5, 1}, Rows: 3, Cols: 1, Stride: 1}
	x := Matrix{Data: []float32{1, nan, 1, 1}, Rows: 4, Cols: 1, Stride: 1}
	for _, s := range All() {
		for _, rows := range []int{1, 2, 4} { // alone and together
			ids, dists := make([]int, 2*rows), make([]float64, 2*rows)
			s.Search(ids, dists, 2, x.RowRange(0, rows), y, &Workspace{})
			if want := []int{2, 1, -1, -1, 2, 1, 2, 1}[:2*rows]; !slices.Equal(ids, want) {
				t.Errorf("%s, %d queries: %v, %v", s.Name, rows, ids, dists)
			}
		}
	}
}

// TestSearchEqualsGeneric compares Search with the loop of the generic set.
func TestSearchEqualsGeneric(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 0))
	runs := 60
	if testing.Short() {
		runs = 8
	}
	for name, next := range hardMatrices(12) {
		for range runs {
			rows, cols, dim := 1+r.IntN(210), 1+r.IntN(150), r.IntN(30)
			x, _ := guardedMatrix(rows, dim, rows%3, rows%5, next)
			y, _ := guardedMatrix(cols, dim, cols%3, cols%5, next)
			compareSearches(t, name, x, y, 1+r.IntN(12))
		}
	}
	one := func() float32 { return 1 }
	x, _ := guardedMatrix(100, 3, 0, 0, one) // nothing but ties
	y, _ := guardedMatrix(200, 3, 0, 0, one)
	compareSearches(t, "ties", x, y, 70)
}

func compareSearches(t *testing.T, data string, x, y Matrix, k int) {
	t.Helper()
	run := func(s *Set, threads int) (ids []int, dists []float64) {
		ids, dists = make([]int, x.Rows*k), make([]float64, x.Rows*k)
		s.Search(ids, dists, k, x, y, &Workspace{Threads: threads})
		return ids, dists
	}
	wantIDs, wantDists := run(Generic(), 1)
	for _, s := range All() {
		for threads := 1; threads <= 2; threads++ {
			if ids, dists := run(s, threads); !slices.Equal(ids, wantIDs) || !slices.Equal(dists, wantDists) {
				t.Fatalf("%s, %d threads, %dx%dx%d on %s, k = %d:\n%v\n%v, want\n%v\n%v", s.Name, threads, x.Rows,
					y.Rows, x.Cols, data, k, ids, dists, wantIDs, wantDists)
			}
		}
	}
}

// awkward are point sets on which float32 distances mislead.
func awkward(r *rand.Rand) map[string]func(m Matrix) {
	each := func(f func(i, j int) float64) func(Matrix) {
		return func(m Matrix) {
			for i := range m.Rows {
				for j := range m.Row(i) {
					m.Row(i)[j] = float32(f(i, j))
				}
			}
		}
	}
	return map[string]func(m Matrix){
		"normal":          each(func(_, _ int) float64 { return r.NormFloat64() }),
		"large offset":    each(func(_, _ int) float64 { return 1e4 + r.NormFloat64() }),
		"near duplicates": each(func(i, j int) float64 { return float64(1+j%7) + float64(r.IntN(3))*0x1p-22 }),
		"integers":        each(func(_, _ int) float64 { return float64(r.IntN(16)) }),
		"shifted":         each(func(_, _ int) float64 { return float64(1<<20 + r.IntN(16)) }),
		"huge":            each(func(_, _ int) float64 { return math.Ldexp(r.NormFloat64(), 60+r.IntN(60)) }),
		"small":           each(func(_, _ int) float64 { return math.Ldexp(r.NormFloat64(), -70-r.IntN(70)) }),
		"wide":            each(func(_, _ int) float64 { return math.Ldexp(r.NormFloat64(), r.IntN(80)-40) }),
	}
}

// TestSearchIsBruteForce holds Search to a float64 brute force written here, for batches of every
// size: one query, few, all.
func TestSearchIsBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 0))
	for name, fill := range awkward(r) {
		for range 6 {
			x, y := NewMatrix(1+r.IntN(80), 1+r.IntN(70)), NewMatrix(1+r.IntN(900), 0)
			y = NewMatrix(y.Rows, x.Cols)
			fill(x)
			fill(y)
			copy(x.Row(0), y.Row(y.Rows-1)) // distance 0
			k := 1 + r.IntN(20)
			wantIDs, wantDists := bruteForce(x, y, k)
			for _, s := range All() {
				for _, batch := range []int{1, 2, 3, x.Rows} {
					where := fmt.Sprintf("%s on %s, %dx%dx%d, k = %d, %d a call", s.Name, name, x.Rows, y.Rows, x.Cols,
						k, batch)
					ws := Workspace{Threads: 1 + batch%2}
					for from := 0; from < x.Rows; from += batch {
						to := min(from+batch, x.Rows)
						ids, dists := make([]int, (to-from)*k), make([]float64, (to-from)*k)
						s.Search(ids, dists, k, x.RowRange(from, to), y, &ws)
						if !slices.Equal(ids, wantIDs[from*k:to*k]) || !slices.Equal(dists, wantDists[from*k:to*k]) {
							t.Fatalf("%s: queries from %d\n%v\n%v, want\n%v\n%v", where, from, ids, dists,
								wantIDs[from*k:to*k], wantDists[from*k:to*k])
						}
					}
				}
			}
			if wantDists[0] != 0 {
				t.Fatalf("%s: distance of a row to itself is %g", name, wantDists[0])
			}
		}
	}
}

// bruteForce sorts all float64 distances.
func bruteForce(x, y Matrix, k int) (ids []int, dists []float64) {
	for i := range x.Rows {
		order, d := make([]int, y.Rows), make([]float64, y.Rows)
		for j := range order {
			order[j], d[j] = j, sqDist64(x.Row(i), y.Row(j))
			if d[j] < 0 {
				panic("negative distance")
			}
		}
		// total order: ends in the row
		slices.SortFunc(order, func(a, b int) int {
			switch {
			case d[a] < d[b]:
				return -1
			case d[a] > d[b]:
				return 1
			}
			return a - b
		})
		for j := range k {
			if j < len(order) {
				ids, dists = append(ids, order[j]), append(dists, d[order[j]])
			} else {
				ids, dists = append(ids, -1), append(dists, math.Inf(1))
			}
		}
	}
	return ids, dists
}

// TestSqDist64 checks the lanes against a plain sum, within a bound, and integers exactly under shifts.
func TestSqDist64(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 0))
	for n := range 40 {
		x, y, xs, ys := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
		whole, sum := 0, 0.0
		for i := range n {
			a, b := r.IntN(4096), r.IntN(4096)
			x[i], y[i], xs[i], ys[i] = float32(a), float32(b), float32(a+1<<23), float32(b+1<<23)
			whole += (a - b) * (a - b)
		}
		if got := sqDist64(x, y); got != float64(whole) {
			t.Errorf("n = %d: %g, want %d", n, got, whole)
		}
		if got := sqDist64(xs, ys); got != float64(whole) {
			t.Errorf("n = %d, shifted: %g, want %d", n, got, whole)
		}
		for i := range n {
			x[i], y[i] = float32(r.NormFloat64()), float32(r.NormFloat64())
			d := float64(x[i]) - float64(y[i])
			sum += float64(d * d)
		}
		if got := sqDist64(x, y); math.Abs(got-sum) > 1e-14*sum {
			t.Errorf("n = %d: %g, want about %g", n, got, sum)
		}
	}
}

// TestSearchEdges compares searches on rows that fill blocks or groups of queries exactly, without rows, and without
// columns.
func TestSearchEdges(t *testing.T) {
	next := hardMatrices(19)["normal"]
	for _, c := range []struct{ rows, cols, dim int }{
		{0, 5, 3}, {blockRows, 5, 3}, {2 * blockRows, blockRows, 9}, {maxWidth, maxWidth, 2}, {5, 0, 3}, {5, 7, 0},
	} {
		x, _ := guardedMatrix(c.rows, c.dim, 1, 3, next)
		y, _ := guardedMatrix(c.cols, c.dim, 2, 1, next)
		compareSearches(t, "edges", x, y, 2)
	}
}

// TestSearchMisuse passes results that are one short or one long, and a k below 1.
func TestSearchMisuse(t *testing.T) {
	const wrong = "kernelops: result has the wrong shape"
	x, y := NewMatrix(3, 2), NewMatrix(4, 2)
	for _, s := range All() {
		for _, c := range []struct {
			ids, dists, k int
			want          any
		}{{6, 6, 2, nil}, {3, 3, 1, nil}, {5, 6, 2, wrong}, {6, 7, 2, wrong}, {0, 0, 0, wrong}, {1, 1, -1, wrong}} {
			got := panicOf(func() { s.Search(make([]int, c.ids), make([]float64, c.dists), c.k, x, y, &Workspace{}) })
			if got != c.want {
				t.Errorf("%s: %+v: panic %v", s.Name, c, got)
			}
		}
	}
}
