package kernelops

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// tile32 is the longest step of a float32 implementation: 8 registers of 16 lanes.
const tile32 = 128

// operands are the arguments of any vector operation, and the memory around them.
type operands struct {
	x      Matrix
	y, a   []float32 // for every column, for every row
	f, g   float32
	groups []int32

	row  []float32 // results: for every column
	col  []float32 // for every row
	sums []float64 // for every column of three groups, twice
	far  []float64 // for every row

	arenas     []*arena
	wide, tall *guarded // sums, far
}

// vectorOp is an operation on operands, by name, and its doc comment as a function of them.
type vectorOp struct {
	name string
	run  func(s *Set, o *operands)
}

var vectorOps32 = []vectorOp{
	{"Dot", func(s *Set, o *operands) {
		for i := range o.col {
			o.col[i] = s.Dot(o.x.Row(i), o.y)
		}
	}},
	{"DotEach", func(s *Set, o *operands) { dotEach(s, o.col, o.x, o.y) }},
	{"DotRows", func(s *Set, o *operands) { s.DotRows(o.col, o.x, o.y) }},
	{"SqEuclideanRows", func(s *Set, o *operands) { s.SqEuclideanRows(o.col, o.x, o.y) }},
	{"L1Rows", func(s *Set, o *operands) { s.L1Rows(o.col, o.x, o.y) }},
	{"LInfRows", func(s *Set, o *operands) { s.LInfRows(o.col, o.x, o.y) }},
	{"Axpy", func(s *Set, o *operands) { s.Axpy(o.row, o.y, o.f) }},
	{"Axpby", func(s *Set, o *operands) { s.Axpby(o.row, o.y, o.f, o.g) }},
	{"AxpyRows", func(s *Set, o *operands) { s.AxpyRows(o.row, o.x, o.a) }},
	{"AccumulateRows", func(s *Set, o *operands) { s.AccumulateRows(o.sums, o.x, o.groups) }},
	{"GroupDistances", func(s *Set, o *operands) { s.GroupDistances(o.far, o.x, o.sums, o.groups) }},
	{"SumParts", func(s *Set, o *operands) { s.SumParts(o.sums, o.tops(), o.x, o.groups) }},
	{"SquareParts", func(s *Set, o *operands) { s.SquareParts(o.sums, o.tops(), o.x, o.pairs()) }},
	{"ColumnRanges", func(s *Set, o *operands) {
		if !o.anyNaN() {
			s.ColumnRanges(o.row, o.y, o.least(), o.x)
		}
	}},
}

// tops are those of columns in which values of 2^8 and above are cut off, and those below 2^-42 lost.
func (o *operands) tops() []float64 {
	top := make([]float64, o.x.Cols)
	for j := range top {
		top[j] = PartTop(8 + j%3)
	}
	return top
}

// pairs are the groups, of which there are two.
func (o *operands) pairs() []int32 {
	groups := slices.Clone(o.groups)
	for i, g := range groups {
		groups[i] = min(g, 1)
	}
	return groups
}

// least is the memory of sums, as positive float32.
func (o *operands) least() []float32 {
	least := make([]float32, o.x.Cols)
	if len(o.sums) > 0 {
		least = unsafe.Slice((*float32)(unsafe.Pointer(&o.sums[0])), o.x.Cols)
	}
	for j := range least {
		least[j] = float32(j%3) + 0x1p-140
	}
	return least
}

func (o *operands) anyNaN() bool {
	return slices.ContainsFunc(slices.Concat(append(rowsOf(o.x), o.y, o.row)...),
		func(v float32) bool { return v != v })
}

// rowsOf are the rows of a matrix.
func rowsOf(x Matrix) [][]float32 {
	rows := make([][]float32, x.Rows)
	for i := range rows {
		rows[i] = x.Row(i)
	}
	return rows
}

// dotEach takes the rows from the last to the first: they do not lie in that order.
func dotEach(s *Set, dst []float32, x Matrix, y []float32) {
	rows := rowsOf(x)
	slices.Reverse(rows)
	s.DotEach(dst, rows, y, nil)
	slices.Reverse(dst)
}

// arena is a float32 slice between guard zones.
type arena struct {
	all, inner []float32
	at         int
}

var guardNaN32 = math.Float32frombits(0x7fe1_2345)

