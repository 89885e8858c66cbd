package kernelops

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// pairOp is an operation on two sets of points, and its measure in Go.
type pairOp struct {
	name    string
	measure measure
	run     func(s *Set, dst, x, y Matrix, ws *Workspace)
}

func kernelOp(name string, k Kernel) pairOp {
	return pairOp{name, k.measure(), func(s *Set, dst, x, y Matrix, ws *Workspace) { s.KernelMatrix(dst, k, x, y, ws) }}
}

var pairOps = []pairOp{
	{"Dots", measure{}, (*Set).Dots},
	{"SqDists", measure{kind: sqDist}, (*Set).SqDists},
	kernelOp("linear", Kernel{}),
	kernelOp("cubic", Kernel{Kind: Polynomial, Scale: 0.3, Offset: 1, Degree: 3}),
	kernelOp("degree 1", Kernel{Kind: Polynomial, Scale: -1, Offset: 0, Degree: 1}),
	kernelOp("RBF", Kernel{Kind: RBF, Scale: 0.03}),
	kernelOp("sigmoid", Kernel{Kind: Sigmoid, Scale: 0.1, Offset: -0.5}),
}

// TestPairsByHand checks every set on points worked by hand: (3,4), (0,0) against
// (3,4), (-3,-4), (0,1).
func TestPairsByHand(t *testing.T) {
	x := Matrix{Data: []float32{3, 4, 0, 0}, Rows: 2, Cols: 2, Stride: 2}
	y := Matrix{Data: []float32{3, 4, -3, -4, 0, 1}, Rows: 3, Cols: 2, Stride: 2}
	for _, s := range All() {
		var ws Workspace
		dst := NewMatrix(2, 3)
		for _, c := range []struct {
			name string
			run  func()
			want []float32
		}{
			{"Dots", func() { s.Dots(dst, x, y, &ws) }, []float32{25, -25, 4, 0, 0, 0}},
			{"SqDists", func() { s.SqDists(dst, x, y, &ws) }, []float32{0, 100, 18, 25, 25, 1}},
			{"square", func() {
				s.KernelMatrix(dst, Kernel{Kind: Polynomial, Scale: 2, Offset: 1, Degree: 2}, x, y,
					&ws)
			},
				[]float32{51 * 51, 49 * 49, 81, 1, 1, 1}},
			{"RBF", func() { s.KernelMatrix(dst, Kernel{Kind: RBF, Scale: 1}, x, y, &ws) },
				[]float32{1, 0, 1.5229979744712629e-08, 1.3887943864964021e-11, 1.3887943864964021e-11,
					0.36787944117144233}},
			{"sigmoid", func() { s.KernelMatrix(dst, Kernel{Kind: Sigmoid, Scale: 1}, x, y, &ws) },
				[]float32{1, -1, 0.999329299739067, 0, 0, 0}},
		} {
			c.run()
			for i, want := range c.want {
				got := dst.Data[i]
				if math.Abs(float64(got-want)) > 0x1p-23*math.Abs(float64(want)) {
					t.Errorf("%s %s: element %d is %x, want %x", s.Name, c.name, i, got, want)
				}
			}
		}
	}
}

// hardMatrices are generators of elements that make sums round twice, underflow, overflow
// or cancel. None draws a NaN, but infinities may meet.
func hardMatrices(seed uint64) map[string]func() float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	pick := func(v ...float32) float32 { return v[r.IntN(len(v))] }
	return map[string]func() float32{
		"normal":    func() float32 { return float32(r.NormFloat64()) },
		"bits":      func() float32 { return float32FromBits(r) },
		"subnormal": func() float32 { return pick(1, -1) * float32(math.Ldexp(1+r.Float64(), -60-r.IntN(30))) },
		"tie": func() float32 {
			return pick(1, -1) * pick(0x1p-24, 1, 0x1p-12) * (1 + pick(1, -1)*float32(r.IntN(9))*0x1p-23)
		},
		"overflow": func() float32 { return pick(1, -1) * float32(math.Ldexp(1+r.Float64(), 58+r.IntN(7))) },
		"special": func() float32 {
			return pick(0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), 1, -1,
				0x1p-149)
		},
	}
}

