package kernelops

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestMixedByHand(t *testing.T) {
	for _, s := range All() {
		w, x := []float64{1, 10, 100, -1}, []float32{3, 2, 0.5, 4}
		if got := s.Mixed.Dot(w, x); got != 3+20+50-4 {
			t.Errorf("%s: MixedDot = %v", s.Name, got)
		}
		if got := s.Mixed.Square(x); got != 9+4+0.25+16 {
			t.Errorf("%s: MixedSquare = %v", s.Name, got)
		}
		if got := s.Mixed.SparseDot([]int32{3, 0, 2, 2, 1}, []float32{3, 2, 0.5, 0.25, 1}, w); got != -3+2+50+25+10 {
			t.Errorf("%s: MixedSparseDot = %v", s.Name, got)
		}
		s.Mixed.Axpy(w, x[:3], 2)
		s.Mixed.AddScaledRows(w[:2], []float64{1, 2, 7, 10, 20}, 3, []float64{1, 3})
		equalBits(t, s.Name, w, []float64{7 + 31, 14 + 62, 101, -1})
		third := 1.0 / 3 // three times it rounds to 1, so nothing is left; fused, -2^-54 would be
		w = []float64{-1}
		s.Mixed.Axpy(w, []float32{3}, third)
		equalBits(t, s.Name, w, []float64{0})
	}
}

// mixedProblem is the operands of the operations of mixed precision, with guards around what is written.
type mixedProblem struct {
	w, rows, a []float64 // rows: [5, len(w) + 2]
	x          []float32
	index      []int32
	f          float64
}

func newMixedProblem(r *rand.Rand, n, offset int, wide func() float64, narrow func() float32) *mixedProblem {
	// Wherever a line of the cache begins.
	p := &mixedProblem{w: make([]float64, n+offset)[offset:], x: newArena(n, offset).inner, f: wide(),
		rows: make([]float64, offset+5*(n+2))[offset:], a: make([]float64, 5), index: make([]int32, n+offset)[offset:]}
	for _, list := range [][]float64{p.w, p.rows, p.a} {
		for i := range list {
			list[i] = wide()
		}
	}
	fill(p.x, narrow)
	for i := range p.index {
		p.index[i] = int32(r.IntN(n))
	}
	return p
}

// loops are the doc comments.
func (p *mixedProblem) loops() (dots [3]float64, axpy, scaled []float64) {
	var lane [3][mixedLanes]float64
	axpy, scaled = slices.Clone(p.w), slices.Clone(p.w)
	for j, v := range p.x {
		lane[0][j%16] += float64(p.w[j] * float64(v))
		lane[1][j%16] += float64(float64(v) * float64(v))
		lane[2][j%16] += float64(p.w[p.index[j]] * float64(v))
		axpy[j] += float64(p.f * float64(v))
	}
	for i := range lane {
		for half := 8; half > 0; half /= 2 {
			for e := range half {
				lane[i][e] += lane[i][e+half]
			}
		}
		dots[i] = lane[i][0]
	}
	for i, f := range p.a {
		for j := range scaled {
			scaled[j] += float64(f * p.rows[i*(len(p.w)+2)+j])
		}
	}
	return dots, axpy, scaled
}

func (p *mixedProblem) check(t *testing.T, s *Set, where string) {
	t.Helper()
	dots, axpy, scaled := p.loops()
	got := []float64{s.Mixed.Dot(p.w, p.x), s.Mixed.Square(p.x), s.Mixed.SparseDot(p.index, p.x, p.w)}
	equalBits(t, where+", products", got, dots[:])
	for _, soon := range [][]int32{nil, p.index[len(p.index)/2:], {1, 2, 3}} {
		before := s.Mixed.SparseDotBefore(p.index, p.x, p.w, soon, p.x[len(p.x)-len(p.x)/2:])
		equalBits(t, where+", MixedSparseDotBefore", []float64{before}, dots[2:])
	}
	for name, want := range map[string][]float64{"MixedAxpy": axpy, "AddScaledRows": scaled} {
		g := newGuarded(len(p.w), len(p.w)%8)
		copy(g.row, p.w)
		if name == "MixedAxpy" {
			s.Mixed.Axpy(g.row, p.x, p.f)
		} else {
			s.Mixed.AddScaledRows(g.row, p.rows, len(p.w)+2, p.a)
		}
		equalBits(t, where+", "+name, g.row, want)
		if !g.intact() {
			t.Fatalf("%s, %s: wrote beyond the result", where, name)
		}
	}
}

