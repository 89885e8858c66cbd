package kernelops

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestAssignTiles compares every tile with the loop, and finds that nothing else is written.
func TestAssignTiles(t *testing.T) {
	r := rand.New(rand.NewPCG(81, 0))
	for name, s := range byteSets() {
		for _, tile := range []assignTile{s.assign.wide, s.assign.narrow} {
			for _, groups := range []int{1, 2, 3, 8, 25} {
				for _, panels := range []int{1, 2, 5} {
					where := fmt.Sprintf("%s, %d rows, %d groups, %d panels", name, tile.rows, groups, panels)
					compareAssign(t, where, r, tile, assignTileGeneric(tile.rows, tile.width), groups, panels)
				}
			}
		}
	}
}

func compareAssign(t *testing.T, where string, r *rand.Rand, got, want assignTile, groups, panels int) {
	t.Helper()
	rows, width := got.rows, got.width
	stride, words := groups+r.IntN(3), (panels*width+63)/64+r.IntN(2)
	x, y := make([]uint32, rows*stride), make([]uint32, panels*groups*width)
	starts, kinds, limits := make([]int32, 3*panels*width), make([]int32, rows), make([]int32, rows)
	for _, list := range [][]uint32{x, y} {
		for i := range list {
			list[i] = r.Uint32()
		}
	}
	for i := range starts {
		starts[i] = int32(r.IntN(200000) - 100000)
	}
	for i := range kinds {
		kinds[i], limits[i] = int32(r.IntN(3)*panels*width), int32(r.IntN(100000)-50000)
		if r.IntN(8) == 0 {
			limits[i] = math.MinInt32
		}
	}
	hits, most := make([]uint64, rows*words), make([]int32, 16*rows)
	size := panels*width + r.IntN(3)
	sums := make([]int32, rows*size)
	for i := range hits {
		hits[i] = r.Uint64()
	}
	for i := range most {
		most[i] = int32(r.IntN(100000))
	}
	for i := range sums {
		sums[i] = r.Int32()
	}
	wantHits, wantMost, wantSums := slices.Clone(hits), slices.Clone(most), slices.Clone(sums)
	for i, tile := range []assignTile{got, want} {
		h, m, all := [][]uint64{hits, wantHits}[i], [][]int32{most, wantMost}[i], [][]int32{sums, wantSums}[i]
		tile.near(h, words, 0, limits, starts, kinds, x, stride, y, groups, panels)
		tile.most(m, all, size, starts, kinds, x, stride, y, groups, panels)
		if last := panels - 1; last > 0 { // a panel of its own
			tile.near(h, words, last*width/8, limits, starts[width:], kinds, x, stride, y, groups, 1)
		}
	}
	if !slices.Equal(hits, wantHits) || !slices.Equal(most, wantMost) || !slices.Equal(sums, wantSums) {
		t.Fatalf("%s: other hits or sums than those of the loop", where)
	}
}

// TestKindsOfUnits: the least unit of a kind that is not below what a row needs.
func TestKindsOfUnits(t *testing.T) {
	b := &ByteRows{}
	for _, v := range [][2]float64{{1, 1}, {1.01, quarters[1]}, {1.3, quarters[2]}, {1.5, quarters[3]}, {1.7, 2},
		{2, 2}, {0.75, quarters[3] / 2}, {0x1p-40, 0x1p-40}, {0x1p40, 0x1p40}} {
		if kind := b.kind(v[0]); kind < 0 || b.kinds[kind].unit != v[1] {
			t.Errorf("%g: kind %d of %v, want %g", v[0], kind, b.kinds, v[1])
		}
	}
	for _, v := range []float64{0x1p-42, 0x1p41, math.Inf(1)} {
		if kind := b.kind(v); kind >= 0 {
			t.Errorf("%g has unit %g", v, b.kinds[kind].unit)
		}
	}
	if before := len(b.kinds); b.kind(1) != 0 || len(b.kinds) != before {
		t.Error("a kind is made twice")
	}
}