// guardedMatrix returns a matrix inside a zone of one particular NaN, between its rows too.
func guardedMatrix(rows, cols, gap, offset int, next func() float32) (m Matrix, intact func() bool) {
	const zone = 2 * maxWidth
	stride := cols + gap
	all := make([]float32, zone+offset+rows*stride+zone)
	for i := range all {
		all[i] = math.Float32frombits(0x7fc12345)
	}
	m = Matrix{Data: all[zone+offset : zone+offset+rows*stride], Rows: rows, Cols: cols, Stride: stride}
	for i := range rows {
		for j := range cols {
			m.Row(i)[j] = next()
		}
	}
	return m, func() bool {
		for i, v := range all {
			at := i - zone - offset
			if inside := at >= 0 && at < rows*stride && at%stride < cols; !inside && math.Float32bits(v) != 0x7fc12345 {
				return false
			}
		}
		return true
	}
}

// wantPairs is the operation written down once more, without blocks.
func wantPairs(m measure, x, y Matrix) []float32 {
	norm := func(row []float32) float32 { return chain32(row, row, 0) }
	var want []float32
	for i := range x.Rows {
		for j := range y.Rows {
			want = append(want, m.value(chain32(x.Row(i), y.Row(j), 0), norm(x.Row(i)), norm(y.Row(j))))
		}
	}
	return want
}

// comparePairs demands the bits of wantPairs from every operation and set, inputs unchanged, and
// nothing written beyond the results.
func comparePairs(t *testing.T, ops []pairOp, rows, cols, dim int, data string, next func() float32) {
	t.Helper()
	x, xIntact := guardedMatrix(rows, dim, rows%4, dim%16, next)
	y, yIntact := guardedMatrix(cols, dim, cols%3, cols%16, next)
	xBefore, yBefore := append([]float32(nil), x.Data...), append([]float32(nil), y.Data...)
	for _, op := range ops {
		want := wantPairs(op.measure, x, y)
		for _, s := range All() {
			for threads := 1; threads <= 2; threads++ {
				dst, intact := guardedMatrix(rows, cols, dim%5, rows%16, func() float32 { return -7 })
				op.run(s, dst, x, y, &Workspace{Threads: threads})
				where := fmt.Sprintf("%s %s of %dx%dx%d on %s, %d threads", s.Name, op.name, rows, cols, dim, data,
					threads)
				for i := range rows {
					equalLoop32(t, fmt.Sprintf("%s, row %d", where, i), dst.Row(i), want[i*cols:(i+1)*cols])
				}
				if !intact() || !xIntact() || !yIntact() {
					t.Fatalf("%s: wrote beyond the result", where)
				}
			}
		}
	}
	equalRaw32(t, "x after", x.Data, xBefore)
	equalRaw32(t, "y after", y.Data, yBefore)
}

// equalLoop32 compares bit by bit; a NaN equals any NaN.
func equalLoop32(t *testing.T, where string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
			t.Fatalf("%s: element %d of %d is %x, want %x", where, i, len(want), got[i], want[i])
		}
	}
}

func equalRaw32(t *testing.T, where string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: element %d changed from %x to %x", where, i, want[i], got[i])
		}
	}
}

// TestPairsEqualTheLoop takes sizes on both sides of every tile, panel and block.
func TestPairsEqualTheLoop(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	runs := 40
	if testing.Short() {
		runs = 6
	}
	for name, next := range hardMatrices(5) {
		for range runs {
			comparePairs(t, pairOps, 1+r.IntN(40), 1+r.IntN(140), r.IntN(40), name, next)
		}
		comparePairs(t, pairOps, blockRows+13, 65, 9, name, next)
		comparePairs(t, pairOps, 2*blockRows, 64, 8, name, next)
		comparePairs(t, pairOps, blockRows+13, 65, 25, name, next)
	}
}

// TestPairsAcrossSteps cuts the dimension, which must not cut a chain.
func TestPairsAcrossSteps(t *testing.T) {
	for name, next := range hardMatrices(6) {
		for _, dim := range []int{stepDim - 1, stepDim, stepDim + 1, 2*stepDim + 9} {
			comparePairs(t, pairOps[:1], 13, 67, dim, name, next)
		}
	}
}

// TestPairsEverySize runs all small shapes on one kind of data, so that no residue is missed.
func TestPairsEverySize(t *testing.T) {
	next := hardMatrices(7)["tie"]
	for rows := range 26 {
		for cols := 0; cols <= 2*maxWidth+1; cols += 1 + cols/20 {
			comparePairs(t, pairOps[:2], rows, cols, (rows*7+cols)%29, "tie", next)
		}
	}
}

