package kernelops

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// bruteProducts is what SearchProducts finds, from all keys.
func bruteProducts(x, y Matrix, k int, cosine bool, most []float64) (ids []int, keys []float64) {
	key := productKey{cosine: cosine, norms: make([]float64, y.Rows)}
	for j := range y.Rows {
		key.norms[j] = math.Sqrt(dot64(y.Row(j), y.Row(j)))
	}
	for i := range x.Rows {
		key.x = math.Sqrt(dot64(x.Row(i), x.Row(i)))
		var order []int
		all := make([]float64, y.Rows)
		for j := range all {
			if all[j] = key.of(x.Row(i), y.Row(j), j); all[j] < math.Inf(1) && all[j] <= most[i] {
				order = append(order, j)
			}
		}
		// total order: ends in the row
		slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(all[a], all[b]), a-b) })
		for j := range k {
			id, at := -1, math.Inf(1)
			if j < len(order) {
				id, at = order[j], all[order[j]]
			}
			ids, keys = append(ids, id), append(keys, at)
		}
	}
	return ids, keys
}

// compareByteProducts searches a base as bytes, whatever a sample says, and compares with all keys. It returns the
// number of queries that were searched.
func compareByteProducts(t *testing.T, data string, x, y Matrix, k int, cosine bool, most []float64) (searched int) {
	t.Helper()
	wantIDs, wantKeys := bruteProducts(x, y, k, cosine, most)
	ids, keys := make([]int, x.Rows*k), make([]float64, x.Rows*k)
	var base Base
	for _, s := range withBytes() {
		ws := Workspace{Threads: 1 + x.Rows%2}
		base.PackProducts(s, y, x, nil, cosine, leastByteQueries, &ws)
		if base.packed = base.bytes.pack(s, y, &ws); !base.packed {
			continue
		}
		base.measureLengths(&ws)
		base.left = make([]bool, x.Rows)
		base.searchProducts(ids, keys, k, x, most, &ws)
		for i := range x.Rows {
			if base.left[i] {
				continue
			}
			searched++
			got, want := ids[i*k:(i+1)*k], wantIDs[i*k:(i+1)*k]
			if !slices.Equal(got, want) || !slices.Equal(keys[i*k:(i+1)*k], wantKeys[i*k:(i+1)*k]) {
				t.Fatalf("%s, %dx%dx%d on %s, cosine %t, k = %d, query %d:\n%v\n%v, want\n%v\n%v", s.Name, x.Rows,
					y.Rows, x.Cols, data, cosine, k, i, got, keys[i*k:(i+1)*k], want, wantKeys[i*k:(i+1)*k])
			}
		}
	}
	return searched
}

func noLimits(n int) []float64 { return slices.Repeat([]float64{math.Inf(1)}, n) }

// TestByteProducts compares searches of hard data with all keys.
func TestByteProducts(t *testing.T) {
	needBytes(t)
	r := rand.New(rand.NewPCG(80, 0))
	for name, put := range hardForBytes(r) {
		searched := 0
		for run := range 8 {
			cols := 1 + r.IntN(70)
			x, y := NewMatrix(1+r.IntN(14), cols), NewMatrix(1+r.IntN(400), cols)
			put(x)
			put(y)
			if r.IntN(2) == 0 {
				copy(y.Row(r.IntN(y.Rows)), x.Row(0))
			}
			if run%3 == 0 { // rows without a direction
				clear(y.Row(r.IntN(y.Rows)))
				clear(x.Row(x.Rows - 1))
			}
			searched += compareByteProducts(t, name, x, y, 1+r.IntN(12), run%2 == 0, noLimits(x.Rows))
		}
		if searched == 0 && name != "equal rows" {
			t.Errorf("%s: never searched as bytes", name)
		}
	}
}

