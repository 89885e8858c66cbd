package kernelops

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// pairsWithin are the pairs of a query and a row within the query's limit, by all distances.
func pairsWithin(x, y Matrix, most []float64) map[[2]int]float64 {
	pairs := map[[2]int]float64{}
	for i := range x.Rows {
		for j := range y.Rows {
			if d := sqDist64(x.Row(i), y.Row(j)); d < math.Inf(1) && d <= most[i] {
				pairs[[2]int{i, j}] = d
			}
		}
	}
	return pairs
}

// compareWithin searches a base on a road and compares with all distances.
func compareWithin(t *testing.T, where string, base *Base, bytes bool, x Matrix, most []float64, call int) {
	t.Helper()
	want, ws := pairsWithin(x, base.rows, most), &Workspace{Threads: 2}
	for first := 0; first < x.Rows; first += call {
		end := min(first+call, x.Rows)
		base.searchWithin(x.RowRange(first, end), most[first:end], func(i, row int, dist float64) bool {
			at := [2]int{first + i, row}
			if d, ok := want[at]; !ok || d != dist {
				t.Fatalf("%s: query %d, row %d at %g: want %t, %g", where, at[0], row, dist, ok, d)
			}
			delete(want, at) // once
			return true
		}, bytes, ws)
	}
	if len(want) > 0 {
		t.Fatalf("%s: %d pairs are missing: %v", where, len(want), want)
	}
}

// TestSearchWithin compares searches of hard data, up to distances that some rows have to the bit, with all distances.
func TestSearchWithin(t *testing.T) {
	r := rand.New(rand.NewPCG(74, 0))
	for name, put := range hardForBytes(r) {
		for range 3 {
			cols := 1 + r.IntN(50)
			x, y := NewMatrix(1+r.IntN(14), cols), NewMatrix(1+r.IntN(400), cols)
			put(x)
			put(y)
			copy(y.Row(r.IntN(y.Rows)), x.Row(0))
			most := make([]float64, x.Rows)
			for i := range most {
				most[i] = sqDist64(x.Row(i), y.Row(r.IntN(y.Rows)))
				switch r.IntN(5) {
				case 0:
					most[i] = math.Nextafter(most[i], math.Inf(-1))
				case 1:
					most[i] = math.Inf(1)
				}
			}
			for _, s := range append(All(), withBytes()...) {
				var base Base
				ws := Workspace{Threads: 1 + x.Rows%2}
				base.PackWithin(s, y, x, most, enoughQueries, &ws)
				for _, call := range []int{x.Rows, 1} {
					compareWithin(t, s.Name+" on "+name, &base, base.packed, x, most, call)
					if s.bytes != nil && base.bytes.pack(s, y, &ws) {
						compareWithin(t, s.Name+" as bytes on "+name, &base, true, x, most, call)
					}
				}
			}
		}
	}
}

// TestSearchWithinByHand: of 0, 3, 3 and 10, within 4 of 1 and 9 of 7 are all; nothing is within less than 0.
func TestSearchWithinByHand(t *testing.T) {
	y := Matrix{Data: []float32{0, 3, 3, 10}, Rows: 4, Cols: 1, Stride: 1}
	x := Matrix{Data: []float32{1, 7, 3}, Rows: 3, Cols: 1, Stride: 1}
	for _, s := range All() {
		var base Base
		most := []float64{4, 9, -1}
		base.PackWithin(s, y, x, most, 3, &Workspace{})
		var got [3][]int
		base.SearchWithin(x, most, func(i, row int, dist float64) bool {
			got[i] = append(got[i], row, int(dist))
			return true
		}, &Workspace{})
		if !slices.Equal(got[0], []int{0, 1, 1, 4, 2, 4}) || !slices.Equal(got[1], []int{3, 9}) || len(got[2]) > 0 {
			t.Errorf("%s: %v", s.Name, got)
		}
	}
}