// byteRowSets are the sets with code for bytes, and one whose code is the loop.
func byteRowSets() []*Set {
	sets := withBytes()
	for _, s := range All() {
		if s.matrix != nil {
			loop := *s
			loop.Name, loop.bytes, loop.screenBytes = s.Name+" with the loop", bytesGeneric(), nil
			sets = append(sets, &loop)
		}
	}
	return sets
}

// TestByteRowsByTheLoop runs rounds by bytes beside those of the generic loop. Centers jump, swap and become equal;
// last centers are lost or random.
func TestByteRowsByTheLoop(t *testing.T) {
	cases := boundCases()
	r := rand.New(rand.NewPCG(83, 0))
	pictures := boundCase{"pictures", NewMatrix(300, 49), 10}
	for i := range pictures.x.Data {
		pictures.x.Data[i] = float32(r.IntN(256) * r.IntN(2))
	}
	nan := boundCase{"not finite", NewMatrix(200, 8), 12}
	for i := range nan.x.Data {
		if nan.x.Data[i] = float32(r.NormFloat64()); i > 150*8 && i%90 == 0 {
			nan.x.Data[i] = float32(math.Inf(i%4 - 2))
		}
	}
	for _, s := range byteRowSets() {
		for _, c := range append(cases, pictures, nan) {
			if s.bytes.assign.wide.rows > 0 && len(c.x.Data)*c.k > 2_500_000 && s.screenBytes == nil {
				continue // the loop takes long
			}
			t.Run(s.Name+"/"+c.name, func(t *testing.T) { checkByteRows(t, s, c) })
		}
	}
}

func checkByteRows(t *testing.T, s *Set, c boundCase) {
	x, origin := c.x, meanOf(c.x)
	for j, v := range origin {
		if v-v != 0 {
			origin[j] = 0
		}
	}
	var centers []float64
	for i := range c.k {
		for _, v := range x.Row(i * 150 % x.Rows) {
			centers = append(centers, float64(v))
		}
	}
	var ws Workspace
	b, r := NewByteRows(s, x.RowRange(0, min(70, x.Rows)), origin), rand.New(rand.NewPCG(1, 2))
	index, sqDist := slices.Repeat([]int32{-1}, x.Rows), make([]float64, x.Rows)
	want, wantDist := make([]int32, x.Rows), make([]float64, x.Rows)
	for round := range 10 {
		packed := s.PackCenters(centers, origin)
		for at, step := 0, 0; at < x.Rows; at += step {
			step = min(1+r.IntN(200), x.Rows-at)
			b.near.way = min(b.near.way, byMost) // again, though it cost too much
			b.near.rest, b.near.rests = 0, 0
			b.Nearest(index[at:at+step], sqDist[at:at+step], x.RowRange(at, at+step), packed, at, &ws)
		}
		g := Generic()
		g.Nearest(want, wantDist, x, g.PackCenters(centers, origin), &ws)
		for i := range want {
			if want[i] != index[i] || wantDist[i] != sqDist[i] {
				t.Fatalf("round %d, row %d: center %d at %v, want %d at %v", round, i, index[i], sqDist[i], want[i],
					wantDist[i])
			}
		}
		if slices.Min(index) < 0 {
			return // lloyd has no use for such rows
		}
		centers = lloyd(centers, index, x)
		disturb(centers, x.Cols, round, r)
		if round == 6 {
			for i := range index {
				index[i] = int32(r.IntN(c.k+1) - 1)
			}
		}
	}
}