// TestByteProductsByHand: about a center of (1, 1), of the queries (2, 0) and (0, 0) among (3, 1), (1, 5), (0, 0) and
// (-2, 1) the largest products are 6 and 2, and those of zeros all are 0. Of cosine a query of zeros is left.
func TestByteProductsByHand(t *testing.T) {
	x := Matrix{Data: []float32{2, 0, 0, 0}, Rows: 2, Cols: 2, Stride: 2}
	y := Matrix{Data: []float32{3, 1, 1, 5, 0, 0, -2, 1}, Rows: 4, Cols: 2, Stride: 2}
	for _, s := range withBytes() {
		for _, cosine := range []bool{false, true} {
			var base Base
			base.PackProducts(s, y, x, nil, cosine, 0, &Workspace{})
			if base.packed = base.bytes.pack(s, y, &Workspace{}); !base.packed {
				t.Fatal("not packed")
			}
			base.measureLengths(&Workspace{})
			ids, keys, left := make([]int, 6), make([]float64, 6), make([]bool, 2)
			base.left = left
			base.searchProducts(ids, keys, 3, x, []float64{math.Inf(1), 0}, &Workspace{})
			want, wantKeys := []int{0, 1, 2, 0, 1, 2}, []float64{-6, -2, 0, 0, 0, 0}
			if cosine {
				want = []int{0, 1, 2}
				wantKeys = []float64{1 - 6/float64(2*math.Sqrt(10)), 1 - 2/float64(2*math.Sqrt(26)), 1}
			}
			if !slices.Equal(ids[:len(want)], want) || !slices.Equal(keys[:len(want)], wantKeys) || left[1] != cosine {
				t.Errorf("%s, cosine %t: %v %v, left %t", s.Name, cosine, ids, keys, left)
			}
		}
	}
}

// TestByteProductBoundsHold compares bounds with keys, of pairs about centers near and far.
func TestByteProductBoundsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(81, 0))
	next := hardMatrices(82)
	for name, s := range byteSets() {
		near := 0
		for run := range 1200 {
			kind := byteKind{products: true, cosine: run%4 == 1}
			x, y, values, tight := productPair(r, next, run)
			b := byteBase{byteCenter: byteCenter{byteKind: kind, values: values}, scale: 1}
			b.measureCenter()
			low, high, ok := b.productBounds(s, x, y)
			if !ok {
				continue
			}
			key := productKey{cosine: kind.cosine, x: math.Sqrt(dot64(x, x)), norms: []float64{math.Sqrt(dot64(y, y))}}
			exact := key.of(x, y, 0)
			if !(low <= exact && exact <= high) {
				t.Fatalf("%s, run %d, %d columns, cosine %t: %g is not between %g and %g", name, run, len(x),
					kind.cosine, exact, low, high)
			}
			if tight && !kind.cosine && min(exact-low, high-exact) < 0.004*(high-low) {
				near++
			}
		}
		if near < 30 {
			t.Errorf("%s: %d pairs are near their bounds: the test finds nothing", name, near)
		}
	}
}

// productPair draws two rows and a center of them. Tight ones nearly reach their bounds about 0.
func productPair(r *rand.Rand, next map[string]func() float32, run int) (x, y []float32, center []float64, tight bool) {
	cols := 2 + r.IntN(60)
	center = make([]float64, cols)
	if x, y = tightPair(r, cols); run%2 == 0 {
		return x, y, center, true
	}
	kind := [...]string{"normal", "subnormal", "tie", "overflow"}[run/2%4]
	fill(x, next[kind])
	fill(y, next[kind])
	for i := range center {
		if center[i] = float64(x[i]) + float64(r.NormFloat64()*math.Abs(float64(y[i]))); run%3 == 0 {
			center[i] = math.Ldexp(center[i], r.IntN(20))
		}
		if center[i]-center[i] != 0 {
			center[i] = 0
		}
	}
	return x, y, center, false
}

// productBounds are the bounds of the key of two rows.
func (b *byteBase) productBounds(s *byteSet, x, y []float32) (low, high float64, ok bool) {
	var lanes byteLanes
	ends := [2]roundedRow{}
	bytes := [2][]uint8{make([]uint8, len(x)), make([]uint8, len(x))}
	for i, row := range [][]float32{x, y} {
		var buf []float32
		row = b.direction(&buf, row)
		if ends[i] = b.measure(s, row, &lanes); ends[i].norm != ends[i].norm || ends[i].unit == 0 {
			return 0, 0, false
		}
		b.round(s, &ends[i], bytes[i], row, 0, &lanes)
	}
	dot := int32(0)
	for k := range x {
		dot += int32(int8(bytes[0][k])) * int32(int8(bytes[1][k]))
	}
	_, exponent := math.Frexp(ends[1].unit)
	b.scale = math.Ldexp(1, exponent)
	terms := make([]float32, byteTerms)
	b.setTerms(terms, 5, &ends[1])
	low, high = b.keys(ends[0].bounds(terms, 5, b.scale, dot))
	return low, high, true
}