// TestSearchWithinStops: a query whose taker has enough gets no more, and the others get all.
func TestSearchWithinStops(t *testing.T) {
	r := rand.New(rand.NewPCG(75, 0))
	x, y := NewMatrix(9, 20), NewMatrix(3000, 20)
	for _, m := range []Matrix{x, y} {
		for i := range m.Data {
			m.Data[i] = float32(r.NormFloat64())
		}
	}
	most := slices.Repeat([]float64{math.Inf(1)}, x.Rows)
	for _, s := range append(All(), withBytes()...) {
		var base Base
		base.PackWithin(s, y, x, most, enoughQueries, &Workspace{})
		taken := make([]int, x.Rows)
		base.SearchWithin(x, most, func(i, _ int, _ float64) bool {
			taken[i]++
			return i != 4 || taken[i] < 7
		}, &Workspace{})
		for i, n := range taken {
			if i == 4 && n != 7 || i != 4 && n != y.Rows {
				t.Errorf("%s: %d rows of query %d", s.Name, n, i)
			}
		}
		if panicOf(func() { base.SearchWithin(x, most[1:], nil, &Workspace{}) }) == nil {
			t.Error("limits of other queries are taken")
		}
	}
}

// TestBytesWithinDrop: queries of which bytes leave many rows go on in float32.
func TestBytesWithinDrop(t *testing.T) {
	r := rand.New(rand.NewPCG(76, 0))
	x, y := NewMatrix(30, 24), NewMatrix(6000, 24)
	for _, m := range []Matrix{x, y} {
		for i := range m.Data {
			m.Data[i] = float32(r.NormFloat64())
		}
	}
	most := make([]float64, x.Rows)
	for i := range y.Rows {
		y.Row(i)[3] = 7
	}
	for i := range most {
		most[i] = 20 // few
		if i%2 == 0 {
			x.Row(i)[3] = 1e6
			most[i] = 1e12 - 14e6 // about half: bytes know nothing of that
		}
	}
	for _, s := range withBytes() {
		var base Base
		base.PackWithin(s, y, y, noLimits(y.Rows), enoughQueries, &Workspace{})
		if !base.bytes.pack(s, y, &Workspace{}) {
			t.Fatal("not packed")
		}
		compareWithin(t, s.Name, &base, true, x, most, x.Rows)
		var sc scratch
		q := newQueries(s, 0, x, y, most)
		for i := range q.list {
			q.list[i].found = func(int, float64) bool { return true }
		}
		q.throughBytes(s, &base.bytes, &sc)
		for place, i := range sc.bytes.order {
			if sc.bytes.out[place] != (i%2 == 0) {
				t.Errorf("%s: query %d is out of the scan: %t", s.Name, i, sc.bytes.out[place])
			}
		}
	}
}

// TestWithinTrial: whether a base is packed depends on the limits: where many rows are within them, float32 is as fast.
// Whole numbers are packed in any case.
func TestWithinTrial(t *testing.T) {
	r := rand.New(rand.NewPCG(77, 0))
	y, whole := NewMatrix(12_000, 64), NewMatrix(12_000, 64)
	for i := range y.Data {
		y.Data[i], whole.Data[i] = float32(r.NormFloat64()), float32(r.IntN(256))
	}
	for _, s := range withBytes() {
		for most, want := range map[float64]bool{60: true, 128: false, 400: false} {
			var base Base
			x := y.RowRange(0, 200)
			base.PackWithin(s, y, x, slices.Repeat([]float64{most}, x.Rows), enoughQueries, &Workspace{})
			if base.packed != want {
				t.Errorf("%s: packed for distances up to %g: %t", s.Name, most, base.packed)
			}
			base.PackWithin(s, whole, whole.RowRange(0, 1), []float64{1e9}, enoughQueries, &Workspace{})
			if !base.packed {
				t.Errorf("%s: whole numbers are not packed", s.Name)
			}
		}
	}
}

// TestWithinAtTheBound has a query and a row that lose as much as the bound says, see TestByteLimitsByHand: at the
// limit of their distance the row is found.
func TestWithinAtTheBound(t *testing.T) {
	const cols = 65
	one, other := NewMatrix(1, cols), NewMatrix(1, cols)
	one.Data[0] = 127
	for k := 1; k < cols; k++ {
		one.Data[k], other.Data[k] = 0.49, 127
	}
	for _, s := range withBytes() {
		for _, v := range [][2]Matrix{{one, other}, {other, one}} {
			var base Base
			most := []float64{sqDist64(one.Data, other.Data)}
			base.PackWithin(s, v[1], v[0], most, 1, &Workspace{})
			if !base.bytes.packAround(byteCenter{values: make([]float64, cols)}, s, v[1], &Workspace{}) {
				t.Fatal("not packed")
			}
			compareWithin(t, s.Name, &base, true, v[0], most, 1)
		}
	}
}
