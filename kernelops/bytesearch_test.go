package kernelops

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// enoughQueries are worth bytes wherever these help.
const enoughQueries = 1 << 20

// withBytes are the sets that search by products, with each code for rows of 8 bits.
func withBytes() []*Set {
	var sets []*Set
	for _, s := range All() {
		for name, bytes := range byteSets() {
			if s.matrix != nil {
				set := *s
				set.Name, set.bytes = s.Name+" and bytes of "+name, bytes
				sets = append(sets, &set)
			}
		}
	}
	return sets
}

// needBytes skips a test where only the generic set runs, which searches no bytes.
func needBytes(t *testing.T) {
	if len(withBytes()) == 0 {
		t.Skip("only the generic set runs here")
	}
}

// compareByteSearches searches a base as bytes, whatever a sample of it says, and compares with all distances. It
// returns whether the base could be packed.
func compareByteSearches(t *testing.T, data string, x, y Matrix, k int) (packed bool) {
	t.Helper()
	ids, dists := make([]int, x.Rows*k), make([]float64, x.Rows*k)
	Generic().Search(ids, dists, k, x, y, &Workspace{})
	wantIDs, wantDists := slices.Clone(ids), slices.Clone(dists)
	var base Base
	for _, s := range withBytes() {
		ws := Workspace{Threads: 1 + x.Rows%2}
		base.Pack(s, y, leastByteQueries, &ws)
		base.packed = base.bytes.pack(s, y, &ws)
		packed = base.packed
		for _, call := range []int{x.Rows, 1} {
			for i := 0; i < x.Rows; i += call {
				base.search(ids[i*k:(i+call)*k], dists[i*k:], k, x.RowRange(i, i+call), nil, base.packed, &ws)
			}
			if !slices.Equal(ids, wantIDs) || !slices.Equal(dists, wantDists) {
				t.Fatalf("%s, %dx%dx%d on %s, k = %d, %d queries a call:\n%v\n%v, want\n%v\n%v", s.Name, x.Rows, y.Rows,
					x.Cols, data, k, call, ids, dists, wantIDs, wantDists)
			}
		}
	}
	return packed
}

// hardForBytes are points, beside the awkward ones, on which 8 bits mislead or do not suffice.
func hardForBytes(r *rand.Rand) map[string]func(m Matrix) {
	all := awkward(r)
	fillBy := func(f func(i, j int) float64) func(Matrix) {
		return func(m Matrix) {
			for i := range m.Rows {
				for j := range m.Row(i) {
					m.Row(i)[j] = float32(f(i, j))
				}
			}
		}
	}
	all["whole, 0 to 255"] = fillBy(func(_, _ int) float64 { return float64(r.IntN(256)) })
	all["whole, few"] = fillBy(func(_, _ int) float64 { return float64(128 + r.IntN(2)) })
	all["whole, but one"] = fillBy(func(i, j int) float64 { return float64(r.IntN(256)) + float64((i+7*j)%97/96)/2 })
	all["1e30"] = fillBy(func(_, _ int) float64 { return 1e30 * r.NormFloat64() })
	all["subnormal"] = fillBy(func(_, _ int) float64 { return 1e-42 * r.NormFloat64() })
	all["one row of 1e30"] = fillBy(func(i, _ int) float64 {
		return r.NormFloat64() * (1 + 1e30*float64(max(0, 4-i)/4))
	})
	all["columns of other scales"] = fillBy(func(_, j int) float64 {
		return r.NormFloat64() * math.Pow(10, float64(j%9))
	})
	all["rows of other scales"] = fillBy(func(i, _ int) float64 {
		return r.NormFloat64() * math.Pow(10, float64(i%25-12))
	})
	all["far from 0"] = fillBy(func(_, _ int) float64 { return 1e6 + r.NormFloat64() })
	all["equal rows"] = fillBy(func(_, j int) float64 { return float64(j) / 3 })
	all["a third is 0"] = fillBy(func(i, _ int) float64 { return r.NormFloat64() * float64(min(1, i%3)) })
	all["one hot"] = fillBy(func(i, j int) float64 { return float64((i*7%5 + 1 - j) / max(1, i*7%5+1-j)) })
	return all
}

