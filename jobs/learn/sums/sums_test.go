package sums

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

func wantCorrupt(t *testing.T, what string, err error) {
	t.Helper()
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
		t.Errorf("%s: %v", what, err)
	}
}

func TestOf(t *testing.T) {
	left := []int64{1, 2}
	if got, err := Of(left, []int64{10, 20}); err != nil || !slices.Equal(got, []int64{11, 22}) || left[0] != 1 {
		t.Errorf("%v, %v; left is %v", got, err, left)
	}
	if got, err := Of[int64](nil, nil); got != nil || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	_, err := Of([]int64{1}, nil)
	wantCorrupt(t, "two lengths", err)
}

// Rows (1, 2), (3, 4) and (5, 6) of classes 1, 0 and 1, plain and weighing 2, 3 and 0.5; (0, 4) leaves a sparse zero
// out.
func TestRowsByHand(t *testing.T) {
	x := kernelops.Matrix{Data: []float32{1, 2, 3, 4, 5, 6}, Rows: 3, Cols: 2, Stride: 2}
	class, weights := []int32{1, 0, 1}, []float32{2, 3, 0.5}
	wantRows := func(what string, a *Adder, sums, weight, squares []float64) {
		t.Helper()
		m := a.Moments()
		if !slices.Equal(m.Sums.Floats(), sums) || !slices.Equal(m.Weight.Floats(), weight) ||
			!slices.Equal(m.Squares.Floats(), squares) {
			t.Errorf("%s: %v, %v, %v", what, m.Sums.Floats(), m.Weight.Floats(), m.Squares.Floats())
		}
	}
	for _, ops := range kernelops.All() {
		plain := NewMomentAdder(2, 2, ops)
		plain.Dense(x, class, nil)
		wantRows("plain", plain, []float64{3, 4, 6, 8}, []float64{1, 2}, []float64{9, 16, 26, 40})
		if low, high := plain.Range(); !slices.Equal(low, []float32{1, 2}) || !slices.Equal(high, []float32{5, 6}) {
			t.Errorf("%s: ranges %v to %v", ops.Name, low, high)
		}
		weighted := NewMomentAdder(2, 2, ops)
		weighted.Dense(x, class, weights)
		wantRows("weighted", weighted, []float64{9, 12, 4.5, 7}, []float64{3, 2.5}, []float64{27, 48, 14.5, 26})
	}
	entries := dataset.Sparse{Width: 2, Indptr: []int{0, 2, 3, 5}, Indices: []int32{0, 1, 1, 0, 1},
		Values: []float32{1, 2, 4, 5, 6}}
	sparse := NewMomentAdder(2, 2, kernelops.Generic())
	sparse.Sparse(entries, class, weights)
	wantRows("sparse", sparse, []float64{0, 12, 4.5, 7}, []float64{3, 2.5}, []float64{0, 48, 14.5, 26})
	sparse = NewMomentAdder(2, 2, kernelops.Generic())
	sparse.Sparse(entries, class, nil)
	wantRows("sparse, plain", sparse, []float64{0, 4, 6, 8}, []float64{1, 2}, []float64{0, 16, 26, 40})
}

// stored is moments as a partial holds them.
type stored struct{ *Moments }

func (s stored) Fields(f *jobs.Fields) { s.Moments.Fields(f) }

// hardRows are columns of different scales, far from zero, with outliers, denormals and zeros.
func hardRows(r *rand.Rand, rows int) kernelops.Matrix {
	x := kernelops.NewMatrix(rows, 7)
	for i := range rows {
		copy(x.Row(i), []float32{float32(r.NormFloat64()), 1e6 + float32(r.NormFloat64()),
			1e-30 * float32(r.NormFloat64()), float32(r.IntN(3)), 0x1p-149 * float32(r.IntN(9)),
			1e38 * float32(r.Float64()), float32(r.NormFloat64())})
		if r.IntN(50) == 0 {
			x.Row(i)[6] *= 1e20
		}
	}
	return x
}

// Any cut of the rows, by any kernel set, weighted by 1 or not at all, gives the same arrays.
func TestAdderIsOrderFree(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	x := hardRows(r, 3000)
	class, ones := make([]int32, x.Rows), slices.Repeat([]float32{1}, x.Rows)
	for i := range class {
		class[i] = int32(r.IntN(3))
	}
	var want jobs.Arrays
	for _, ops := range kernelops.All() {
		for _, cut := range [][]int{{0, 3000}, {0, 1, 2, 17, 900, 901, 3000}, {0, 2999, 3000}} {
			whole := NewMomentAdder(3, 7, ops).Moments()
			for i, from := range cut[:len(cut)-1] {
				a, to := NewMomentAdder(3, 7, ops), cut[i+1]
				middle := (from + to) / 2
				a.Dense(x.RowRange(middle, to), class[middle:to], nil)
				a.Dense(x.RowRange(from, middle), class[from:middle], ones[from:middle])
				part, err := jobs.Read(jobs.ArraysOf(stored{a.Moments()}), stored{&Moments{}})
				if err != nil {
					t.Fatal(err)
				}
				if whole, err = part.Plus(whole); err != nil {
					t.Fatal(err)
				}
			}
			got := jobs.ArraysOf(stored{whole})
			if want == nil {
				want = got
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, cut %v: other arrays", ops.Name, cut)
			}
		}
	}
}

