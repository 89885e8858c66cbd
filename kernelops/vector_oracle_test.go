package kernelops

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// eps32 is half a unit in the last place of 1.
const eps32 = 0x1p-24

// TestVectorsByHand checks every set on cases worked by hand.
func TestVectorsByHand(t *testing.T) {
	minusZero := float32(math.Copysign(0, -1))
	for _, s := range All() {
		if got := s.Dot([]float32{1, 2, 3}, []float32{4, -5, 6}); got != 12 {
			t.Errorf("%s: (1 2 3)(4 -5 6) = %v, want 12", s.Name, got)
		}
		if got := s.Dot(nil, nil); math.Float32bits(got) != 0 {
			t.Errorf("%s: dot product of nothing is %v, want +0", s.Name, got)
		}
		x := Matrix{Data: []float32{1, -2, 3, 7, 4, 0, -1}, Rows: 2, Cols: 3, Stride: 4} // the 7 lies between the rows
		y := []float32{2, 2, 2}
		col := make([]float32, 2)
		for _, c := range []struct {
			name string
			f    func(*Set, []float32, Matrix, []float32)
			want []float32
		}{
			{"DotEach", dotEach, []float32{4, 6}},
			{"DotRows", (*Set).DotRows, []float32{4, 6}},
			{"SqEuclideanRows", (*Set).SqEuclideanRows, []float32{1 + 16 + 1, 4 + 4 + 9}},
			{"L1Rows", (*Set).L1Rows, []float32{1 + 4 + 1, 2 + 2 + 3}},
			{"LInfRows", (*Set).LInfRows, []float32{4, 3}},
		} {
			c.f(s, col, x, y)
			equalBits32(t, s.Name+" "+c.name, col, c.want)
		}
		// 0.1*10 is 1 + 2^-26 exactly, before it is rounded: fused, the sum keeps it.
		row := []float32{-1, 5, minusZero}
		s.Axpy(row, []float32{0.1, 1, minusZero}, 10)
		equalBits32(t, s.Name+" Axpy", row, []float32{0x1p-26, 15, minusZero})
		row = []float32{3, 1 + 0x1p-23, 0}
		s.Axpby(row, []float32{1, 1, 1}, -1, 1+0x1p-23) // (1+u)^2 rounds to 1+2u first, then minus 1
		equalBits32(t, s.Name+" Axpby", row, []float32{2 + 0x1p-21, 0x1p-22, -1})
		row = []float32{1, 1, 1}
		s.AxpyRows(row, x, []float32{2, -1})
		equalBits32(t, s.Name+" AxpyRows", row, []float32{-1, -3, 8})
		sums := []float64{0x1p-60, 0, 0, 1, 1, 1}
		s.AccumulateRows(sums, x, []int32{1, 0})
		equalBits(t, s.Name+" AccumulateRows", sums, []float64{4, 0, -1, 2, -1, 4})
		// Five columns: lane 0 has the first and the last, and 2^-54 is lost beside 1; 9 * 2^-56 in each of lanes 2
		// and 3 is not doubled.
		far := make([]float64, 2)
		s.GroupDistances(far, Matrix{Data: []float32{1, 0, 0, 0, 0x1p-27, 3, 4, 0, 0, 0}, Rows: 2, Cols: 5, Stride: 5},
			[]float64{0, 0, 0, 0, 0, 0, 0, 0x1p-27, 0, 0}, []int32{0, 1})
		equalBits(t, s.Name+" GroupDistances", far, []float64{1, 25})
		s.GroupDistances(far[:1], Matrix{Data: []float32{1, 0, 0x1.8p-27, 0x1.8p-27, 0}, Rows: 1, Cols: 5, Stride: 5},
			make([]float64, 5), []int32{0})
		equalBits(t, s.Name+" GroupDistances, lanes 2 and 3 first", far[:1], []float64{1 + 0x1p-52})
	}
}

// TestDotLanes puts one element on each lane and on its next round, with values whose sum
// depends on the order: 2^24 and ones, where 2^24 + 1 rounds back.
func TestDotLanes(t *testing.T) {
	x, ones := make([]float32, 64), make([]float32, 64)
	for i := range x {
		x[i], ones[i] = 1, 1
	}
	x[3] = 0x1p24 // lane 3: 2^24, then + 1 of element 35 is lost; joined by 2, 4, ... no longer
	for _, s := range All() {
		// lane 3 is 2^24, the others 2. Tree: +2 (lane 19), +4, +8, +16, +32: each exact.
		if got := s.Dot(x, ones); got != 0x1p24+62 {
			t.Errorf("%s: %v, want %v", s.Name, got, 0x1p24+62)
		}
	}
}