func newArena(n, offset int) *arena {
	a := &arena{all: make([]float32, tile32+offset+n+tile32), at: tile32 + offset}
	for i := range a.all {
		a.all[i] = guardNaN32
	}
	a.inner = a.all[a.at:][:n:n]
	return a
}

// newOperands fills a rows x cols problem from next. Rows of x lie gap elements apart, and
// what lies between them is guarded as what lies around.
func newOperands(r *rand.Rand, rows, cols, gap, offset int, next func() float32) *operands {
	o := &operands{f: next(), g: next()}
	take := func(n int) []float32 {
		a := newArena(n, (offset+5*len(o.arenas))%16)
		o.arenas = append(o.arenas, a)
		return a.inner
	}
	o.x = Matrix{Data: take(max(rows*(cols+gap)-gap, 0)), Rows: rows, Cols: cols, Stride: cols + gap}
	o.y, o.a, o.row, o.col = take(cols), take(rows), take(cols), take(rows)
	for i := range rows {
		fill(o.x.Row(i), next)
		o.groups = append(o.groups, int32(r.IntN(3)))
	}
	fill(o.y, next)
	fill(o.a, next)
	fill(o.row, next)
	o.wide = newGuarded(6*cols, offset%8)
	o.sums = o.wide.row
	for i := range o.sums {
		o.sums[i] = float64(next())
	}
	o.tall = newGuarded(rows, (offset+3)%8)
	o.far = o.tall.row
	return o
}

func fill(v []float32, next func() float32) {
	for i := range v {
		v[i] = next()
	}
}

// copy returns the same problem in other memory.
func (o *operands) copy() *operands {
	c := *o
	c.arenas = nil
	for _, a := range o.arenas {
		all := slices.Clone(a.all)
		c.arenas = append(c.arenas, &arena{all: all, inner: all[a.at:][:len(a.inner):len(a.inner)], at: a.at})
	}
	c.x.Data, c.y, c.a = c.arenas[0].inner, c.arenas[1].inner, c.arenas[2].inner
	c.row, c.col = c.arenas[3].inner, c.arenas[4].inner
	c.wide = newGuarded(len(o.sums), o.wide.at%8)
	copy(c.wide.row, o.sums)
	c.sums = c.wide.row
	c.tall = newGuarded(len(o.far), o.tall.at%8)
	copy(c.tall.row, o.far)
	c.far = c.tall.row
	c.groups = slices.Clone(o.groups)
	return &c
}

// equal demands the bits of want in every operand and around it: inputs unchanged, guard
// zones intact, results the same. A NaN that is a result equals any NaN.
func (o *operands) equal(t *testing.T, where string, want *operands) {
	t.Helper()
	for i, a := range o.arenas {
		equalBits32(t, fmt.Sprintf("%s, operand %d", where, i), a.all, want.arenas[i].all)
	}
	equalBits(t, where+", sums", o.sums, want.sums)
	equalBits(t, where+", distances", o.far, want.far)
	if !o.wide.intact() || !o.tall.intact() {
		t.Fatalf("%s: wrote beyond the sums or the distances", where)
	}
	if !slices.Equal(o.groups, want.groups) {
		t.Fatalf("%s: changed the groups", where)
	}
}

// equalBits32 is equalBits for float32; the NaN of the guard zones equals itself only.
func equalBits32(t *testing.T, where string, got, want []float32) {
	t.Helper()
	for i := range want {
		g, w := math.Float32bits(got[i]), math.Float32bits(want[i])
		guard := math.Float32bits(guardNaN32)
		if g != w && (want[i] == want[i] || got[i] == got[i] || g == guard || w == guard) {
			t.Fatalf("%s: element %d of %d is %v (%x), want %v (%x)", where, i, len(want), got[i], g, want[i], w)
		}
	}
}

// hardData32 is hardData for float32. "short" makes exact products and sums that tie.
func hardData32(seed uint64) map[string]func() float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	sign := func(x float64) float32 { return float32(math.Copysign(x, r.Float64()-0.5)) }
	return map[string]func() float32{
		"normal": func() float32 { // nearly; the same on every machine, which NormFloat64 does not promise
			return float32(2 * (r.Float64() + r.Float64() + r.Float64() - 1.5))
		},
		"bits": func() float32 { return float32FromBits(r) },
		"subnormal": func() float32 {
			return sign(float64(math.Float32frombits(r.Uint32() >> (2 + r.UintN(23)))))
		},
		"tie": func() float32 {
			return sign((1 + float64(r.IntN(64))*0x1p-23) * []float64{1, 0x1p-24, 0x1p-12}[r.IntN(3)])
		},
		"short": func() float32 { return sign(math.Ldexp(float64(r.IntN(1<<13)), r.IntN(30)-20)) },
		"overflow": func() float32 {
			return sign(math.Ldexp(1+r.Float64(), []int{127, 126, 64, 63, 0}[r.IntN(5)]))
		},
		"special": func() float32 {
			return []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), 1, -1,
				0x1p-149, -0x1p-149}[r.IntN(8)]
		},
		"tiny": func() float32 { return sign(0x1p-100) }, // products underflow to zeros of either sign
	}
}