// TestByteRowLimitByHand has a row and a center that lose as much as the bound says: of (127, 0.49, 0.49, ...), of unit
// 1, all but the first column is lost, which is all that the center (0, 127, 127, ...) has. The limit of their distance
// has a hit, one that is lower by 1 % of the bound has none.
func TestByteRowLimitByHand(t *testing.T) {
	const cols, bound = 65, 2 * 64 * 0.49 * 127
	x, center := NewMatrix(1, cols), make([]float64, 2*cols)
	x.Data[0] = 127
	for k := 1; k < cols; k++ {
		x.Data[k], center[k] = 0.49, 127
	}
	exact := []float64{0}
	groupDistancesGeneric(exact, cols, x.Data, cols, center, []int32{0})
	for _, s := range byteRowSets() {
		b := NewByteRows(s, x, make([]float32, cols))
		b.add(x, 0)
		b.move(s.PackCenters(center, make([]float32, cols)))
		b.retable()
		for limit, want := range map[float64]uint64{exact[0]: 1, exact[0] + 0.01*bound: 1, exact[0] - 0.01*bound: 0} {
			b.near.begin(1)
			b.limitByLast([]float64{limit}, b.parts[0].numbers)
			b.hit(b.parts[0].words, 1)
			if got := b.near.hits[0] & 1; got != want {
				t.Errorf("%s: %d hits at %g more than the distance", s.Name, got, limit-exact[0])
			}
		}
	}
}

// TestByteRowsGetOutOfTheWay: where bytes leave too many centers, which are all alike but for a large column here,
// rounds go without, and more of them each time.
func TestByteRowsGetOutOfTheWay(t *testing.T) {
	r := rand.New(rand.NewPCG(84, 0))
	for _, s := range withBytes() {
		x, centers, origin := NewMatrix(500, 32), make([]float64, 64*32), make([]float32, 32)
		for i := range x.Data {
			x.Data[i] = float32(r.NormFloat64())
		}
		for i := range centers {
			if centers[i] = r.NormFloat64() / 1024; i%32 == 0 {
				centers[i] = 1000
			}
		}
		b, index, sqDist := NewByteRows(s, x, origin), slices.Repeat([]int32{-1}, 500), make([]float64, 500)
		trials := 0
		for range 20 {
			packed := s.PackCenters(centers, origin)
			for from := 0; from < 500; from += 50 {
				to := from + 50
				b.Nearest(index[from:to], sqDist[from:to], x.RowRange(from, to), packed, from, &Workspace{})
				if from == 0 && len(b.near.open) > 0 {
					trials++
				}
				b.near.open = b.near.open[:0]
			}
			if b.near.way != byFloat {
				t.Errorf("%s: the way is %d", s.Name, b.near.way)
			}
		}
		if trials > 5 {
			t.Errorf("%s: tried in %d rounds of 20", s.Name, trials)
		}
	}
}

// Rows so far out that their distances to all centers differ by roundings: ties go to the lowest index.
func TestByteRowsFarOut(t *testing.T) {
	const k, cols = 64, 8
	r, origin := rand.New(rand.NewPCG(3, 4)), make([]float32, cols)
	for _, far := range []float32{0x1p40, 0x1p36, 0x1p32, 0x1p28} {
		for range 50 {
			centers, x := make([]float64, k*cols), NewMatrix(30, cols)
			for i := range centers {
				centers[i] = float64(r.IntN(128)) / 127
			}
			for i := range x.Data {
				x.Data[i] = far * float32(100+r.IntN(28))
			}
			want, wantDists := make([]int32, x.Rows), make([]float64, x.Rows)
			Generic().Nearest(want, wantDists, x, Generic().PackCenters(centers, origin), &Workspace{})
			for _, s := range withBytes() {
				index, dists := slices.Repeat([]int32{-1}, x.Rows), make([]float64, x.Rows)
				b := NewByteRows(s, x, origin)
				b.Nearest(index, dists, x, s.PackCenters(centers, origin), 0, &Workspace{})
				if !slices.Equal(index, want) || !slices.Equal(dists, wantDists) {
					t.Fatalf("%s, %g: centers %v, want %v", s.Name, far, index, want)
				}
			}
		}
	}
}
