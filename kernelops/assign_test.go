package kernelops

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestAssignByHand checks every set on points of a line, one of them unknown: centroids 0 and 4, points
// 1, 5, 2 (a tie, which goes to the first), NaN and 3.
func TestAssignByHand(t *testing.T) {
	y := Matrix{Data: []float32{0, 4}, Rows: 2, Cols: 1, Stride: 1}
	x := Matrix{Data: []float32{1, 5, 2, float32(math.NaN()), 3}, Rows: 5, Cols: 1, Stride: 1}
	for _, s := range All() {
		sums, index, score := []float64{100, 200}, make([]int32, 5), make([]float32, 5)
		s.Assign(sums, index, score, x, s.PackCentroids(y), &Workspace{})
		if !slices.Equal(index, []int32{0, 1, 0, -1, 1}) || !slices.Equal(sums, []float64{103, 208}) {
			t.Errorf("%s: %v, sums %v", s.Name, index, sums)
		}
		if want := []float32{0, -24, 0, inf32, -8}; !slices.Equal(score, want) {
			t.Errorf("%s: scores %v, want %v", s.Name, score, want)
		}
	}
}

// assignLoop is the doc comment of Assign, by the generic set.
func assignLoop(sums []float64, index []int32, score []float32, x, y Matrix) {
	s := Generic()
	s.ArgMin(index, score, x, s.PackCentroids(y), &Workspace{})
	for i, g := range index {
		if g >= 0 {
			s.AccumulateRows(sums, x.RowRange(i, i+1), index[i:i+1])
		}
	}
}

// compareAssign runs every set over x and y with sums between guard zones.
func compareAssign(t *testing.T, where string, x, y Matrix, offset int, start func() float64) {
	t.Helper()
	wantSums := make([]float64, y.Rows*x.Cols)
	for i := range wantSums {
		wantSums[i] = start()
	}
	begin := clone(wantSums)
	wantIndex, wantScore := make([]int32, x.Rows), make([]float32, x.Rows)
	assignLoop(wantSums, wantIndex, wantScore, x, y)
	for _, s := range All() {
		at := fmt.Sprintf("%s, %dx%d, k = %d, stride %d, %s", s.Name, x.Rows, x.Cols, y.Rows, x.Stride, where)
		sums, index, score := newGuarded(len(begin), offset), make([]int32, x.Rows), make([]float32, x.Rows)
		copy(sums.row, begin)
		s.Assign(sums.row, index, score, x, s.PackCentroids(y), &Workspace{Threads: 2})
		if !slices.Equal(index, wantIndex) {
			t.Fatalf("%s: index %v, want %v", at, index, wantIndex)
		}
		equalLoop32(t, at+", scores", score, wantScore)
		equalBits(t, at, sums.row, wantSums)
		if !sums.intact() {
			t.Fatalf("%s: wrote beyond the sums", at)
		}
	}
}

// TestAssignEqualsGeneric takes few sums and many, near and far ones, so that both ways of adding up
// are taken, blocks of all lengths, on hard data.
func TestAssignEqualsGeneric(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 0))
	start := hardData(3)["normal"]
	runs := 12
	if testing.Short() {
		runs = 3
	}
	for name, next := range hardMatrices(18) {
		for run := range runs {
			rows, cols, dim := r.IntN(3*blockRows), 1+r.IntN(40), r.IntN(40)
			if run%2 == 1 {
				cols = 1 + r.IntN(maxGroups+1)
				dim = maxNearSums/cols - 3 + r.IntN(150)
				rows = r.IntN(blockRows + 30)
			}
			if dim > 1000 { // the generic set takes long
				dim, cols = 1000+dim%50, max(cols, 5)
			}
			x, intact := guardedMatrix(rows, dim, []int{0, 3, 20}[run%3], run%5, next)
			y, _ := guardedMatrix(cols, dim, cols%3, cols%5, next)
			if run%4 == 3 && rows > 2 && dim > 0 {
				x.Row(rows / 2)[dim-1] = float32(math.NaN())
			}
			compareAssign(t, name, x, y, run%9, start)
			if !intact() {
				t.Fatalf("%s: wrote between the rows of x", name)
			}
		}
	}
}

