package kernelops

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// tileArguments are those of a byteTile.
type tileArguments struct {
	hits            []uint64
	dots            []int32
	x, y            []uint32
	terms           []float32
	factors, limits []float32
	starts          []int32
	spreads         []float32
	groups, panels  int
}

func (a tileArguments) run(tile byteTile) (found uint64, hits []uint64, dots []int32) {
	hits, dots = slices.Clone(a.hits), slices.Clone(a.dots)
	found = tile(hits, dots, a.x, a.y, a.terms, a.factors, a.limits, a.starts, a.spreads, a.groups, a.panels)
	return found, hits, dots
}

// randomTile draws arguments with about some hits. Results have an element more at the end.
func randomTile(r *rand.Rand, queries, groups, panels int, often float64) tileArguments {
	a := tileArguments{
		hits: make([]uint64, queries*panels+1), dots: make([]int32, queries*panels*byteWidth+1),
		x: make([]uint32, groups*queries), y: make([]uint32, groups*panels*byteWidth),
		terms: make([]float32, byteTerms*panels), factors: make([]float32, queries), limits: make([]float32, queries),
		starts: make([]int32, queries), spreads: []float32{-r.Float32(), -r.Float32()}, groups: groups, panels: panels,
	}
	for _, words := range [][]uint32{a.x, a.y} {
		for i := range words {
			words[i] = r.Uint32()
		}
	}
	size := 128 * 128 * math.Sqrt(float64(4*groups))
	for i := range a.terms {
		a.terms[i] = float32(size * r.Float64())
		if r.IntN(500) == 0 && i%byteTerms < byteWidth {
			a.terms[i] = float32(math.Inf(-1))
		}
	}
	for i := range queries {
		a.factors[i], a.starts[i] = r.Float32(), int32(r.IntN(2000)-1000)
		a.limits[i] = r.Float32() - float32(often)
		switch r.IntN(12) {
		case 0:
			a.limits[i] = float32(math.Inf(1))
		case 1:
			a.limits[i] = -math.MaxFloat32
		}
	}
	for i := range a.hits {
		a.hits[i] = r.Uint64()
	}
	for i := range a.dots {
		a.dots[i] = r.Int32()
	}
	return a
}

// compareTiles compares a tile with the generic one, where there are hits.
func compareTiles(t *testing.T, where string, tile byteTile, queries int, a tileArguments) (hits int) {
	t.Helper()
	found, gotHits, gotDots := a.run(tile)
	want, wantHits, wantDots := a.run(byteTileGeneric(queries))
	if found != want {
		t.Fatalf("%s: hits in panels %b, want %b", where, found, want)
	}
	if !sameHits(found, queries, gotHits, wantHits, gotDots, wantDots) {
		t.Fatalf("%s: other hits or products than those of the loop", where)
	}
	if n, m := len(a.hits)-1, len(a.dots)-1; gotHits[n] != a.hits[n] || gotDots[m] != a.dots[m] {
		t.Fatalf("%s: wrote beyond the results", where)
	}
	return bits.OnesCount64(found)
}

// TestByteTiles compares every tile with the loop, at numbers of columns that fill its steps and others.
func TestByteTiles(t *testing.T) {
	r := rand.New(rand.NewPCG(63, 0))
	for name, s := range byteSets() {
		some, all := 0, 0
		for _, groups := range []int{1, 2, 3, 4, 7, 32} {
			for _, panels := range []int{1, 2, 5, 64} {
				for _, often := range []float64{1, 8, 40} {
					if panels == 64 && groups > 2 {
						continue
					}
					where := fmt.Sprintf("%s: %d groups, %d panels", name, groups, panels)
					some += compareTiles(t, where, s.tile, s.queries, randomTile(r, s.queries, groups, panels, often))
					some += compareTiles(t, where+", one", s.one, 1, randomTile(r, 1, groups, panels, often))
					all += 2 * panels
				}
			}
		}
		if some == 0 || some == all {
			t.Errorf("%s: hits in %d of %d panels: the test misses a case", name, some, all)
		}
	}
}

