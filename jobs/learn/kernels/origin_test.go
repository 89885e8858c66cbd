package kernels

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
	"pgregory.net/rapid"
)

func rbf(gamma float32) kernelops.Kernel {
	return kernelops.Kernel{Kind: kernelops.RBF, Scale: gamma}
}

// functionOf is the kernel over a space of such means and variances.
func functionOf(gamma float32, mean, variance []float64) Function {
	return NewFunction(rbf(gamma), &features.Space{Width: len(mean), Mean: mean, Variance: variance})
}

// An origin is a multiple of the power of two between a quarter of the deviation and half of it, without bits to spare.
func TestOriginByHand(t *testing.T) {
	for _, c := range []struct{ mean, variance, want float64 }{
		{0, 1, 0},
		{0.2, 1, 0},               // steps of 1/2
		{0.3, 1, 0.5},             //
		{1000.3, 1, 1000.5},       //
		{-1000.3, 0.81, -1000.25}, // steps of 1/4
		{1e6 + 0.1, 4, 1e6},       // steps of 1
		{5.1, 0, float64(float32(5.1))},
		{3e38, 1, float64(float32(3e38))},
		{3.4e38, 1e76, 0x1p128 - 0x1p104}, // not rounded beyond float32
		{1e-42, 1e-84, 3 * 0x1p-141},
	} {
		got := originOf(c.mean, math.Sqrt(c.variance))
		if c.mean == 3.4e38 {
			if got-got != 0 {
				t.Errorf("origin of mean %v: %v", c.mean, got)
			}
			continue
		}
		if float64(got) != c.want {
			t.Errorf("origin of mean %v, variance %v: %v, not %v", c.mean, c.variance, got, c.want)
		}
	}
	if f := functionOf(1, []float64{0.1, -0.2}, []float64{1, 1}); f.Centered() {
		t.Errorf("origin %v of rows around 0", f.origin)
	}
	far := &features.Space{Width: 1, Mean: []float64{100}, Variance: []float64{1}}
	if f := NewFunction(kernelops.Kernel{}, far); f.Centered() || f.Version() != versionPlain {
		t.Errorf("the linear kernel is centered: %+v", f)
	}
	if f := NewFunction(rbf(1), &features.Space{Width: 1, Sparse: true}); f.Centered() || f.Version() != versionOrigin {
		t.Errorf("sparse rows are centered: %+v", f)
	}
}

func TestFunctionsAreStored(t *testing.T) {
	space := &features.Space{Width: 2, Mean: []float64{100, 0}, Variance: []float64{1, 1}}
	near := &features.Space{Width: 2, Mean: []float64{0, 0}, Variance: []float64{1, 1}}
	for _, s := range []*features.Space{space, near} {
		for _, k := range []kernelops.Kernel{rbf(0.5), {}, {Kind: kernelops.Sigmoid, Scale: 1}} {
			got, want := Function{}, NewFunction(k, s)
			model := func(of *Function) jobs.FieldsFunc {
				return func(f *jobs.Fields) {
					KindField(f, "K", *of, false)
					of.Fields(f, s)
				}
			}
			a := jobs.ArraysOf(model(&want))
			if _, err := jobs.Read(a, model(&got)); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%+v, %v, want %+v", got, err, want)
			}
			a.PutKind("K", 3-want.Version())
			var fault *protocol.Fault
			if _, err := jobs.Read(a, model(&got)); !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
				t.Errorf("another layout: %v", err)
			}
		}
	}
}

// A row of two values of 1: with u = 2^-24 and two roundings g = 2u/(1-2u), its share is 2 (2g/(1-g) + 10u), some 28 u.
func TestSlackByHand(t *testing.T) {
	f := functionOf(1, []float64{0, 0}, []float64{1, 1})
	var p Points
	p.Set(f, kernelops.Generic(), kernelops.Matrix{Data: []float32{1, 1}, Rows: 1, Cols: 2, Stride: 2})
	if got := p.shares[0].proved / unit; !(got > 28 && got < 28.001) {
		t.Errorf("%v u", got)
	}
	f.sparse = true
	p.Set(f, kernelops.Generic(), kernelops.Matrix{Data: []float32{0, 1}, Rows: 1, Cols: 2, Stride: 2})
	if got := p.shares[0].proved / unit; !(got > 12 && got < 12.001) { // one rounding, a norm of 1
		t.Errorf("%v u of a row with a zero", got)
	}
	p.Set(f, kernelops.Generic(), kernelops.Matrix{Data: []float32{3e38, 3e38}, Rows: 1, Cols: 2, Stride: 2})
	if !math.IsInf(p.shares[0].proved, 1) || !math.IsInf(p.shares[0].typical, 1) {
		t.Errorf("%v of a row beyond float32", p.shares[0])
	}
}

func draw(seed uint64, n, width int, offset float64) kernelops.Matrix {
	r := rand.New(rand.NewPCG(seed, 1))
	x := kernelops.NewMatrix(n, width)
	for i := range x.Data {
		x.Data[i] = float32(offset + r.NormFloat64())
	}
	return x
}