// TestAccumulateGroup compares with the loop of its doc comment for every number of columns up to two strips
// and every list of a few rows.
func TestAccumulateGroup(t *testing.T) {
	next, wide := hardData32(19)["bits"], hardData(19)["bits"]
	for _, s := range All() {
		for cols := 1; cols <= 2*tile32+9; cols++ {
			for offset, rows := range [][]int32{{0}, {3}, {1, 2}, {0, 2, 3}, {0, 1, 2, 3}} {
				x, _ := guardedMatrix(4, cols, cols%4, offset, next)
				sum := newGuarded(cols, cols%9)
				fill64(sum.row, wide)
				want := clone(sum.row)
				for _, i := range rows {
					for j, v := range x.Row(int(i)) {
						want[j] += float64(v)
					}
				}
				s.accumulateGroup(sum.row, x.Data, x.Stride, rows, &x.Data[0], 0)
				where := fmt.Sprintf("%s, %d columns, rows %v", s.Name, cols, rows)
				equalBits(t, where, sum.row, want)
				if !sum.intact() {
					t.Fatalf("%s: wrote beyond the sum", where)
				}
			}
		}
	}
}

func fill64(v []float64, next func() float64) {
	for i := range v {
		v[i] = next()
	}
}

// TestAccumulateSortedByHand has interleaved groups, a group without rows, and a row without a group. In the order of
// the rows, 2^53, 1 and -2^53 sum to 0; in another order to 1. Each row added prefetches a quarter of a later one: two
// lines of 16 of its 128 columns.
func TestAccumulateSortedByHand(t *testing.T) {
	const cols = 128
	rows, groups := []float32{0x1p53, 7, 1, 5, -0x1p53, 3, 11}, []int32{1, 0, 1, -1, 1, 3, 0}
	x := NewMatrix(len(rows), cols)
	for i, v := range rows {
		copy(x.Row(i), repeat(v, cols))
	}
	for _, s := range All() {
		sums, ahead := make([]float64, 4*cols), readAhead{left: make([]float32, 1000)}
		s.accumulateSorted(sums, x, groups, &ahead)
		for i, sum := range sums {
			if want := []float64{18, 0, 0, 3}[i/cols]; sum != want {
				t.Fatalf("%s: group %d, column %d: %g, want %g", s.Name, i/cols, i%cols, sum, want)
			}
		}
		if got := 1000 - len(ahead.left); got != 6*2*lineFloats {
			t.Errorf("%s: prefetches %d numbers with 6 rows", s.Name, got)
		}
	}
}

// TestSortsGroups: rows are sorted by group if the sums exceed the first cache level (32 KiB of float64), rows have at
// most 4096 columns, and a block of 96 rows has at least four of each group on average.
func TestSortsGroups(t *testing.T) {
	for _, c := range []struct {
		groups, cols int
		want         bool
	}{
		{2, 2048, false}, {2, 2049, true}, {2, 4096, true}, {2, 4097, false},
		{24, 170, false}, {24, 171, true}, {25, 171, false},
	} {
		if got := sortsGroups(c.groups*c.cols, c.cols); got != c.want {
			t.Errorf("%d groups of %d columns: %v, want %v", c.groups, c.cols, got, c.want)
		}
	}
}

func TestAssignMisuse(t *testing.T) {
	x, y := NewMatrix(4, 3), NewMatrix(2, 3)
	index, score := make([]int32, 4), make([]float32, 4)
	for _, s := range All() {
		const short = "kernelops: not one sum for every column of every centroid"
		for n, want := range map[int]any{5: short, 6: nil, 7: short} {
			got := panicOf(func() { s.Assign(make([]float64, n), index, score, x, s.PackCentroids(y), &Workspace{}) })
			if got != want {
				t.Errorf("%s, %d sums: panic %v", s.Name, n, got)
			}
		}
		got := panicOf(func() { s.Assign(make([]float64, 6), index[:3], score, x, s.PackCentroids(y), &Workspace{}) })
		if got != "kernelops: result has the wrong shape" {
			t.Errorf("%s: panic %v", s.Name, got)
		}
	}
}

// FuzzAssign compares every set with the loop: the shape and the gap between rows from the first four
// bytes, the elements from the rest as float32, over and over.
func FuzzAssign(f *testing.F) {
	f.Add([]byte{13, 4, 9, 0, 0, 0, 128, 51, 254, 255, 127, 63, 1, 0, 128, 63})
	f.Add([]byte{97, 12, 255, 2, 0, 0, 0, 26, 1, 0, 0, 0, 0, 0, 192, 127})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 8 {
			return
		}
		words, at := b[4:], 0
		next := func() float32 {
			v := math.Float32frombits(binary.LittleEndian.Uint32(words[at:]))
			if at += 4; at+4 > len(words) {
				at = 0
			}
			return v
		}
		dim := 3 * int(b[2])
		x, _ := guardedMatrix(int(b[0]), dim, int(b[3])%40, 0, next)
		y, _ := guardedMatrix(int(b[1])%40, dim, 0, 0, next)
		compareAssign(t, "fuzz", x, y, 1, func() float64 { return float64(next()) })
	})
}