// TestByteTileExtremes multiplies the largest bytes, over the most columns, and finds sums that are equal to the least.
func TestByteTileExtremes(t *testing.T) {
	for name, s := range byteSets() {
		for _, v := range []struct {
			x, y uint32
			sum  int32
		}{{0x80808080, 0xffffffff, -128 * 255}, {0x7f7f7f7f, 0xffffffff, 127 * 255}, {0x000000ff, 0x000000ff, -255}} {
			const groups = byteCols / byteGroup
			a := tileArguments{hits: make([]uint64, 1), dots: make([]int32, byteWidth), x: make([]uint32, groups),
				y: make([]uint32, groups*byteWidth), terms: make([]float32, byteTerms), factors: []float32{1},
				limits: []float32{0}, starts: []int32{0}, spreads: []float32{0, 0}, groups: groups, panels: 1}
			for i := range a.x {
				a.x[i] = v.x
			}
			for i := range a.y {
				a.y[i] = v.y
			}
			sum := int32(0)
			for range groups {
				if sum += v.sum; v.x != 0xff {
					sum += 3 * v.sum
				}
			}
			for j := range byteWidth {
				a.terms[j] = float32(sum)
				if j%2 == 0 {
					a.terms[j] = math.Nextafter32(float32(sum), inf32)
				}
			}
			found, hits, dots := a.run(s.one)
			if found != 1 || hits[0] != 0xaaaaaaaaaaaaaaaa || dots[3] != sum {
				t.Errorf("%s: %x times %x: panels %b, hits %x, sum %d, want %d", name, v.x, v.y, found, hits[0],
					dots[3], sum)
			}
		}
	}
}

// TestByteRowsEqualTheLoop compares rounding, at every number of columns up to two steps, with the loop.
func TestByteRowsEqualTheLoop(t *testing.T) {
	want := bytesGeneric()
	for kind, next := range hardMatrices(64) {
		for cols := 1; cols <= 34; cols++ {
			x, center := make([]float32, cols), make([]float64, cols)
			fill(x, next)
			for j := range center {
				if v := float64(next()); v-v == 0 {
					center[j] = v
				}
			}
			for name, s := range byteSets() {
				where := fmt.Sprintf("%s: %d columns of %s", name, cols, kind)
				compareByteRows(t, where, s, want, x, center)
			}
		}
	}
}

func compareByteRows(t *testing.T, where string, s, want *byteSet, x []float32, center []float64) {
	t.Helper()
	var got, loop byteLanes
	s.extent(&got, x, center)
	want.extent(&loop, x, center)
	most := 0.0
	for i, v := range loop {
		if i >= 8 && loop.squares() != loop.squares() {
			break // extremes have no meaning
		}
		if v != got[i] && (v == v || got[i] == got[i]) {
			t.Fatalf("%s: lane %d is %g, want %g", where, i, got[i], v)
		}
		most = max(most, math.Abs(v))
	}
	if !(loop.squares() < math.Inf(1)) {
		return
	}
	for _, unit := range []float64{math.Sqrt(most)/127 + 0x1p-300, math.Sqrt(most)/100 + 1} {
		bytes, loopBytes := make([]uint8, len(x)+1), make([]uint8, len(x)+1)
		got, loop = byteLanes{}, byteLanes{}
		s.row(&got, bytes, x, center, 1/unit, unit, byteMagic+byteLift)
		want.row(&loop, loopBytes, x, center, 1/unit, unit, byteMagic+byteLift)
		if !slices.Equal(bytes, loopBytes) {
			t.Fatalf("%s: bytes %d, want %d", where, bytes, loopBytes)
		}
		equalBits(t, where, got[:8], loop[:8])
	}
}

// TestSqDistEach compares the distances of several rows with sqDist64.
func TestSqDistEach(t *testing.T) {
	for kind, next := range hardMatrices(65) {
		for cols := 1; cols <= 34; cols++ {
			x, y := NewMatrix(1, cols), NewMatrix(scoredRows, cols)
			fill(x.Data, next)
			fill(y.Data, next)
			for _, s := range All() {
				if s.sqDistEach == nil {
					continue
				}
				var rows [scoredRows]*float32
				var got, want [scoredRows]float64
				for i := range rows {
					rows[i], want[i] = &y.Data[i*cols], sqDist64(x.Row(0), y.Row(i))
				}
				s.sqDistEach(&got[0], &rows[0], &x.Data[0], cols)
				equalBits(t, fmt.Sprintf("%s: %d columns of %s", s.Name, cols, kind), got[:], want[:])
			}
		}
	}
}
