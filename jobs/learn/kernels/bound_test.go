package kernels

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/kernelops"
)

// adverse draws rows whose columns are far from 0, constant, whole, in two groups or of one outlier, each by chance.
func adverse(r *rand.Rand, n, width int) kernelops.Matrix {
	x := kernelops.NewMatrix(n, width)
	scale := math.Ldexp(1, r.IntN(80)-40)
	for j := range width {
		offset, deviation := 0.0, scale*math.Ldexp(1, r.IntN(6)-3)
		switch r.IntN(4) {
		case 0:
			offset = deviation * math.Ldexp(r.Float64(), r.IntN(30))
		case 1:
			deviation = 0
		}
		kind := r.IntN(4)
		for i := range n {
			v := offset + deviation*r.NormFloat64()
			switch {
			case kind == 0 && i%2 == 0:
				v += deviation * 1e6
			case kind == 1:
				v = math.Round(v)
			case kind == 2 && i == 3:
				v += deviation * 1e12
			}
			x.Row(i)[j] = float32(v)
		}
	}
	return x
}

// spaceOf has the moments of rows.
func spaceOf(x kernelops.Matrix) *features.Space {
	s := &features.Space{Width: x.Cols, Mean: make([]float64, x.Cols), Variance: make([]float64, x.Cols)}
	for j := range x.Cols {
		for i := range x.Rows {
			s.Mean[j] += float64(x.Row(i)[j]) / float64(x.Rows)
		}
		for i := range x.Rows {
			d := float64(x.Row(i)[j]) - s.Mean[j]
			s.Variance[j] += d * d / float64(x.Rows)
		}
	}
	return s
}

func squared(x, y []float32) (d float64) {
	for j := range x {
		t := float64(x[j]) - float64(y[j])
		d += t * t
	}
	return d
}

// Distances by products err by no more than the shares of their rows, and values by no more than what is proved and
// promised of them, on data made to be hard.
func TestAdverseData(t *testing.T) {
	const n = 12
	closest, values, differences := 0.0, 0, 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 9))
		width := 1 + r.IntN(60)
		if seed%100 == 0 {
			width = 2000 + r.IntN(8000)
		}
		x := adverse(r, n, width)
		space := spaceOf(x)
		space.Sparse = r.IntN(4) == 0
		gamma := float32(math.Ldexp(1, r.IntN(12)-6) / squared(x.Row(r.IntN(n)), x.Row(r.IntN(n))))
		if !(gamma > 0 && gamma < 1e38) {
			continue // twice the same row
		}
		f, e, dst, d := NewFunction(rbf(gamma), space), Evaluator{Ops: kernelops.Best()}, kernelops.NewMatrix(n, n),
			kernelops.NewMatrix(n, n)
		var p Points
		p.Set(f, e.Ops, x)
		if err := e.Symmetric(f, dst, &p); err != nil {
			t.Fatal(err)
		}
		e.Ops.SqDists(d, p.centered, p.centered, &e.ws)
		values, differences = values+n*(n-1)/2, differences+int(e.Roads.Differences)
		for i := range n {
			for j := range i {
				exact := squared(x.Row(i), x.Row(j))
				want, got := math.Exp(-float64(gamma)*exact), float64(dst.Row(i)[j])
				switch e := math.Abs(got - want); {
				case want < 1e-37 && got > 1.3e-37, want >= 1e-37 && !(e <= 1.01*MaxError*want), want > 1e-6 &&
					!(e <= 2e-5*want),
					!(e <= f.ValueError(dst.Row(i)[j], &p, &p, i, j)):
					t.Fatalf("seed %d, width %d, rows %d and %d: %v, not %v", seed, width, i, j, got, want)
				}
				if b := p.shares[i].plus(p.shares[j]).proved; b < math.Inf(1) {
					off := math.Abs(float64(d.Row(i)[j]) - exact)
					if closest = max(closest, off/b); off > b {
						t.Fatalf("seed %d, width %d, rows %d and %d: |x-y|^2 is %v, off by %v, more than %v", seed,
							width, i, j,
							exact, off, b)
					}
				}
			}
		}
	}
	if closest < 0.05 || differences == 0 || differences == values {
		t.Errorf("the largest error is %v of its bound; %d of %d values by differences", closest, differences, values)
	}
}
