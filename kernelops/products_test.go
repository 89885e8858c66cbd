package kernelops

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gram-compute/gram/kernelops/fmath"
)

func TestProductsByHand(t *testing.T) {
	x := Matrix{Data: []float32{1, 2, 3, 4}, Rows: 2, Cols: 2, Stride: 2}
	y := Matrix{Data: []float32{5, 6, 0, 7, 8, 0, 9, 10}, Rows: 3, Cols: 2, Stride: 3}
	for _, s := range All() {
		got := make([]float64, 6)
		s.Mixed.Products(got, x, y, nil, new(ProductSpace))
		equalBits(t, s.Name, got, []float64{17, 23, 29, 39, 53, 67})
		s.Mixed.Products(got, x, y, []float32{1, 2}, new(ProductSpace))
		equalBits(t, s.Name, got, []float64{0, 0, 0, 16, 24, 32})
		e := []float64{0, 1, math.Inf(-1)}
		s.Mixed.Exps(e)
		equalBits(t, s.Name, e, []float64{1, math.E, 0})
	}
}

// TestProductLoops compares with the loop of the doc comment, bit by bit, around the sizes of tiles, on hard data.
func TestProductLoops(t *testing.T) {
	narrow := hardData32(31)
	for _, kind := range slices.Sorted(maps.Keys(narrow)) {
		for n := range 60 {
			x, y := Matrix{Rows: 1 + n%17, Cols: 1 + n, Stride: 1 + n}, Matrix{Rows: 1 + n, Cols: 1 + n, Stride: 3 + n}
			x.Data, y.Data = make([]float32, x.Rows*x.Stride), make([]float32, y.Rows*y.Stride)
			fill(x.Data, narrow[kind])
			fill(y.Data, narrow[kind])
			origin := make([]float32, x.Cols)
			if n%3 == 0 {
				fill(origin, narrow[kind])
			}
			want := make([]float64, 0, x.Rows*y.Rows)
			for i := range x.Rows {
				for j := range y.Rows {
					c := 0.0
					for k, v := range x.Row(i) {
						c = math.FMA(float64(v)-float64(origin[k]), float64(y.Row(j)[k])-float64(origin[k]), c)
					}
					want = append(want, c)
				}
			}
			for _, s := range All() {
				g, space := newGuarded(len(want), n%8), new(ProductSpace)
				for range 2 {
					of := origin
					if n%3 > 0 {
						of = nil
					}
					s.Mixed.Products(g.row, x, y, of, space)
					equalBits(t, fmt.Sprintf("%s on %s, %d rows", s.Name, kind, n), g.row, want)
				}
				if !g.intact() {
					t.Fatalf("%s: wrote beyond the result", s.Name)
				}
			}
		}
	}
}

// TestProductsAcrossCalls takes rows longer than one call of an implementation.
func TestProductsAcrossCalls(t *testing.T) {
	const cols = productSteps + 3
	x := Matrix{Data: make([]float32, 9*cols), Rows: 9, Cols: cols, Stride: cols}
	fill(x.Data, hardData32(4)["normal"])
	want := make([]float64, 81)
	Generic().Mixed.Products(want, x, x, nil, new(ProductSpace))
	for _, s := range All() {
		got := make([]float64, 81)
		s.Mixed.Products(got, x, x, nil, new(ProductSpace))
		equalBits(t, s.Name, got, want)
	}
}

// TestExpLoops compares with fmath.Exp, bit by bit, at lengths around a block and at the ends of the range.
func TestExpLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 0))
	for n := range 600 {
		x := make([]float64, n)
		for i := range x {
			x[i] = []float64{r.NormFloat64(), -800 * r.Float64(), 1400*r.Float64() - 700, math.Ldexp(1, -r.IntN(1070)),
				float64(r.IntN(1400) - 700), math.Copysign(0, -1)}[(n+i%(1+n%7))%6]
		}
		want := slices.Clone(x)
		for i, v := range want {
			want[i] = fmath.Exp(v)
		}
		for _, s := range All() {
			got := slices.Clone(x)
			s.Mixed.Exps(got)
			equalBits(t, fmt.Sprintf("%s, %d exponentials", s.Name, n), got, want)
		}
	}
}

func TestProductMisuse(t *testing.T) {
	x := Matrix{Data: make([]float32, 4), Rows: 2, Cols: 2, Stride: 2}
	for _, s := range All() {
		for name, misuse := range map[string]func(){
			"results": func() { s.Mixed.Products(make([]float64, 3), x, x, nil, new(ProductSpace)) },
			"origin":  func() { s.Mixed.Products(make([]float64, 4), x, x, make([]float32, 3), new(ProductSpace)) },
			"columns": func() {
				y := Matrix{Data: x.Data, Rows: 4, Cols: 1, Stride: 1}
				s.Mixed.Products(make([]float64, 8), x, y, nil, new(ProductSpace))
			},
		} {
			if panicOf(misuse) == nil {
				t.Errorf("%s: %s: no panic", s.Name, name)
			}
		}
	}
}

// BenchmarkProducts reports nanoseconds per term, and per exponential.
func BenchmarkProducts(b *testing.B) {
	x := Matrix{Data: make([]float32, 240*784), Rows: 240, Cols: 784, Stride: 784}
	fill(x.Data, hardData32(4)["normal"])
	dst, space := make([]float64, 240*240), new(ProductSpace)
	for _, s := range All() {
		b.Run("784/"+s.Name, func(b *testing.B) {
			for b.Loop() {
				s.Mixed.Products(dst, x, x, x.Row(0), space)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(dst)*784), "ns/term")
		})
		b.Run("exp/"+s.Name, func(b *testing.B) {
			for b.Loop() {
				for i := range dst {
					dst[i] = -float64(i%32) / 3
				}
				s.Mixed.Exps(dst)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(dst)), "ns/value")
		})
	}
}
