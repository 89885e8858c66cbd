package kernelops

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestSparseByHand(t *testing.T) {
	for _, s := range All() {
		w := []float32{1, 10, 100, 1000, -1}
		index, value := []int32{4, 0, 2, 2, 1}, []float32{3, 2, 0.5, 0.25, 1}
		if got := s.SparseDot(index, value, w); got != -3+2+50+25+10 {
			t.Errorf("%s: SparseDot = %v, want 84", s.Name, got)
		}
		s.SparseAxpy(w, index, value, 2)
		equalBits32(t, s.Name+" SparseAxpy", w, []float32{5, 12, 101.5, 1000, 5})
		if got := s.SparseDot(nil, nil, w); math.Float32bits(got) != 0 {
			t.Errorf("%s: SparseDot of nothing = %v, want +0", s.Name, got)
		}
		// 0.1*10 rounds to 1, so nothing is left; fused, 2^-26 would be.
		w = []float32{-1}
		s.SparseAxpy(w, []int32{0}, []float32{0.1}, 10)
		equalBits32(t, s.Name+" SparseAxpy", w, []float32{0})
		got := s.SparseDot([]int32{0, 1, 1, 1, 2}, []float32{0.1, 0, 0, 0, -1}, []float32{10, 0, 1})
		equalBits32(t, s.Name+" SparseDot", []float32{got}, []float32{0})
	}
}

// TestSparseLoops compares with the loops of the doc comments, bit by bit, for every
// length up to four tiles, with repeated columns, on hard data.
func TestSparseLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 0))
	for name, next := range hardData32(5) {
		for n := range 64 {
			value, w, index := make([]float32, n), make([]float32, 40), make([]int32, n)
			fill(value, next)
			fill(w, next)
			for p := range index {
				index[p] = int32(r.IntN(len(w)))
			}
			a := next()
			dot, want := sparseDotLoop(index, value, w), slices.Clone(w)
			for p, j := range index {
				want[j] += float32(a * value[p])
			}
			for _, s := range All() {
				where := fmt.Sprintf("%s on %s, n = %d", s.Name, name, n)
				got := slices.Clone(w)
				equalBits32(t, where+", SparseDot", []float32{s.SparseDot(index, value, got)}, []float32{dot})
				equalBits32(t, where+", weights after SparseDot", got, w)
				for _, soon := range [][]int32{nil, index[n/2:], {1, 2, 3}} {
					equalBits32(t, where+", SparseDotBefore",
						[]float32{s.SparseDotBefore(index, value, got, soon, value[n-n/2:])}, []float32{dot})
				}
				s.SparseAxpy(got, index, value, a)
				equalBits32(t, where+", SparseAxpy", got, want)
			}
		}
	}
}

// TestSparseAcrossCalls takes rows longer than one call of an implementation.
func TestSparseAcrossCalls(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 0))
	for _, n := range []int{callElements, callElements + 21, 2 * callElements} {
		value, w, index := make([]float32, n), make([]float32, 500), make([]int32, n)
		fill(value, hardData32(9)["normal"])
		fill(w, hardData32(10)["normal"])
		for p := range index {
			index[p] = int32(r.IntN(len(w)))
		}
		want := sparseDotLoop(index, value, w)
		for _, s := range All() {
			where := fmt.Sprintf("%s, n = %d", s.Name, n)
			equalBits32(t, where, []float32{s.SparseDot(index, value, w)}, []float32{want})
		}
	}
}

// sparseDotLoop is the doc comment of SparseDot.
func sparseDotLoop(index []int32, value, w []float32) float32 {
	var lane [4]float32
	for p := range index {
		lane[p%4] += float32(value[p] * w[index[p]])
	}
	return (lane[0] + lane[1]) + (lane[2] + lane[3])
}