// TestByteSearches compares searches of hard data with all distances.
func TestByteSearches(t *testing.T) {
	needBytes(t)
	r := rand.New(rand.NewPCG(66, 0))
	for name, put := range hardForBytes(r) {
		packed := 0
		for range 4 {
			cols := 1 + r.IntN(70)
			x, y := NewMatrix(1+r.IntN(14), cols), NewMatrix(1+r.IntN(400), cols)
			put(x)
			put(y)
			if r.IntN(2) == 0 {
				copy(y.Row(r.IntN(y.Rows)), x.Row(0))
			}
			if compareByteSearches(t, name, x, y, 1+r.IntN(12)) {
				packed++
			}
		}
		if packed == 0 && name != "subnormal" && name != "huge" && name != "equal rows" {
			t.Errorf("%s: never searched as bytes", name)
		}
	}
}

// TestByteSearchOfSpecialRows: rows that are not finite, or far larger than the sample that scales are from, among
// others.
func TestByteSearchOfSpecialRows(t *testing.T) {
	needBytes(t)
	r := rand.New(rand.NewPCG(67, 0))
	x, y := NewMatrix(9, 20), NewMatrix(700, 20)
	for _, m := range []Matrix{x, y} {
		for i := range m.Data {
			m.Data[i] = float32(r.NormFloat64())
		}
	}
	for i, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e38, -3e38, 1e-45, 1e15} {
		y.Row(97 * i)[i] = float32(v)
		y.Row(97*i + 1)[19] = float32(v)
		x.Row(i)[2*i] = float32(v)
	}
	if !compareByteSearches(t, "special rows", x, y, 5) {
		t.Error("not searched as bytes")
	}
}

// TestByteQueriesFarAway: the bytes of a query with a large value in a column that is constant in the base hold nothing
// of the others, so that they leave all rows. Such queries go on in float32, beside others that do not.
func TestByteQueriesFarAway(t *testing.T) {
	r := rand.New(rand.NewPCG(68, 0))
	x, y := NewMatrix(30, 24), NewMatrix(3000, 24)
	for _, m := range []Matrix{x, y} {
		for i := range m.Data {
			m.Data[i] = float32(r.NormFloat64())
		}
	}
	for i := range y.Rows {
		y.Row(i)[3] = 7
	}
	for i := 0; i < x.Rows; i += 2 {
		x.Row(i)[3] = 1e6
	}
	compareByteSearches(t, "far queries", x, y, 3)
	for _, s := range withBytes() {
		var base byteBase
		var sc scratch
		if !base.pack(s, y, &Workspace{}) {
			t.Fatal("not packed")
		}
		q := newQueries(s, 3, x, y, nil)
		q.throughBytes(s, &base, &sc)
		for place, i := range sc.bytes.order {
			if sc.bytes.out[place] != (i%2 == 0) {
				t.Errorf("%s: query %d is out of the scan: %t", s.Name, i, sc.bytes.out[place])
			}
		}
	}
}

// TestBytesHelp: whether a base is packed is what a sample of it says.
func TestBytesHelp(t *testing.T) {
	r := rand.New(rand.NewPCG(69, 0))
	hard := hardForBytes(r)
	for name, want := range map[string]bool{"normal": true, "whole, 0 to 255": true, "far from 0": true, "1e30": true,
		"columns of other scales": true, "equal rows": false, "one hot": false, "a third is 0": false,
		"whole, few": true} {
		for _, s := range withBytes() {
			y := NewMatrix(12_000, 64) // distances of fewer rows are faster in float32
			hard[name](y)
			var base Base
			if base.Pack(s, y, enoughQueries, &Workspace{}); base.packed != want {
				t.Errorf("%s: packed on %s: %t", s.Name, name, base.packed)
			}
			nothing := slices.Repeat([]float64{-1e300}, y.Rows) // is so near: bytes see that of all rows
			if base.PackFor(s, y, y, nothing, enoughQueries, &Workspace{}); !base.packed && name != "equal rows" {
				t.Errorf("%s: not packed on %s for queries that look for nothing", s.Name, name)
			}
			small := y.RowRange(0, leastByteRows-1)
			if base.Pack(s, small, enoughQueries, &Workspace{}); base.packed {
				t.Errorf("%s: %d rows are packed", s.Name, small.Rows)
			}
			if base.Pack(s, y, leastByteQueries-1, &Workspace{}); base.packed {
				t.Errorf("%s: packed for few queries", s.Name)
			}
		}
	}
}