func TestPlusRefusesOtherShapes(t *testing.T) {
	of := func(classes, width int) *Moments {
		return NewMomentAdder(classes, width, kernelops.Generic()).Moments()
	}
	_, err := of(2, 2).Plus(of(2, 3))
	wantCorrupt(t, "another width", err)
	_, err = of(2, 2).Plus(of(3, 2))
	wantCorrupt(t, "more classes", err)
	a := jobs.ArraysOf(stored{of(2, 2)})
	jobs.PutScalar(a, "sums.width", int64(3))
	_, err = jobs.Read(a, stored{&Moments{}})
	wantCorrupt(t, "a width that is not that of the sums", err)
}

// Rows that are taken out again leave the bytes of sums that never had them.
func TestLess(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	const rows, width, classes = 500, 5, 3
	for _, weighted := range []bool{false, true} {
		x, class, weights := kernelops.NewMatrix(rows, width), make([]int32, rows), []float32(nil)
		for i := range x.Data {
			x.Data[i] = float32(r.NormFloat64() * math.Pow(10, float64(i%30-15)))
		}
		for i := range class {
			class[i] = int32(r.IntN(classes))
			if weighted {
				weights = append(weights, float32(r.IntN(9))/8)
			}
		}
		half := func(w []float32, from, to int) []float32 {
			if w == nil {
				return nil
			}
			return w[from:to]
		}
		all, some := NewAdder(classes, width, kernelops.Best()), NewAdder(classes, width, kernelops.Generic())
		all.Dense(x, class, weights)
		before := all.Rows().Clone()
		all.Less(x.RowRange(100, rows), class[100:], half(weights, 100, rows))
		some.Dense(x.RowRange(0, 100), class[:100], half(weights, 0, 100))
		if got, want := bytesOf(all.Rows()), bytesOf(some.Rows()); !bytes.Equal(got, want) {
			t.Errorf("weights %v: sums of 100 rows have other bytes after 400 were taken out", weighted)
		}
		all.Dense(x.RowRange(100, rows), class[100:], half(weights, 100, rows))
		if !bytes.Equal(bytesOf(all.Rows()), bytesOf(before)) {
			t.Errorf("weights %v: other bytes after 400 rows were taken out and added again", weighted)
		}
	}
}

// TestMove: sums of rows that were moved have the bytes of those of rows that were added where they are now, though the
// parts have become too wide for the least values since these were added.
func TestMove(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const rows, width, classes = 400, 6, 4
	for _, widest := range []float64{1, 1e12, 1e25} {
		for _, weighted := range []bool{false, true} {
			x, weights := kernelops.NewMatrix(rows, width), []float32(nil)
			from, to := make([]int32, rows), make([]int32, rows)
			for i := range x.Data {
				x.Data[i] = float32(r.NormFloat64())
				if i%7 == 0 {
					x.Data[i] = 0
				}
				switch row := i / width; {
				case row == rows-1:
					x.Data[i] *= float32(widest)
				case row%3 == 0:
					x.Data[i] *= 1e-9
				}
			}
			for i := range from {
				from[i], to[i] = int32(r.IntN(classes)), int32(r.IntN(classes))
				if weighted {
					weights = append(weights, float32(r.IntN(9))/8)
				}
			}
			got, want := NewAdder(classes, width, kernelops.Best()), NewAdder(classes, width, kernelops.Generic())
			for i := range rows {
				var w []float32
				if weighted {
					w = weights[i : i+1]
				}
				got.Dense(x.RowRange(i, i+1), from[i:i+1], w)
			}
			if widest == 1 && !weighted && !got.fits() || widest == 1e25 && !weighted && got.fits() {
				t.Errorf("values up to %g: parts fit is %v", widest, got.fits())
			}
			got.Move(x, from, to, weights)
			want.Dense(x, to, weights)
			if !bytes.Equal(bytesOf(got.Rows()), bytesOf(want.Rows())) {
				t.Errorf("values up to %g, weights %v: other bytes than of rows that did not move", widest, weighted)
			}
		}
	}
}

// storedRows are rows as a partial.
type storedRows struct{ *Rows }

func (s storedRows) Fields(f *jobs.Fields) { s.Rows.Fields(f, "sums", "weight") }

func bytesOf(r *Rows) []byte { return jobs.ArraysOf(storedRows{r}).Encode() }