// Wide sparse rows of few values keep to the products: a zero moves no sum.
func TestWideSparseRowsKeepToProducts(t *testing.T) {
	const width = 1 << 15
	x := kernelops.NewMatrix(20, width)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range x.Rows {
		for range 64 {
			x.Row(i)[r.IntN(width)] = 0.125
		}
	}
	f := NewFunction(rbf(1), &features.Space{Width: width, Sparse: true})
	e, dst := Evaluator{Ops: kernelops.Best()}, kernelops.NewMatrix(20, 20)
	var p Points
	p.Set(f, e.Ops, x)
	if err := e.Symmetric(f, dst, &p); err != nil || e.Roads.Differences != 0 || !(e.Roads.Bound > 0 &&
		e.Roads.Bound < 1e-4) {
		t.Errorf("%+v, %v", e.Roads, err)
	}
}

// What is held row by row is what all rows give at once.
func TestHeldRowsAreThoseOfPoints(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		offset := rapid.SampledFrom([]float64{0, 100}).Draw(r, "offset")
		f := functionOf(1, []float64{offset, offset, offset}, []float64{1, 1, 1})
		x := draw(rapid.Uint64().Draw(r, "seed"), 12, 3, offset)
		var p Points
		p.Set(f, kernelops.Generic(), x)
		var h Held
		rows := kernelops.Matrix{Cols: 3, Stride: 3}
		for range rapid.IntRange(1, 12).Draw(r, "rows") {
			i := rapid.IntRange(0, 11).Draw(r, "row")
			h.Grow(f)
			h.Put(f, rows.Rows, &p, i)
			rows.Data, rows.Rows = append(rows.Data, x.Row(i)...), rows.Rows+1
		}
		i, j := rapid.IntRange(0, rows.Rows-1).Draw(r, "i"), rapid.IntRange(0, rows.Rows-1).Draw(r, "j")
		h.Swap(f, i, j)
		for k := range 3 {
			rows.Row(i)[k], rows.Row(j)[k] = rows.Row(j)[k], rows.Row(i)[k]
		}
		var again Held
		again.Begin(f, kernelops.Generic(), rows)
		a, b := h.Points(f, rows), again.Points(f, rows)
		if !slices.Equal(a.shares, b.shares) || !slices.Equal(a.centered.Data, b.centered.Data) {
			r.Errorf("%v, not %v", a, b)
		}
	})
}

// Values do not depend on the blocks in which they are computed, nor on the order of two rows, nor on the kernel set.
func TestValuesAreOfTheirRows(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		x := draw(rapid.Uint64().Draw(r, "seed"), 30, 5, rapid.SampledFrom([]float64{0, 1e3, 1e7}).Draw(r, "offset"))
		f := functionOf(rapid.SampledFrom([]float32{0.01, 1, 1e4}).Draw(r, "gamma"), make([]float64, 5), []float64{1,
			1, 1, 1, 1})
		whole, e := kernelops.NewMatrix(30, 30), Evaluator{Ops: kernelops.Generic()}
		var p, q Points
		p.Set(f, e.Ops, x)
		if err := e.Symmetric(f, whole, &p); err != nil {
			r.Fatal(err)
		}
		from, to := rapid.IntRange(0, 14).Draw(r, "from"), rapid.IntRange(15, 30).Draw(r, "to")
		for _, ops := range kernelops.All() {
			e, part := Evaluator{Ops: ops}, kernelops.NewMatrix(to-from, 30)
			sums := make([]float64, (to-from)*2)
			class := make([]int32, 30)
			for j := range class {
				class[j] = int32(j % 2)
			}
			p.Set(f, ops, x)
			q.Set(f, ops, x.RowRange(from, to))
			if err := errors.Join(e.Matrix(f, part, &q, &p), e.Sums(f, sums, &q, &p, class, nil)); err != nil {
				r.Fatal(err)
			}
			for i := range part.Rows {
				want := [2]float64{}
				for j, v := range part.Row(i) {
					want[j%2] += float64(v)
				}
				if !slices.Equal(part.Row(i), whole.Row(from+i)) || !slices.Equal(sums[2*i:2*i+2], want[:]) {
					r.Fatalf("%s, row %d: %v and %v, not %v", ops.Name, i, part.Row(i), sums[2*i:2*i+2],
						whole.Row(from+i))
				}
			}
		}
	})
}

func TestHostileRoads(t *testing.T) {
	f := functionOf(1, []float64{0}, []float64{1})
	for name, spoil := range map[string]func(a jobs.Arrays){
		"no bound":       func(a jobs.Arrays) { delete(a, roadsBound) },
		"no count":       func(a jobs.Arrays) { delete(a, "kernel.differences") },
		"NaN":            func(a jobs.Arrays) { jobs.PutScalar(a, roadsBound, math.NaN()) },
		"above the most": func(a jobs.Arrays) { jobs.PutScalar(a, roadsBound, 0.1) },
		"negative":       func(a jobs.Arrays) { jobs.PutScalar(a, "kernel.differences", int64(-1)) },
	} {
		fields := jobs.FieldsFunc(func(list *jobs.Fields) { (&Roads{Bound: 1e-4, Differences: 2}).Fields(list, f) })
		a := jobs.ArraysOf(fields)
		spoil(a)
		if _, err := jobs.Read(a, fields); err == nil {
			t.Errorf("%s: read", name)
		}
	}
}