// Rows that repeat every few rows are sampled as often as they are.
func TestSampled(t *testing.T) {
	for _, rows := range []int{16, 17, 31, 1000, 39_936, 40_000, 65_536} {
		for _, period := range []int{2, 3, 4, 6, 64} {
			n := min(rows, 512)
			counts, last := make([]int, period), -1
			for i := range n {
				at := sampled(i, n, rows)
				if at <= last || at >= rows || at < i*rows/n || at >= (i+1)*rows/n {
					t.Fatalf("row %d of %d of %d is %d, after %d", i, n, rows, at, last)
				}
				counts[at%period]++
				last = at
			}
			for _, count := range counts {
				if fair := float64(n) / float64(period); rows >= 1000 && math.Abs(float64(count)-fair) > 0.25*fair+4 {
					t.Errorf("%d of %d rows, every %d: %v", n, rows, period, counts)
					break
				}
			}
		}
	}
}

// TestBaseSearches compares searches of a base, packed or not, with searches of its rows.
func TestBaseSearches(t *testing.T) {
	r := rand.New(rand.NewPCG(70, 0))
	var base Base
	for _, s := range All() {
		for _, rows := range []int{5, 2000} {
			x, y := NewMatrix(leastByteQueries+3, 17), NewMatrix(rows, 17)
			for _, m := range []Matrix{x, y} {
				for i := range m.Data {
					m.Data[i] = float32(r.NormFloat64())
				}
			}
			const k = 4
			ids, dists := make([]int, x.Rows*k), make([]float64, x.Rows*k)
			wantIDs, wantDists := bruteForce(x, y, k)
			var ws Workspace
			base.Pack(s, y, enoughQueries, &ws)
			for _, run := range []func(){
				func() { s.Search(ids, dists, k, x, y, &ws) },
				func() { base.Search(ids, dists, k, x, nil, &ws) },
				func() { base.Search(ids, dists, k, x, slices.Repeat([]float64{math.Inf(1)}, x.Rows), &ws) },
			} {
				clear(ids)
				run()
				if !slices.Equal(ids, wantIDs) || !slices.Equal(dists, wantDists) {
					t.Errorf("%s, %d rows: other neighbors", s.Name, rows)
				}
			}
		}
	}
}

// TestByteHitsHoldTheLimit: a tile keeps every row whose distance is within the limit of a query, though it be at the
// end of its bound, and leaves out most of the others.
func TestByteHitsHoldTheLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 0))
	for _, s := range withBytes() {
		kept, all := 0, 0
		for run := range 60 {
			cols := 2 + r.IntN(40)
			x, y := NewMatrix(9, cols), NewMatrix(130, cols)
			for _, m := range []Matrix{x, y} {
				for i := range m.Data {
					m.Data[i] = float32(r.NormFloat64())
				}
			}
			tight := run%2 == 0
			for i := 0; tight && i < x.Rows; i++ {
				a, b := tightPair(r, cols)
				copy(x.Row(i), a)
				copy(y.Row(i), b)
			}
			var base byteBase
			var q byteQueries
			if !base.pack(s, y, &Workspace{}) {
				t.Fatal("not packed")
			}
			q.take(s.bytes, s.bytes.queries, x, &base)
			k, n := checkHits(t, fmt.Sprintf("%s, run %d", s.Name, run), s.bytes.tile, &q, x, y)
			if !tight {
				kept, all = kept+k, all+n
			}
		}
		if kept > all*3/4 { // half of them are within the limit
			t.Errorf("%s: %d of %d rows are kept", s.Name, kept, all)
		}
	}
}