// TestByteProductsUpToAKey: what is beyond the limit of a query is left out, what is at it is not; among ties too.
func TestByteProductsUpToAKey(t *testing.T) {
	needBytes(t)
	r := rand.New(rand.NewPCG(83, 0))
	for run := range 12 {
		x, y := NewMatrix(1+r.IntN(40), 16), NewMatrix(2000, 16)
		for _, m := range []Matrix{x, y} {
			for i := range m.Data {
				m.Data[i] = float32(r.IntN(20) - run%3*10)
			}
		}
		const k = 6
		cosine := run%2 == 0
		_, keys := bruteProducts(x, y, k, cosine, noLimits(x.Rows))
		most := make([]float64, x.Rows)
		for i := range most {
			most[i] = keys[i*k+r.IntN(k)]
			if r.IntN(3) == 0 {
				most[i] = math.Nextafter(most[i], -10)
			}
		}
		if compareByteProducts(t, fmt.Sprintf("run %d", run), x, y, k, cosine, most) == 0 {
			t.Error("never searched as bytes")
		}
	}
}

// TestByteProductQueriesFarAway: queries of which 8 bits hold nothing but a column that is constant in the base are
// left, and those beside them are searched.
func TestByteProductQueriesFarAway(t *testing.T) {
	r := rand.New(rand.NewPCG(84, 0))
	x, y := NewMatrix(leastByteQueries, 24), NewMatrix(3000, 24)
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
	for _, s := range withBytes() {
		var base Base
		var ws Workspace
		if !base.PackProducts(s, y, y, nil, false, enoughQueries, &ws) {
			t.Fatal("not packed")
		}
		const k = 3
		ids, keys := make([]int, x.Rows*k), make([]float64, x.Rows*k)
		for i, left := range base.SearchProducts(ids, keys, k, x, noLimits(x.Rows), &ws) {
			if left != (i%2 == 0) {
				t.Errorf("%s: query %d is left: %t", s.Name, i, left)
			}
		}
		for _, left := range base.SearchProducts(make([]int, 100*x.Rows), make([]float64, 100*x.Rows), 100, x,
			noLimits(x.Rows), &ws) {
			if !left {
				t.Error("a hundred neighbors of 3,000 rows are searched by 8 bits")
			}
		}
		if panicOf(func() { base.Search(ids, keys, k, x, nil, &ws) }) == nil {
			t.Error("a base of products searches distances")
		}
	}
}

// TestDot64 compares with the loop by lanes.
func TestDot64(t *testing.T) {
	next := hardMatrices(85)["normal"]
	for cols := range 40 {
		x, y := make([]float32, cols), make([]float32, cols)
		fill(x, next)
		fill(y, next)
		var lane [searchLanes]float64
		for i := range x {
			lane[i%searchLanes] += float64(float64(x[i]) * float64(y[i]))
		}
		if want := lanesSum(&lane); dot64(x, y) != want {
			t.Errorf("%d columns: %g, want %g", cols, dot64(x, y), want)
		}
	}
}

// TestProductsOfWholeNumbers: rows of 0 and 1, and of 0 to 255, lose nothing, and 8 bits help with the first though
// products are small beside the lengths about 128.
func TestProductsOfWholeNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(86, 0))
	for _, s := range withBytes() {
		for _, most := range []int{1, 255} {
			y := NewMatrix(4000, 64)
			for i := range y.Data {
				y.Data[i] = float32(r.IntN(most + 1))
			}
			var base Base
			if !base.PackProducts(s, y, y, nil, false, enoughQueries, &Workspace{}) {
				t.Errorf("%s: rows of up to %d are not packed", s.Name, most)
			}
			if center := float64(byteLift * (most / 255)); base.bytes.values[0] != center || !base.bytes.whole {
				t.Errorf("%s: rows of up to %d have the center %g", s.Name, most, base.bytes.values[0])
			}
		}
	}
}