// TestSparseDotError checks the stated bound against float64.
func TestSparseDotError(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 0))
	for _, n := range []int{1, 4, 7, 112, 2000} {
		value, w, index := make([]float32, n), make([]float32, 300), make([]int32, n)
		fill(value, hardData32(6)["normal"])
		fill(w, hardData32(7)["normal"])
		exact, size := 0.0, 0.0
		for p := range index {
			index[p] = int32(r.IntN(len(w)))
			term := float64(value[p]) * float64(w[index[p]])
			exact += term
			size += math.Abs(term)
		}
		bound := (math.Ceil(float64(n)/4) + 3) * eps32 * size
		for _, s := range All() {
			if got := s.SparseDot(index, value, w); math.Abs(float64(got)-exact) > bound {
				t.Errorf("%s, n = %d: %v, exactly %v, bound %v", s.Name, n, got, exact, bound)
			}
		}
	}
}

func TestSparseMisuse(t *testing.T) {
	w := []float32{1, 1, 1, 1}
	for _, s := range All() {
		for _, j := range []int32{-1, 4, math.MaxInt32, math.MinInt32} {
			for at := range 38 { // two blocks and a rest
				index := make([]int32, 38)
				index[at] = j
				got := panicOf(func() { s.SparseDot(index, make([]float32, 38), w) })
				if err, ok := got.(error); !ok || !strings.Contains(err.Error(), "index out of range") {
					t.Errorf("%s: SparseDot of column %d: panic %v, want an index out of range", s.Name, j, got)
				}
				got = panicOf(func() { s.SparseAxpy(w, index, make([]float32, 38), 1) })
				if got != "kernelops: sparse row is wider than the weights" {
					t.Errorf("%s: SparseAxpy of column %d: panic %v", s.Name, j, got)
				}
			}
		}
		if got := panicOf(func() { s.SparseDot(make([]int32, 38), make([]float32, 38), nil) }); got == nil {
			t.Errorf("%s: SparseDot with no weights: no panic", s.Name)
		}
		const lengths = "kernelops: sparse row has not one value for every column"
		if got := panicOf(func() { s.SparseDot(make([]int32, 2), make([]float32, 3), w) }); got != lengths {
			t.Errorf("%s: SparseDot: panic %v", s.Name, got)
		}
		if got := panicOf(func() { s.SparseAxpy(w, make([]int32, 3), make([]float32, 2), 1) }); got != lengths {
			t.Errorf("%s: SparseAxpy: panic %v", s.Name, got)
		}
		if got := panicOf(func() {
			s.SparseAxpy(w, make([]int32, 2), w[2:],
				1)
		}); got != "kernelops: result overlaps an input" {
			t.Errorf("%s: SparseAxpy: panic %v", s.Name, got)
		}
		if !slices.Equal(w, []float32{1, 1, 1, 1}) {
			t.Errorf("%s: misuse wrote: %v", s.Name, w)
		}
	}
}

// BenchmarkSparse reports nanoseconds per stored element: 100,000 weights, 112 to a row.
func BenchmarkSparse(b *testing.B) {
	const rows, stored, width = 2000, 112, 100_000
	r := rand.New(rand.NewPCG(15, 0))
	w := make([]float32, width)
	index, value := make([]int32, rows*stored), make([]float32, rows*stored)
	for i := range rows {
		row := index[i*stored:][:stored]
		for p := range row {
			row[p] = int32(r.IntN(width))
		}
		slices.Sort(row)
	}
	fill(value, hardData32(8)["normal"])
	s := Best()
	run := func(name string, f func(index []int32, value []float32)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for i := 0; i < len(index); i += stored {
					f(index[i:i+stored], value[i:i+stored])
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(index)), "ns/nonzero")
		})
	}
	sum := float32(0)
	run("Dot", func(index []int32, value []float32) { sum += s.SparseDot(index, value, w) })
	run("Axpy", func(index []int32, value []float32) { s.SparseAxpy(w, index, value, 0x1p-30) })
}