// checkHits sets the distance of each row, in turn, as the limit of all queries.
func checkHits(t *testing.T, where string, tile byteTile, q *byteQueries, x, y Matrix) (kept, all int) {
	t.Helper()
	for j := range min(9, y.Rows) {
		q.relimit(func(i int) float64 { return sqDist64(x.Row(i), y.Row(j)) })
		found := map[[2]int]bool{}
		q.scan(tile, 0, panelCount(y.Rows), func(i, row int, low, high float64) float64 {
			found[[2]int{i, row}] = true
			if d := sqDist64(x.Row(i), y.Row(row)); !(low <= d && d <= high) {
				t.Errorf("%s: query %d, row %d: %g is not between %g and %g", where, i, row, d, low, high)
			}
			return sqDist64(x.Row(i), y.Row(j))
		})
		for i := range x.Rows {
			for row := range y.Rows {
				if sqDist64(x.Row(i), y.Row(row)) <= sqDist64(x.Row(i), y.Row(j)) && !found[[2]int{i, row}] {
					t.Errorf("%s: row %d is lost to query %d, at the distance of row %d", where, row, i, j)
				}
			}
		}
		kept, all = kept+len(found), all+x.Rows*y.Rows
	}
	return kept, all
}

// TestByteLimitsByHand has a query and a row that lose as much as the bound says, 0.49*127 in each of 64 columns: at
// the limit of their distance they are a hit, at one that is lower by 1 % of the bound they are not.
func TestByteLimitsByHand(t *testing.T) {
	const cols, bound = 65, 2 * 64 * 0.49 * 127
	one, other := NewMatrix(1, cols), NewMatrix(1, cols)
	one.Data[0] = 127
	for k := 1; k < cols; k++ {
		one.Data[k], other.Data[k] = 0.49, 127
	}
	exact := sqDist64(one.Data, other.Data)
	for _, s := range withBytes() {
		for _, v := range [][2]Matrix{{one, other}, {other, one}} {
			var base byteBase
			if !base.packAround(byteCenter{values: make([]float64, cols)}, s, v[1], &Workspace{}) {
				t.Fatal("not packed")
			}
			for _, n := range []int{1, s.bytes.queries} {
				tile := s.bytes.tile
				if n == 1 {
					tile = s.bytes.one
				}
				var q byteQueries
				q.take(s.bytes, n, v[0], &base)
				for limit, want := range map[float64]int{exact: 1, exact + 0.01*bound: 1, exact - 0.01*bound: 0} {
					hits := 0
					q.relimit(func(int) float64 { return limit })
					q.scan(tile, 0, 1, func(_, _ int, _, _ float64) float64 { hits++; return limit })
					if hits != want {
						t.Errorf("%s, tiles of %d: %d hits at %g more than the distance", s.Name, n, hits, limit-exact)
					}
				}
			}
		}
	}
}

// TestSearchUpToADistance: what is farther than the limit of a query is left out, what is at it is not.
func TestSearchUpToADistance(t *testing.T) {
	r := rand.New(rand.NewPCG(72, 0))
	const k = 6
	for _, s := range append(All(), withBytes()...) {
		for range 10 {
			x, y := NewMatrix(1+r.IntN(70), 16), NewMatrix(2000, 16)
			for _, m := range []Matrix{x, y} {
				for i := range m.Data {
					m.Data[i] = float32(r.IntN(20))
				}
			}
			ids, dists := make([]int, x.Rows*k), make([]float64, x.Rows*k)
			wantIDs, wantDists := bruteForce(x, y, k)
			most := make([]float64, x.Rows)
			for i := range most {
				most[i] = wantDists[i*k+r.IntN(k)] - float64(r.IntN(2))
				for j := i * k; j < (i+1)*k; j++ {
					if wantDists[j] > most[i] {
						wantIDs[j], wantDists[j] = -1, math.Inf(1)
					}
				}
			}
			var ws Workspace
			var base Base
			base.Pack(s, y, enoughQueries, &ws)
			base.Search(ids, dists, k, x, most, &ws)
			if !slices.Equal(ids, wantIDs) || !slices.Equal(dists, wantDists) {
				t.Fatalf("%s: other neighbors up to a distance", s.Name)
			}
			if got := panicOf(func() { base.Search(ids, dists, k, x, most[1:], &ws) }); got == nil {
				t.Error("limits of other queries are taken")
			}
		}
	}
}
