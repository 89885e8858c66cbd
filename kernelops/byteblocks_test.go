package kernelops

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestByteBlocks compares the code for blocks of rows with the loop, to the bit: columns that fill vectors and others,
// rows of all sizes, and with a gap between rows. Nothing is written beyond the rows.
func TestByteBlocks(t *testing.T) {
	r, loop := rand.New(rand.NewPCG(91, 0)), blocksGeneric()
	for name, s := range byteSets() {
		for _, cols := range []int{1, 3, 8, 13, 32, 75} {
			for _, rows := range []int{1, 2, 5, 40} {
				t.Run(fmt.Sprintf("%s/%dx%d", name, rows, cols), func(t *testing.T) {
					compareRounding(t, r, s.blocks, loop, rows, cols)
				})
			}
		}
		for _, rows := range []int{1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 70} {
			t.Run(fmt.Sprintf("%s/limits of %d", name, rows), func(t *testing.T) {
				compareLimits(t, r, s.blocks, loop, rows)
			})
		}
	}
}

func compareRounding(t *testing.T, r *rand.Rand, got, want byteBlocks, rows, cols int) {
	stride := cols + r.IntN(3)
	x := Matrix{Data: make([]float32, rows*stride), Rows: rows, Cols: cols, Stride: stride}
	center, units := make([]float64, cols), make([]float64, 2*rows)
	for i := range x.Data {
		x.Data[i] = float32(r.NormFloat64() * math.Pow(10, float64(r.IntN(7)-3)))
	}
	for j := range center {
		center[j] = r.NormFloat64()
	}
	list := func() []float64 { return slices.Repeat([]float64{-7}, rows+1) }
	a, b := [3][]float64{list(), list(), list()}, [3][]float64{list(), list(), list()}
	got.measure(a[0], a[1], a[2], x, center)
	want.measure(b[0], b[1], b[2], x, center)
	for i := range a {
		if !slices.Equal(a[i], b[i]) {
			t.Fatalf("list %d of measures: %v, want %v", i, a[i], b[i])
		}
	}
	for i := range rows {
		if i%7 == 3 {
			continue // a row without a unit
		}
		unit := max(-a[1][i], a[2][i], 0x1p-30) / 127
		units[2*i], units[2*i+1] = 1/unit, unit
	}
	groups := (cols + byteGroup - 1) / byteGroup
	bytes, other := make([]uint8, 4*groups*rows+9), make([]uint8, 4*groups*rows+9)
	got.round(a[0], a[1], bytes, 4*groups, x, center, units)
	want.round(b[0], b[1], other, 4*groups, x, center, units)
	if !slices.Equal(a[0], b[0]) || !slices.Equal(a[1], b[1]) || !slices.Equal(bytes, other) {
		t.Fatalf("%v, %v, %v\nwant %v, %v, %v", a[0], a[1], bytes, b[0], b[1], other)
	}
}

func compareLimits(t *testing.T, r *rand.Rand, got, want byteBlocks, rows int) {
	numbers, sqDist := newRowNumbers(rows), make([]float64, rows)
	var per [byteUnits]float64
	for i := range per {
		per[i] = math.Pow(4, float64(r.IntN(30)))
	}
	for i := range sqDist {
		sqDist[i] = r.ExpFloat64()
		numbers.set(i, &byteRow{norm: r.Float32(), otherLoss: -r.Float32() / 8, start: int32(r.IntN(90000) - 45000),
			kind: int32(r.IntN(byteUnits))})
		switch r.IntN(9) {
		case 0:
			sqDist[i] = math.Inf(1)
		case 1:
			numbers.norms[i] = float32(math.NaN())
		case 2:
			sqDist[i] = math.NaN()
		}
	}
	constants := [4]float64{byteBoundRound, 1.5, byteFloor, byteTop}
	a, b := slices.Repeat([]int32{5}, 2*rows+2), slices.Repeat([]int32{5}, 2*rows+2)
	got.limits(a[:rows:rows], a[rows+1:2*rows+1], sqDist, numbers, &per, 320, &constants)
	want.limits(b[:rows:rows], b[rows+1:2*rows+1], sqDist, numbers, &per, 320, &constants)
	if !slices.Equal(a, b) {
		t.Fatalf("limits and offsets %d\nwant %d", a, b)
	}
	const vectors = 5
	sums, limits := make([]int32, rows*16*vectors), a[:rows]
	for i := range sums {
		sums[i] = limits[i/(16*vectors)] + int32(r.IntN(5)-2)
	}
	hits, others := slices.Repeat([]uint64{r.Uint64()}, rows*3), []uint64(nil)
	others = slices.Clone(hits)
	got.reached(hits, 3, limits, sums, 16*vectors, rows)
	want.reached(others, 3, limits, sums, 16*vectors, rows)
	if !slices.Equal(hits, others) {
		t.Fatalf("hits %x\nwant %x", hits, others)
	}
}