// TestMixedLoops compares with the loops of the doc comments, bit by bit, at every length up to several tiles and
// every misalignment, on hard data.
func TestMixedLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(28, 0))
	wide, narrow := hardData(28), hardData32(28)
	for _, kind := range slices.Sorted(maps.Keys(narrow)) {
		of, known := wide[kind]
		if !known {
			of = wide["normal"]
		}
		for n := 1; n < 150; n++ {
			p := newMixedProblem(r, n, n%9, of, narrow[kind])
			for _, s := range All() {
				p.check(t, s, fmt.Sprintf("%s on %s, n = %d", s.Name, kind, n))
			}
		}
	}
}

// TestMixedAcrossCalls takes rows longer than one call of an implementation.
func TestMixedAcrossCalls(t *testing.T) {
	r := rand.New(rand.NewPCG(29, 0))
	for _, n := range []int{callElements - 1, callElements, callElements + 21} {
		p := newMixedProblem(r, n, 1, hardData(3)["normal"], hardData32(3)["normal"])
		for _, s := range All() {
			p.check(t, s, fmt.Sprintf("%s, n = %d", s.Name, n))
		}
	}
}

func TestMixedMisuse(t *testing.T) {
	w := []float64{1, 1, 1, 1}
	for _, s := range All() {
		for _, j := range []int32{-1, 4, math.MaxInt32, math.MinInt32} {
			for at := range 46 { // two blocks, three of four and a rest
				index := make([]int32, 46)
				index[at] = j
				if panicOf(func() { s.Mixed.SparseDot(index, make([]float32, 46), w) }) == nil {
					t.Errorf("%s: MixedSparseDot of column %d: no panic", s.Name, j)
				}
			}
		}
		for name, misuse := range map[string]func(){
			"no weights":      func() { s.Mixed.SparseDot(make([]int32, 38), make([]float32, 38), nil) },
			"fewer columns":   func() { s.Mixed.SparseDot(make([]int32, 2), make([]float32, 3), w) },
			"fewer weights":   func() { s.Mixed.Dot(w[:3:3], make([]float32, 4)) },
			"shorter":         func() { s.Mixed.Axpy(w[:3:3], make([]float32, 4), 1) },
			"too few numbers": func() { s.Mixed.AddScaledRows(w, make([]float64, 7), 4, make([]float64, 2)) },
			"overlap":         func() { s.Mixed.AddScaledRows(w, w, 4, make([]float64, 1)) },
			"negative":        func() { s.Mixed.AddScaledRows(w, make([]float64, 7), -1, make([]float64, 2)) },
		} {
			if panicOf(misuse) == nil {
				t.Errorf("%s: %s: no panic", s.Name, name)
			}
		}
		if !slices.Equal(w, []float64{1, 1, 1, 1}) {
			t.Errorf("%s: misuse wrote: %v", s.Name, w)
		}
	}
}

// BenchmarkMixed reports nanoseconds per row: of 54 columns, and of 110 of 100,000.
func BenchmarkMixed(b *testing.B) {
	const rows, cols, stored, width = 32, 55, 110, 100_000
	r := rand.New(rand.NewPCG(15, 0))
	w, a, wide := make([]float64, width), make([]float64, rows), make([]float64, rows*cols)
	triangle := make([]float64, cols*(cols+1)/2)
	index, value := make([]int32, rows*stored), make([]float32, rows*stored)
	fill(value, hardData32(8)["normal"])
	for p := range index {
		index[p] = int32(r.IntN(width))
	}
	run := func(name string, f func(s *Set)) {
		for _, s := range All() {
			b.Run(name+"/"+s.Name, func(b *testing.B) {
				for b.Loop() {
					f(s)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
			})
		}
	}
	each := func(n int, f func(from, to int)) {
		for i := range rows {
			f(i*n, i*n+n)
		}
	}
	sum := 0.0
	run("Dot", func(s *Set) { each(cols-1, func(f, e int) { sum += s.Mixed.Dot(w, value[f:e]) }) })
	run("Square", func(s *Set) { each(cols-1, func(f, e int) { sum += s.Mixed.Square(value[f:e]) }) })
	run("Axpy", func(s *Set) { each(cols-1, func(f, e int) { s.Mixed.Axpy(w, value[f:e], 0x1p-30) }) })
	run("SparseDot", func(s *Set) {
		each(stored, func(f, e int) { sum += s.Mixed.SparseDot(index[f:e], value[f:e], w) })
	})
	run("Triangle", func(s *Set) {
		for i, at := 0, 0; i < cols; i++ {
			s.Mixed.AddScaledRows(triangle[at:at+i+1], wide, cols, a)
			at += i + 1
		}
	})
}