// TestPairsStreamed takes results so large that they are written past the caches, whole tiles
// and panels and what is left over, in dimensions for which the tiles differ.
func TestPairsStreamed(t *testing.T) {
	next := hardMatrices(15)["normal"]
	for dim, ops := range map[int][]pairOp{5: pairOps, 24: pairOps[:2]} {
		x, _ := guardedMatrix(1501, dim, 0, 1, next)
		y, _ := guardedMatrix(1520, dim, 1, 0, next)
		for _, op := range ops {
			comparePairsStreamed(t, op, x, y)
		}
	}
}

func comparePairsStreamed(t *testing.T, op pairOp, x, y Matrix) {
	t.Helper()
	want := NewMatrix(x.Rows, y.Rows)
	op.run(Generic(), want, x, y, &Workspace{Threads: 2})
	for _, s := range All() {
		dst := NewMatrix(x.Rows, y.Rows)
		if !streams(dst) {
			t.Fatal("the result is not streamed: too small, or not aligned")
		}
		op.run(s, dst, x, y, &Workspace{Threads: 2})
		equalLoop32(t, s.Name+" "+op.name, dst.Data, want.Data)
	}
}

// TestSqDistToSelfIsZero holds for finite points, whatever their offset.
func TestSqDistToSelfIsZero(t *testing.T) {
	for _, name := range []string{"normal", "subnormal", "tie"} {
		x, _ := guardedMatrix(50, 37, 0, 0, hardMatrices(8)[name])
		for _, s := range All() {
			dst := NewMatrix(50, 50)
			s.SqDists(dst, x, x, &Workspace{})
			for i := range 50 {
				if d := dst.Row(i)[i]; d != 0 {
					t.Errorf("%s: distance of %s row %d to itself is %g", s.Name, name, i, d)
				}
			}
		}
	}
}

// TestNaNStaysNaN says what a NaN in a point does: its row of results is NaN, no other is.
func TestNaNStaysNaN(t *testing.T) {
	x, _ := guardedMatrix(20, 24, 0, 0, hardMatrices(9)["normal"])
	x.Row(7)[5] = float32(math.NaN())
	y, _ := guardedMatrix(70, 24, 0, 0, hardMatrices(10)["normal"])
	for _, s := range All() {
		for _, op := range pairOps {
			dst := NewMatrix(20, 70)
			op.run(s, dst, x, y, &Workspace{})
			for i := range 20 {
				for j, v := range dst.Row(i) {
					if (v != v) != (i == 7) {
						t.Fatalf("%s %s: element (%d, %d) is %g", s.Name, op.name, i, j, v)
					}
				}
			}
		}
	}
}

func TestPairsMisuse(t *testing.T) {
	buf := make([]float32, 1000)
	m := func(at, rows, cols, stride int) Matrix { return Matrix{buf[at:], rows, cols, stride} }
	for want, f := range map[string]func(s *Set){
		"kernelops: points have different dimensions": func(s *Set) {
			s.Dots(m(0, 2, 2, 2), m(10, 2, 3, 3),
				m(20, 2, 4, 4), &Workspace{})
		},
		"kernelops: result has the wrong shape": func(s *Set) {
			s.Dots(m(0, 2, 3, 3), m(10, 2, 3, 3), m(20, 2, 3, 3),
				&Workspace{})
		},
		"kernelops: result overlaps an input": func(s *Set) {
			s.Dots(m(0, 2, 2, 2), m(3, 2, 3, 3), m(20, 2, 3, 3),
				&Workspace{})
		},
		"kernelops: impossible matrix shape": func(s *Set) {
			s.Dots(m(0, 2, 2, 1), m(10, 2, 3, 3), m(20, 2, 3, 3),
				&Workspace{})
		},
		"kernelops: matrix data are short": func(s *Set) {
			s.Dots(m(0, 2, 2, 2), m(997, 2, 3, 3), m(20, 2, 3, 3),
				&Workspace{})
		},
		"kernelops: impossible kernel": func(s *Set) {
			s.KernelMatrix(m(0, 2, 2, 2), Kernel{Kind: RBF}, m(10, 2, 3, 3), m(20, 2, 3, 3), &Workspace{})
		},
	} {
		for _, s := range All() {
			if got := panicOf(func() { f(s) }); got != want {
				t.Errorf("%s: panic %v, want %q", s.Name, got, want)
			}
		}
	}
}