// TestSpecialDistances states what NaN and infinities give: a distance that cannot be known
// is NaN, which never wins a comparison.
func TestSpecialDistances(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, s := range All() {
		for _, n := range []int{1, 7, 32, 33, 100} {
			for _, at := range []int{0, n / 2, n - 1} {
				for _, c := range []struct{ x, y, want float32 }{
					{inf, 1, inf}, {1, -inf, inf}, {inf, -inf, inf}, {inf, inf, nan}, {nan, 1, nan}, {1, nan, nan},
					{nan, inf, nan},
				} {
					x, y, got := NewMatrix(1, n), make([]float32, n), make([]float32, 1)
					x.Data[at], y[at] = c.x, c.y
					for name, f := range map[string]func(*Set, []float32, Matrix, []float32){
						"SqEuclideanRows": (*Set).SqEuclideanRows, "L1Rows": (*Set).L1Rows, "LInfRows": (*Set).LInfRows,
					} {
						f(s, got, x, y)
						if !sameFloat32(got[0], c.want) {
							t.Errorf("%s %s: %v and %v in place %d of %d give %v, want %v", s.Name, name, c.x, c.y, at,
								n, got[0], c.want)
						}
					}
				}
			}
		}
	}
}

// TestVectorErrorBounds compares with gonum in float64 and holds the bounds that the doc
// comments state.
func TestVectorErrorBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 0))
	for _, n := range []int{1, 5, 31, 64, 100, 784, 5000} {
		o := newOperands(r, 3, n, 2, 0, hardData32(uint64(n))["normal"])
		for i := range o.y {
			o.y[i] += 10 // cancellation in the differences
		}
		y, size, want := widen(o.y), make([]float64, 3), make([]float64, 3)
		within := func(name string, f func([]float32, Matrix, []float32), bound float64) {
			t.Helper()
			f(o.col, o.x, o.y)
			for i, got := range o.col {
				if err := math.Abs(float64(got) - want[i]); err > bound*eps32*size[i] {
					t.Errorf("%s of %d: %v, exactly %v: error %v, bound %v", name, n, got, want[i], err,
						bound*eps32*size[i])
				}
			}
		}
		for _, s := range All() {
			each := func(f func(x []float64) (value, size float64)) {
				for i := range want {
					want[i], size[i] = f(widen(o.x.Row(i)))
				}
			}
			steps := math.Ceil(float64(n)/32) * (1 + 1e-6)
			each(func(x []float64) (float64, float64) {
				abs := 0.0
				for j := range x {
					abs += math.Abs(x[j] * y[j])
				}
				return floats.Dot(x, y), abs
			})
			within(s.Name+" DotRows", s.DotRows, steps+6)
			each(func(x []float64) (float64, float64) { d := floats.Distance(x, y, 2); return d * d, d * d })
			within(s.Name+" SqEuclideanRows", s.SqEuclideanRows, steps+8)
			each(func(x []float64) (float64, float64) { d := floats.Distance(x, y, 1); return d, d })
			within(s.Name+" L1Rows", s.L1Rows, steps+8)
			each(func(x []float64) (float64, float64) { d := floats.Distance(x, y, math.Inf(1)); return d, d })
			within(s.Name+" LInfRows", s.LInfRows, 1)
		}
	}
}

// TestAxpyRowsOracle compares with gonum's transposed matrix times vector: a chain of n
// roundings has an error of at most n 2^-24 times the sum of the magnitudes.
func TestAxpyRowsOracle(t *testing.T) {
	const rows, cols = 37, 150
	o := newOperands(rand.New(rand.NewPCG(10, 0)), rows, cols, 3, 0, hardData32(4)["normal"])
	a, dst := widen(o.a), widen(o.row)
	m, abs := make([]float64, 0, rows*cols), make([]float64, cols)
	for i := range rows {
		for j, v := range o.x.Row(i) {
			m = append(m, float64(v))
			abs[j] += math.Abs(float64(v) * a[i])
		}
	}
	blas64.Gemv(blas.Trans, 1, blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: m},
		blas64.Vector{N: rows, Inc: 1, Data: a}, 1, blas64.Vector{N: cols, Inc: 1, Data: dst})
	for _, s := range All() {
		got := o.copy()
		s.AxpyRows(got.row, got.x, got.a)
		for j, v := range got.row {
			if err, bound := math.Abs(float64(v)-dst[j]), rows*eps32*(abs[j]+math.Abs(float64(o.row[j]))); err > bound {
				t.Errorf("%s: element %d is %v, exactly %v: error %v, bound %v", s.Name, j, v, dst[j], err, bound)
			}
		}
	}
}

// widen returns v in float64.
func widen(v []float32) []float64 {
	w := make([]float64, len(v))
	for i, x := range v {
		w[i] = float64(x)
	}
	return w
}