// TestVectorsEqualGeneric runs every set over every length up to two tiles, with odd strides and
// every misalignment of a cache line, between guard zones, on hard data: a third of the kinds at each
// length, and so every kind with every tail.
func TestVectorsEqualGeneric(t *testing.T) {
	sets := All()[1:]
	if len(sets) == 0 {
		t.Skip("this build or machine runs the generic set alone")
	}
	r := rand.New(rand.NewPCG(7, 0))
	data := hardData32(1)
	for kind, name := range slices.Sorted(maps.Keys(data)) {
		for cols := kind % 3; cols <= 2*tile32+9; cols += 3 {
			for _, rows := range []int{cols / 100, 5} {
				o := newOperands(r, rows, cols, cols%4, cols+rows, data[name])
				for _, op := range vectorOps32 {
					want := o.copy()
					op.run(Generic(), want)
					for _, s := range sets {
						got := o.copy()
						op.run(s, got)
						got.equal(t, fmt.Sprintf("%s %s on %s, %d x %d", s.Name, op.name, name, rows, cols), want)
					}
				}
			}
		}
	}
}

// TestVectorsAcrossCalls takes more elements than one call of an implementation, as many
// short rows and as few long ones, against the generic loops in one call.
func TestVectorsAcrossCalls(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 0))
	shapes := [][2]int{{2, callElements - 1}, {1, callElements}, {2, callElements + 1}, {1, 2*callElements + 7},
		{3000, 3}, {callElements/800 + 2, 777}}
	if testing.Short() {
		shapes = shapes[3:]
	}
	for _, shape := range shapes {
		o := newOperands(r, shape[0], shape[1], 3, 1, hardData32(3)["normal"])
		for _, op := range vectorOps32 {
			want := o.copy()
			oneCall(op.name, want)
			for _, s := range All() {
				got := o.copy()
				op.run(s, got)
				got.equal(t, fmt.Sprintf("%s %s, %d x %d", s.Name, op.name, shape[0], shape[1]), want)
			}
		}
	}
}

// oneCall runs the generic loop of an operation on the whole of o.
func oneCall(name string, o *operands) {
	g := vectorGeneric()
	switch name {
	case "Dot", "DotEach", "DotRows":
		g.dotRows(o.col, o.x.Data, o.x.Stride, o.y, nil)
	case "SqEuclideanRows":
		g.sqEuclideanRows(o.col, o.x.Data, o.x.Stride, o.y, nil)
	case "L1Rows":
		g.l1Rows(o.col, o.x.Data, o.x.Stride, o.y, nil)
	case "LInfRows":
		g.lInfRows(o.col, o.x.Data, o.x.Stride, o.y, nil)
	case "Axpy":
		g.axpby(o.row, o.y, o.f, 1)
	case "Axpby":
		g.axpby(o.row, o.y, o.f, o.g)
	case "AxpyRows":
		g.axpyRows(o.row, o.x.Data, o.x.Stride, o.a)
	case "AccumulateRows":
		g.accumulateRows(o.sums, o.x.Cols, o.x.Data, o.x.Stride, o.groups)
	case "GroupDistances":
		g.groupDistances(o.far, o.x.Cols, o.x.Data, o.x.Stride, o.sums, o.groups)
	case "SumParts":
		g.sumParts(o.sums, len(o.sums)/2, o.tops(), o.x.Data, o.x.Stride, o.groups)
	case "SquareParts":
		g.squareParts(o.sums, len(o.sums)/3, o.tops(), o.x.Data, o.x.Stride, o.pairs())
	case "ColumnRanges":
		g.columnRanges(o.row, o.y, o.least(), o.x.Data, o.x.Stride, o.x.Rows)
	default:
		panic(name)
	}
}
