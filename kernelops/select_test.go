package kernelops

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSelectByHand checks every set on points of a line: 0, 3, 3 and 10 against 1, 3 and 7.
func TestSelectByHand(t *testing.T) {
	y := Matrix{Data: []float32{0, 3, 3, 10}, Rows: 4, Cols: 1, Stride: 1}
	x := Matrix{Data: []float32{1, 3, 7}, Rows: 3, Cols: 1, Stride: 1}
	inf := math.Inf(1)
	for _, s := range All() {
		var ws Workspace
		index, score := make([]int32, 3), make([]float32, 3)
		s.ArgMin(index, score, x, s.PackCentroids(y), &ws)
		if !slices.Equal(index, []int32{0, 1, 3}) || !slices.Equal(score, []float32{0, -9, -40}) {
			t.Errorf("%s ArgMin: %v, %v", s.Name, index, score)
		}
		ids, dists := make([]int, 9), make([]float32, 9)
		s.TopK(ids, dists, 3, x, y, &ws)
		if !slices.Equal(ids, []int{0, 1, 2, 1, 2, 0, 3, 1, 2}) ||
			!slices.Equal(dists, []float32{1, 4, 4, 0, 0, 9, 9, 16, 16}) {
			t.Errorf("%s TopK: %v, %v", s.Name, ids, dists)
		}
		wide := make([]float64, 15)
		ids = make([]int, 15)
		s.Search(ids, wide, 5, x, y, &ws)
		if !slices.Equal(ids, []int{0, 1, 2, 3, -1, 1, 2, 0, 3, -1, 3, 1, 2, 0, -1}) ||
			!slices.Equal(wide, []float64{1, 4, 4, 81, inf, 0, 0, 9, 49, inf, 9, 16, 16, 49, inf}) {
			t.Errorf("%s Search: %v, %v", s.Name, ids, wide)
		}
		counts := make([]int, 3)
		s.RadiusCounts(counts, 9, x, y, &ws)
		if !slices.Equal(counts, []int{3, 3, 1}) {
			t.Errorf("%s RadiusCounts: %v", s.Name, counts)
		}
	}
}

// TestNaNNeverWins puts a NaN into a centroid, into a point, and everywhere.
func TestNaNNeverWins(t *testing.T) {
	nan := float32(math.NaN())
	y := Matrix{Data: []float32{nan, 5, 1}, Rows: 3, Cols: 1, Stride: 1}
	x := Matrix{Data: []float32{1, nan}, Rows: 2, Cols: 1, Stride: 1}
	for _, s := range All() {
		var ws Workspace
		index, score := make([]int32, 2), make([]float32, 2)
		s.ArgMin(index, score, x, s.PackCentroids(y), &ws)
		if !slices.Equal(index, []int32{2, -1}) || score[0] != -1 || !math.IsInf(float64(score[1]), 1) {
			t.Errorf("%s ArgMin: %v, %v", s.Name, index, score)
		}
		for _, rows := range []int{1, 2} { // alone and together
			ids, dists := make([]int, 2*rows), make([]float64, 2*rows)
			s.Search(ids, dists, 2, x.RowRange(0, rows), y, &ws)
			if want := []int{2, 1, -1, -1}[:2*rows]; !slices.Equal(ids, want) {
				t.Errorf("%s Search of %d: %v, %v", s.Name, rows, ids, dists)
			}
		}
		counts := make([]int, 2)
		s.RadiusCounts(counts, float32(math.Inf(1)), x, y, &ws)
		if !slices.Equal(counts, []int{2, 0}) {
			t.Errorf("%s RadiusCounts: %v", s.Name, counts)
		}
	}
}

// TestSelectEqualsGeneric compares all selections with the loops of the generic set.
func TestSelectEqualsGeneric(t *testing.T) {
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
			compareSelections(t, name, x, y, 1+r.IntN(12), next())
		}
	}
	one := func() float32 { return 1 }
	x, _ := guardedMatrix(100, 3, 0, 0, one) // nothing but ties
	y, _ := guardedMatrix(200, 3, 0, 0, one)
	compareSelections(t, "ties", x, y, 70, 0)
}

func compareSelections(t *testing.T, data string, x, y Matrix, k int, radius float32) {
	t.Helper()
	type result struct {
		index  []int32
		score  []float32
		ids    []int
		dists  []float32
		exact  []int
		wide   []float64
		counts []int
	}
	run := func(s *Set, threads int) result {
		ws := Workspace{Threads: threads}
		n := x.Rows
		g := result{make([]int32, n), make([]float32, n), make([]int, n*k), make([]float32, n*k), make([]int, n*k),
			make([]float64, n*k), make([]int, n)}
		s.ArgMin(g.index, g.score, x, s.PackCentroids(y), &ws)
		s.TopK(g.ids, g.dists, k, x, y, &ws)
		s.Search(g.exact, g.wide, k, x, y, &ws)
		s.RadiusCounts(g.counts, radius, x, y, &ws)
		return g
	}
	want := run(Generic(), 1)
	for _, s := range All() {
		for threads := 1; threads <= 2; threads++ {
			got := run(s, threads)
			where := fmt.Sprintf("%s, %d threads, %dx%dx%d on %s, k = %d", s.Name, threads, x.Rows, y.Rows, x.Cols,
				data, k)
			if !slices.Equal(got.index, want.index) {
				t.Fatalf("%s: ArgMin %v, want %v", where, got.index, want.index)
			}
			equalLoop32(t, where+", scores", got.score, want.score)
			if !slices.Equal(got.ids, want.ids) {
				t.Fatalf("%s: TopK %v, want %v", where, got.ids, want.ids)
			}
			equalLoop32(t, where+", TopK distances", got.dists, want.dists)
			if !slices.Equal(got.exact, want.exact) || !slices.Equal(got.wide, want.wide) {
				t.Fatalf("%s: Search\n%v\n%v, want\n%v\n%v", where, got.exact, got.wide, want.exact, want.wide)
			}
			if !slices.Equal(got.counts, want.counts) {
				t.Fatalf("%s: RadiusCounts %v, want %v", where, got.counts, want.counts)
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
