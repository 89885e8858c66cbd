package kernels

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gram-compute/gram/kernelops"
)

// matrixOf evaluates a kernel of all rows among each other, with their norms and squares.
func (e *ExactMatrix) ofAll(rows kernelops.Matrix) (values, norms, squares []float64) {
	var x, y ExactPoints
	e.Set(&x, rows, nil)
	e.Set(&y, rows, e.Squares(nil, rows))
	values, norms, squares = make([]float64, rows.Rows*rows.Rows), make([]float64, rows.Rows), y.squares
	for i := range norms {
		norms[i] = Exact{e.Kernel}.Norm(rows.Row(i))
	}
	if squares == nil {
		squares = make([]float64, rows.Rows)
	}
	e.Values(values, &x, &y)
	return values, norms, squares
}

func TestExactMatrixByHand(t *testing.T) {
	rows := kernelops.Matrix{Data: []float32{1, 2, 3, -1}, Rows: 2, Cols: 2, Stride: 2}
	for _, set := range kernelops.All() {
		for k, want := range map[kernelops.Kernel][2]float64{
			{}: {5, 1}, {Kind: kernelops.Polynomial, Scale: 2, Offset: 1, Degree: 2}: {121, 9},
			{Kind: kernelops.RBF, Scale: 0.25}: {1, math.Exp(-3.25)},
		} {
			e := &ExactMatrix{Function: NewFunction(k, spaceOf(rows)), Ops: set}
			values, _, _ := e.ofAll(rows)
			if values[0] != want[0] || math.Abs(values[1]-want[1]) > 1e-15 || values[2] != values[1] {
				t.Errorf("%s, %s: %v, not %v", set.Name, Text(k), values, want)
			}
		}
	}
}

// hardRows are rows of normal values, far from zero, in tight groups far apart, of very different scale, denormal, and
// such that their centering rounds.
func hardRows(r *rand.Rand, n int) kernelops.Matrix {
	x := kernelops.NewMatrix(7, 1+r.IntN(40))
	for i := range x.Rows {
		for j := range x.Row(i) {
			v := r.NormFloat64()
			switch n % 6 {
			case 1:
				v += 1e5
			case 2:
				v = float64(v*1e-3) + float64(i%2)*1e4
			case 3:
				v = math.Ldexp(v, j%9*4-20)
			case 4:
				v = math.Ldexp(v, -140)
			case 5:
				v = math.Ldexp(v, r.IntN(60)-30)
			}
			x.Row(i)[j] = float32(v)
		}
	}
	return x
}

// Values are within their errors of exact ones, the same by every kernel set and whatever rows stand beside them; and
// both roads of rbf are taken.
func TestExactMatrixErrors(t *testing.T) {
	r, products, differences := rand.New(rand.NewPCG(8, 6)), 0, 0
	for n := range 300 {
		rows := hardRows(r, n)
		largest := 1e-30
		for i := range rows.Rows {
			largest = max(largest, productOf(rows.Row(i), rows.Row(i)))
		}
		for kind := range kernelops.KernelKind(4) {
			k := kernelops.Kernel{Kind: kind, Degree: 1 + r.IntN(5), Offset: float32(r.NormFloat64())}
			k.Scale = float32(1 / largest)
			if kind == kernelops.RBF {
				k.Scale = float32(r.ExpFloat64() / max(1e-30, squareOfDifference(rows.Row(0), rows.Row(2))))
			}
			e := &ExactMatrix{Function: NewFunction(k, spaceOf(rows)), Ops: kernelops.Best()}
			values, norms, squares := e.ofAll(rows)
			for at, v := range values {
				i, j := at/rows.Rows, at%rows.Rows
				off := float(0).Sub(float(v), exactValue(k, rows.Row(i), rows.Row(j)))
				if bound := e.Error(norms[i], norms[j], squares[i], squares[j]); off.Abs(off).Cmp(float(bound)) > 0 {
					t.Fatalf("%s of %v and %v: off by %v, more than %v", Text(k), rows.Row(i), rows.Row(j), off, bound)
				}
				if kind == kernelops.RBF && e.near(squares[i], squares[j]) {
					products++
				} else if kind == kernelops.RBF {
					differences++
				}
			}
			sameEverywhere(t, e, rows, values)
		}
	}
	if products < 1000 || differences < 1000 {
		t.Errorf("%d pairs from products, %d from differences", products, differences)
	}
}

// sameEverywhere evaluates the rows two by two, by every kernel set.
func sameEverywhere(t *testing.T, e *ExactMatrix, rows kernelops.Matrix, want []float64) {
	t.Helper()
	for _, set := range kernelops.All() {
		each := &ExactMatrix{Function: e.Function, Ops: set}
		var x, y ExactPoints
		for at := range want {
			i, j := at/rows.Rows, at%rows.Rows
			var got [1]float64
			each.Set(&x, rows.RowRange(i, i+1), nil)
			each.Set(&y, rows.RowRange(j, j+1), nil)
			if each.Values(got[:], &x, &y); got[0] != want[at] && (got[0] == got[0] || want[at] == want[at]) {
				t.Fatalf("%s, %s: %v alone, %v with others", set.Name, Text(e.Kernel), got[0], want[at])
			}
		}
	}
}
