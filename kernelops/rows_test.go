package kernelops

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// tile is the longest step of any implementation: 4 registers of 8 lanes.
const tile = 32

// rowOp is an operation on two rows, by name; Add ignores the factor.
type rowOp struct {
	name string
	run  func(s *Set, dst, x []float64, a float64)
}

var rowOps = []rowOp{
	{"AddScaled", (*Set).AddScaled},
	{"Add", func(s *Set, dst, x []float64, _ float64) { s.Add(dst, x) }},
}

// TestRowsByHand checks every set on a case worked by hand. The product 0.1*3 rounds to
// 0.30000000000000004; a fused operation would give 5.551115123125783e-17 in place 2.
func TestRowsByHand(t *testing.T) {
	for _, s := range All() {
		dst := []float64{1, 2, -0.30000000000000004, math.Inf(1), 0}
		s.AddScaled(dst, []float64{10, -20, 0.1, 1, math.Copysign(0, -1)}, 3)
		equalBits(t, s.Name+" AddScaled", dst, []float64{31, -58, 0, math.Inf(1), 0})
		s.Add(dst, []float64{1, 8, 2, math.MaxFloat64, math.Copysign(0, -1)})
		equalBits(t, s.Name+" Add", dst, []float64{32, -50, 2, math.Inf(1), 0})
	}
}

// TestRowsEqualGeneric runs every set over every length up to two tiles and every
// misalignment of a cache line, between guard zones, on hard data.
func TestRowsEqualGeneric(t *testing.T) {
	for _, s := range All() {
		for _, op := range rowOps {
			for name, next := range hardData(1) {
				for n := 0; n <= 2*tile+8; n++ {
					for offset := range 9 {
						compare(t, s, op, name, n, offset, next)
					}
				}
			}
		}
	}
}

// TestRowsAcrossCalls takes rows longer than one call of an implementation.
func TestRowsAcrossCalls(t *testing.T) {
	next := hardData(2)["bits"]
	for _, s := range All() {
		for _, op := range rowOps {
			for _, n := range []int{callElements - 1, callElements, callElements + 1, 2*callElements + 7} {
				compare(t, s, op, "bits", n, 1, next)
			}
		}
	}
}

// TestRowsOnThemselves allows dst and x to be the same row.
func TestRowsOnThemselves(t *testing.T) {
	for _, s := range All() {
		for n := range 2*tile + 8 {
			v, want := make([]float64, n), make([]float64, n)
			for i := range v {
				v[i], want[i] = float64(i), float64(8*i)
			}
			s.AddScaled(v, v, 3)
			s.Add(v, v)
			equalBits(t, s.Name, v, want)
		}
	}
}

// compare runs op on set s and on the generic loop over the same data, and demands
// the same bytes, an unchanged x and unchanged guard zones.
func compare(t *testing.T, s *Set, op rowOp, data string, n, offset int, next func() float64) {
	t.Helper()
	dst, x := newGuarded(n, offset), newGuarded(n, 8-offset)
	for i := range n {
		dst.row[i], x.row[i] = next(), next()
	}
	a := next()
	want, xBefore := clone(dst.row), clone(x.row)
	op.run(Generic(), want, clone(x.row), a)
	op.run(s, dst.row, x.row, a)
	where := s.Name + " " + op.name + " on " + data
	equalBits(t, where, dst.row, want)
	equalBits(t, where+", x after", x.row, xBefore)
	if !dst.intact() || !x.intact() {
		t.Fatalf("%s, n = %d, offset %d: wrote beyond a row", where, n, offset)
	}
}

// guarded is a row between zones of one particular NaN, which spread if they are
// read into a result and are missed if they are written.
type guarded struct {
	all []float64
	row []float64
	at  int
}

var guardNaN = math.Float64frombits(0x7ff8_0123_4567_89ab)

func newGuarded(n, offset int) *guarded {
	g := &guarded{all: make([]float64, 2*tile+offset+n+2*tile), at: 2*tile + offset}
	for i := range g.all {
		g.all[i] = guardNaN
	}
	g.row = g.all[g.at : g.at+n : g.at+n]
	return g
}

