package kernelops

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// nearestLoop is the loop of Nearest's comment.
func nearestLoop(x Matrix, centers []float64) ([]int32, []float64) {
	index, sqDist := make([]int32, x.Rows), make([]float64, x.Rows)
	d := make([]float64, 1)
	for i := range x.Rows {
		index[i], sqDist[i] = -1, math.Inf(1)
		for j := range len(centers) / x.Cols {
			if groupDistancesGeneric(d, x.Cols, x.Row(i), x.Cols, centers, []int32{int32(j)}); d[0] < sqDist[i] {
				index[i], sqDist[i] = int32(j), d[0]
			}
		}
	}
	return index, sqDist
}

func checkNearest(t *testing.T, where string, x Matrix, centers []float64, origin []float32) {
	t.Helper()
	wantIndex, wantDist := nearestLoop(x, centers)
	index, sqDist := make([]int32, x.Rows), make([]float64, x.Rows)
	for _, s := range All() {
		for threads := 1; threads <= 2; threads++ {
			for i := range index { // no results of the set before
				index[i], sqDist[i] = -7, -7
			}
			s.Nearest(index, sqDist, x, s.PackCenters(centers, origin), &Workspace{Threads: threads})
			if i := differs(index, wantIndex); i >= 0 {
				t.Fatalf("%s on %s: row %d is at center %d (%v), want %d (%v)", s.Name, where, i, index[i], sqDist[i],
					wantIndex[i], wantDist[i])
			}
			equalBits(t, s.Name+" on "+where, sqDist, wantDist)
		}
	}
}

func differs(got, want []int32) int {
	for i, v := range got {
		if v != want[i] {
			return i
		}
	}
	return -1
}

// Points of a line: centers at 0, 4, 4 and 10, the rows between them. Equal distances go to the lower index.
func TestNearestByHand(t *testing.T) {
	x := Matrix{Data: []float32{-1, 2, 3, 7, 8, 1e38}, Rows: 6, Cols: 1, Stride: 1}
	for _, s := range All() {
		for _, origin := range []float32{0, 4, 1e6, -3e38} {
			index, sqDist := make([]int32, 6), make([]float64, 6)
			s.Nearest(index, sqDist, x, s.PackCenters([]float64{0, 4, 4, 10}, []float32{origin}), &Workspace{})
			far := float64(float32(1e38))
			if !slices.Equal(index, []int32{0, 0, 1, 1, 3, 0}) ||
				!slices.Equal(sqDist, []float64{1, 4, 1, 9, 4, far * far}) {
				t.Errorf("%s from %g: %v, %v", s.Name, origin, index, sqDist)
			}
		}
	}
}

// Two pairs of centers far apart, whose distance is far below the rounding of a float32 score: a row between two
// centers of a pair is nearer to one of them by a hair.
func TestNearestFarFromTheOrigin(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 0))
	x, centers := NewMatrix(2000, 2), []float64{1000, 0, 1000.1, 0, -1000, 0, -1000.1, 0}
	for i := range x.Rows {
		x.Row(i)[0] = float32(centers[2*(i%4)] + 0.01*r.NormFloat64())
		x.Row(i)[1] = float32(0.01 * r.NormFloat64())
	}
	checkNearest(t, "four groups", x, centers, []float32{0, 0})
}

// All shapes up to some panels, with awkward rows and centers, exact ties among them, and origins near and far.
func TestNearestIsBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(52, 0))
	for name, fill := range awkward(r) {
		for run := range 12 {
			x, y := NewMatrix(1+r.IntN(210), 1+r.IntN(40)), NewMatrix(1+r.IntN(120), 0)
			y = NewMatrix(y.Rows, x.Cols)
			fill(x)
			fill(y)
			centers := make([]float64, len(y.Data))
			for i, v := range y.Data {
				centers[i] = float64(v)
				if run%3 == 1 {
					centers[i] *= 1 + 0x1p-30*float64(r.IntN(3)-1) // between two float32
				}
			}
			if y.Rows > 2 { // a duplicate, and a row half way between two centers
				copy(centers[(y.Rows-1)*x.Cols:], centers[:x.Cols])
				for j := range x.Cols {
					x.Row(0)[j] = float32((centers[j] + centers[x.Cols+j]) / 2)
				}
			}
			origin := make([]float32, x.Cols)
			if run%2 == 1 {
				copy(origin, x.Row(x.Rows-1))
			}
			checkNearest(t, fmt.Sprintf("%s, run %d, %dx%dx%d", name, run, x.Rows, y.Rows, x.Cols), x, centers, origin)
		}
	}
}

