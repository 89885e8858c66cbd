package sums

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
)

// Of class 0 are 1 and 3, of weights 1 and 3: mean 2.5, variance (2.25 + 3 * 0.25) / 4; of class 1 is 7 alone, and a
// row of weight 0.
func TestMomentsByHand(t *testing.T) {
	a := NewMomentAdder(2, 1, kernelops.Best())
	a.Dense(kernelops.Matrix{Data: []float32{1, 7, 3, 9}, Rows: 4, Cols: 1, Stride: 1}, []int32{0, 1, 0, 1},
		[]float32{1, 2, 3, 0})
	m := a.Moments()
	for class, want := range [][2]float64{{2.5, 0.75}, {7, 0}} {
		var mean, variance [1]float64
		m.Mean(class, mean[:])
		m.Variance(class, variance[:])
		if mean[0] != want[0] || variance[0] != want[1] {
			t.Errorf("class %d: mean %v, variance %v", class, mean, variance)
		}
	}
}

// N(1e6, 1), two groups 1e5 standard deviations apart, tiny and huge values: the variance is the nearest float64 to the
// exact one, and so is the mean.
func TestMomentsAgainstBigFloats(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for name, next := range map[string]func() float32{
		"far":     func() float32 { return 1e6 + float32(r.NormFloat64()) },
		"apart":   func() float32 { return float32(r.IntN(2))*1e5 + float32(r.NormFloat64()) },
		"tiny":    func() float32 { return float32(1e-30 * r.NormFloat64()) },
		"huge":    func() float32 { return float32(1e37 * r.NormFloat64()) },
		"outlier": func() float32 { return float32(r.NormFloat64() * math.Exp(min(80, 20*r.NormFloat64()))) },
	} {
		for _, weighted := range []bool{false, true} {
			const rows = 5000
			x, weights := kernelops.NewMatrix(rows, 1), make([]float32, rows)
			zero := func() *big.Float { return new(big.Float).SetPrec(4000) }
			weight, sum, squares := zero(), zero(), zero()
			for i := range rows {
				x.Row(i)[0], weights[i] = next(), 1
				if weighted {
					weights[i] = float32(r.Float64())
				}
				w, v := big.NewFloat(float64(weights[i])), big.NewFloat(float64(x.Row(i)[0]))
				weight.Add(weight, w)
				sum.Add(sum, zero().Mul(w, v))
				squares.Add(squares, zero().Mul(zero().Mul(w, v), v))
			}
			mean := zero().Quo(sum, weight)
			variance := zero().Sub(zero().Quo(squares, weight), zero().Mul(mean, mean))
			if !weighted {
				weights = nil
			}
			a := NewMomentAdder(1, 1, kernelops.Best())
			a.Dense(x, make([]int32, rows), weights)
			var gotMean, gotVariance [1]float64
			m := a.Moments()
			m.Mean(0, gotMean[:])
			m.Variance(0, gotVariance[:])
			wantMean, _ := mean.Float64()
			wantVariance, _ := variance.Float64()
			if gotVariance[0] != wantVariance || gotMean[0] != wantMean {
				t.Errorf("%s, weighted %v: %v and %v, want %v and %v", name, weighted, gotMean, gotVariance, wantMean,
					wantVariance)
			}
		}
	}
}

// AddAll is Add of each, also beyond the numbers that one set of parts takes.
func TestAddAll(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	list := make([]float64, kernelops.PartRows+100)
	for i := range list {
		list[i] = r.NormFloat64() * math.Exp(20*r.NormFloat64())
	}
	for _, list := range [][]float64{list, {1, -1}, {}, {0x1p-1074, 0x1p1000}, {0, 0}} {
		one, all := NewExact(1), NewExact(1)
		for _, v := range list {
			one.Add(0, v)
		}
		all.AddAll(0, list)
		if !slices.Equal(one.Floats(), all.Floats()) || one.Float(0) != all.Float(0) {
			t.Errorf("%v, want %v", all.Floats(), one.Floats())
		}
	}
}

func BenchmarkAddAll(b *testing.B) {
	e, v := NewExact(1), make([]float64, 1024)
	for i := range v {
		v[i] = rand.Float64()
	}
	b.SetBytes(8 * 1024)
	for b.Loop() {
		e.AddAll(0, v)
	}
}

func BenchmarkMoments(b *testing.B) {
	r := rand.New(rand.NewPCG(9, 1))
	x := kernelops.NewMatrix(4096, 32)
	for i := range x.Data {
		x.Data[i] = float32(r.NormFloat64())
	}
	class := make([]int32, x.Rows)
	b.SetBytes(int64(4 * len(x.Data)))
	for b.Loop() {
		a := NewMomentAdder(1, 32, kernelops.Best())
		for range 16 {
			a.Dense(x, class, nil)
		}
		a.Moments()
	}
}

// Classes 0 and 1 become 2 and 0 of three: means and variances go with them, and class 1 has no rows. The sums of what
// was placed and of other rows are those of all rows at once.
func TestPlacedByHand(t *testing.T) {
	of := func(class ...int32) *Moments {
		a := NewMomentAdder(3, 1, kernelops.Best())
		values := []float32{1, 1e20, -3, 1e20}[:len(class)]
		a.Dense(kernelops.Matrix{Data: values, Rows: len(class), Cols: 1, Stride: 1}, class, nil)
		return a.Moments()
	}
	two := NewMomentAdder(2, 1, kernelops.Best())
	two.Dense(kernelops.Matrix{Data: []float32{1, 1e20, -3}, Rows: 3, Cols: 1, Stride: 1}, []int32{0, 1, 0}, nil)
	placed := two.Moments().Placed([]int32{2, 0}, 3)
	if jobstest.Digest(jobs.ArraysOf(placed)) != jobstest.Digest(jobs.ArraysOf(of(2, 0, 2))) {
		t.Errorf("placed: weights %v, sums %v", placed.Weight.Floats(), placed.Sums.Floats())
	}
	sum, err := placed.Plus(of(1, 1))
	if err != nil || !slices.Equal(sum.Weight.Floats(), []float64{1, 2, 2}) || sum.Sums.Float(2) != -2 {
		t.Errorf("%v, %v, %v", sum.Weight.Floats(), sum.Sums.Floats(), err)
	}
}

// 0 and 1 are their own squares, whatever they weigh; 0.5 is not, nor are numbers of which one limb differs.
func TestFlagsByHand(t *testing.T) {
	for _, c := range []struct {
		values []float32
		want   bool
	}{
		{[]float32{0, 1, 1}, true}, {[]float32{0, 0, 0}, true}, {[]float32{0.5, 1, 1}, false},
		{[]float32{2, 1, 0}, false}, {[]float32{1e-30, 1, 1}, false},
	} {
		a := NewMomentAdder(1, 1, kernelops.Best())
		a.Dense(kernelops.Matrix{Data: c.values, Rows: 3, Cols: 1, Stride: 1}, []int32{0, 0, 0},
			[]float32{0.25, 3, 1e-20})
		if got := a.Moments().Flags(0); got != c.want {
			t.Errorf("%v: %v", c.values, got)
		}
	}
}