func (g *guarded) intact() bool {
	for i, v := range g.all {
		inside := i >= g.at && i < g.at+len(g.row)
		if !inside && math.Float64bits(v) != math.Float64bits(guardNaN) {
			return false
		}
	}
	return true
}

// hardData returns generators of float64 where a wrong rounding, a fused product or a
// flushed subnormal would show. None is a NaN, but infinities may meet and make one.
func hardData(seed uint64) map[string]func() float64 {
	r := rand.New(rand.NewPCG(seed, 0))
	sign := func(x float64) float64 { return math.Copysign(x, r.Float64()-0.5) }
	return map[string]func() float64{
		"normal": r.NormFloat64,
		"bits": func() float64 {
			for {
				if x := math.Float64frombits(r.Uint64()); x == x {
					return x
				}
			}
		},
		"subnormal": func() float64 { // and its neighborhood, so that products underflow
			return sign(math.Float64frombits(r.Uint64() >> (2 + r.UintN(52))))
		},
		"tie": func() float64 { return sign(float64(1+2*r.UintN(1<<27)) * (1.0 / (1 << 27))) }, // 55-bit products
		"overflow": func() float64 {
			return sign(math.Ldexp(1+r.Float64(), []int{1023, 1022, 512, 511, 0}[r.IntN(5)]))
		},
		"special": func() float64 {
			return []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), 1, -1, 0x1p-1074}[r.IntN(7)]
		},
	}
}

// equalBits compares bit by bit; a NaN equals any NaN, as the package comment says.
func equalBits(t *testing.T, where string, got, want []float64) {
	t.Helper()
	for i := range want {
		if want[i] != want[i] && got[i] != got[i] {
			continue
		}
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			t.Fatalf("%s: element %d of %d is %v (%x), want %v (%x)", where, i, len(want),
				got[i], math.Float64bits(got[i]), want[i], math.Float64bits(want[i]))
		}
	}
}

func clone(v []float64) []float64 { return append([]float64(nil), v...) }

// TestRowsMisuse checks that misuse panics with its message and writes nothing.
func TestRowsMisuse(t *testing.T) {
	buf := make([]float64, 100)
	for _, c := range []struct {
		name   string
		dst, x []float64
		want   string
	}{
		{"x short", buf[:10], buf[50:59], "kernelops: rows have different lengths"},
		{"x long", buf[:10], buf[50:61], "kernelops: rows have different lengths"},
		{"x empty", buf[:10], nil, "kernelops: rows have different lengths"},
		{"x ahead", buf[:10], buf[9:19], "kernelops: rows overlap"},
		{"x behind", buf[9:19], buf[:10], "kernelops: rows overlap"},
		{"one off", buf[:10], buf[1:11], "kernelops: rows overlap"},
	} {
		for _, s := range All() {
			for _, op := range rowOps {
				for i := range buf {
					buf[i] = 1
				}
				if got := panicOf(func() { op.run(s, c.dst, c.x, 2) }); got != c.want {
					t.Errorf("%s %s, %s: panic %v, want %q", s.Name, op.name, c.name, got, c.want)
				}
				for i := range buf {
					if buf[i] != 1 {
						t.Fatalf("%s %s, %s: wrote element %d", s.Name, op.name, c.name, i)
					}
				}
			}
		}
	}
	Generic().Add(buf[:10], buf[10:20]) // neighbors are disjoint
	Generic().Add(nil, nil)
	Generic().Add(buf[:0], nil)
}

func panicOf(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// FuzzRows compares every set with the generic one on bytes taken as float64: the
// factor, then the two rows in halves.
func FuzzRows(f *testing.F) {
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		v := make([]float64, min(len(b)/8, 4096))
		for i := range v {
			v[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
		if len(v) == 0 {
			return
		}
		n := (len(v) - 1) / 2
		for _, s := range All() {
			for _, op := range rowOps {
				dst, want := clone(v[1:1+n]), clone(v[1:1+n])
				op.run(Generic(), want, v[1+n:1+2*n], v[0])
				op.run(s, dst, v[1+n:1+2*n], v[0])
				equalBits(t, s.Name+" "+op.name, dst, want)
			}
		}
	})
}