// Rows that are equal, rows at the end of the range, and centers beyond it: the filter has no bound for them.
func TestNearestBeyondTheBound(t *testing.T) {
	const most = math.MaxFloat32
	x := Matrix{Data: []float32{most, most, -most, most, 0, 0, 1e30, -1e30, 1e-45, 0, 7, 7}, Rows: 6, Cols: 2,
		Stride: 2}
	for name, centers := range map[string][]float64{
		"extremes":  {most, -most, -most, most, 0, 0, 1e30, 1e30},
		"wide":      {4 * most, 0, -4 * most, 0, 1e-300, -1e-300},
		"equal":     {7, 7, 7, 7, 7, 7},
		"tiny":      {1e-45, 0, 0, 1e-45, -1e-45, 0},
		"one":       {1, 2},
		"a far one": {1e25, 0, 0, 0, 1, 1},
	} {
		for _, origin := range [][]float32{{0, 0}, {most, -most}, {7, 7}} {
			checkNearest(t, fmt.Sprint(name, origin), x, centers, origin)
		}
	}
}

// What is not finite never wins, alone or beside others.
func TestNearestOfNaN(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	x := Matrix{Data: []float32{nan, 1, 3, 4, inf, 1, 1, 2, 0.5, 0}, Rows: 5, Cols: 2, Stride: 2}
	checkNearest(t, "rows", x, []float64{0, 0, 3, 3, 5, 5}, []float32{1, 1})
	checkNearest(t, "a row", x.RowRange(0, 1), []float64{0, 0, 3, 3, 5, 5}, []float32{1, 1})
	checkNearest(t, "rows and one center", x, []float64{0, 0}, []float32{1, 1})
	checkNearest(t, "centers", x, []float64{math.NaN(), 0, 3, 3, math.Inf(1), 5, 1e200, 1}, []float32{1, 1})
}

// No score is farther from the exact distance, in rational numbers, than nearestBound says.
func TestNearestBoundHolds(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 0))
	for name, fill := range awkward(r) {
		worst := 0.0
		for range 40 {
			x := NewMatrix(1, 1+r.IntN(60))
			y := NewMatrix(1, x.Cols)
			fill(x)
			fill(y)
			origin, center := make([]float32, x.Cols), make([]float64, x.Cols)
			for j := range origin {
				origin[j] = x.Row(0)[j] * r.Float32()
				center[j] = float64(y.Row(0)[j]) * (1 + r.Float64())
			}
			worst = max(worst, scoreError(x.Row(0), center, origin))
		}
		t.Logf("%s: %.3f of the bound", name, worst)
		if worst > 1 {
			t.Errorf("%s: a score errs by %v of its bound", name, worst)
		}
	}
}

// scoreError returns how far the lower bound of a distance less |x|^2 is off its value, in parts of the bound; 0
// without one.
func scoreError(x []float32, center []float64, origin []float32) float64 {
	a, b, exact := make([]float32, len(x)), make([]float32, len(x)), new(big.Rat)
	for j, v := range x {
		a[j], b[j] = v-origin[j], float32(center[j]-float64(origin[j]))
		o := rat(float64(origin[j]))
		p, q := new(big.Rat).Sub(rat(float64(v)), o), new(big.Rat).Sub(rat(center[j]), o)
		exact.Add(exact, new(big.Rat).Mul(q, q)).Sub(exact, new(big.Rat).Mul(rat(2), p.Mul(p, q)))
	}
	bound, norms, low := newNearestBound(len(x)), []float32{chain32(b, b, 0)}, []float32{0}
	xNorm := chain32(a, a, 0)
	if !bound.lowNorms(low, norms) || !(xNorm <= maxNorm) {
		return 0
	}
	score := rat(float64(fma32(-2, chain32(a, b, 0), low[0])))
	off, _ := new(big.Rat).Sub(exact, score).Float64() // from 0, but for the row's part, to twice the bound
	slack := bound.relative * float64(xNorm) / 2
	width := bound.relative*float64(norms[0]) + bound.absolute
	return math.Abs(off-width) / (width + slack)
}

func rat(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }

func FuzzNearest(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(5), uint8(20), int8(0))
	f.Add(uint64(2), uint8(40), uint8(49), uint8(99), int8(100))
	f.Fuzz(func(t *testing.T, seed uint64, cols, centers, rows uint8, scale int8) {
		r := rand.New(rand.NewPCG(seed, 54))
		x, y := NewMatrix(1+int(rows), 1+int(cols)), make([]float64, (1+int(centers))*(1+int(cols)))
		grid := math.Ldexp(1, int(scale))
		for i := range x.Data {
			x.Data[i] = float32(grid * float64(r.IntN(9)))
		}
		for i := range y {
			y[i] = grid * float64(r.IntN(17)) / 2
		}
		checkNearest(t, fmt.Sprint(seed, cols, centers, rows, scale), x, y, x.Row(0))
	})
}

// TestPackedForAnotherSet packs by one set and computes by another.
func TestPackedForAnotherSet(t *testing.T) {
	x := NewMatrix(3, 2)
	for _, s := range All() {
		for _, other := range All() {
			var want any
			if s.Name != other.Name && other.matrix != nil { // a set without one leaves the centers as they are
				want = "kernelops: centers packed for another kernel set"
			}
			centers := other.PackCenters(make([]float64, 6), make([]float32, 2))
			got := panicOf(func() { s.Nearest(make([]int32, 3), make([]float64, 3), x, centers, &Workspace{}) })
			if got != want {
				t.Errorf("by %s of %s: panic %v", s.Name, other.Name, got)
			}
		}
	}
}
