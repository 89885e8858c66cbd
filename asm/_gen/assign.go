package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// assignTile is a tile of products of bytes that assigns rows to packed centers. Its rows are whole, not packed, and
// its sums begin at a number of each row's kind and each center, so that one comparison of integers decides.
type assignTile struct {
	isa
	rows, vectors int
	most          bool // keeps the sums, and finds the greatest; else compares them with limits
}

func addAssign() {
	for _, most := range []bool{false, true} {
		addAssignTile(assignTile{isas[1], 6, 4, most})
		addAssignTile(assignTile{isas[1], 24, 1, most})
		for _, s := range narrowBytes() {
			addAssignTile(assignTile{s, 6, 2, most})
		}
	}
	addByteReached(isas[1])
	addByteLimits(isas[1])
	addPairDistances4(isas[0])
}

// assignRegisters are the registers of one function.
type assignRegisters struct {
	assignTile
	out, starts, y, panels, stride Register
	x                              []Register  // every eighth row
	ahead                          Register    // of the narrow tile: as far on as its rows so far are long
	times                          [8]Register // the stride times 1, 3, 5 and 7
	acc                            [][]VecVirtual
}

func (t assignTile) width() int { return t.vectors * t.floats() }

func addAssignTile(t assignTile) {
	name, out := fmt.Sprintf("ByteNear%dx%d%s", t.rows, t.width(), t.suffix), "hits *uint8, hitStride int, limits *int32"
	if t.most {
		name, out = fmt.Sprintf("ByteMost%dx%d%s", t.rows, t.width(), t.suffix), "most *int32, sums *int32, sumStride int"
	}
	TEXT(name, NOSPLIT, "func("+out+", starts *int32, kinds *int32, x *uint32, xStride int, y *uint32, groups int, panels int)")
	t.doc(name)
	Pragma("noescape")
	r := t.load()
	Label("panel")
	r.begin()
	r.steps()
	Label("compare")
	if t.most {
		r.greatest()
		ADDQ(I32(4*t.width()), argument("sums"))
	} else {
		r.compare()
		ADDQ(Imm(uint64(t.width()/8)), r.out)
	}
	ADDQ(I32(4*t.width()), r.starts)
	DECQ(r.panels)
	JNZ(LabelRef("panel"))
	VZEROUPPER()
	RET()
}

func (t assignTile) doc(name string) {
	n, w := t.rows, t.width()
	lines := []string{
		fmt.Sprintf("%s compares %d rows of bytes with panels of %d packed centers:", name, n, w),
		"",
		"\tfor p := range panels {",
		fmt.Sprintf("\t\tfor i := range %d {", n),
		fmt.Sprintf("\t\t\tfor j := range %d {", w),
		fmt.Sprintf("\t\t\t\tc := starts[kinds[i]+p*%d+j]", w),
		fmt.Sprintf("\t\t\t\tfor g := range groups { c += dot4(x[i*xStride+g], y[(p*groups+g)*%d+j]) }", w),
	}
	if t.most {
		lines = append(lines, fmt.Sprintf("\t\t\t\tsums[i*sumStride+p*%d+j] = c", w),
			"\t\t\t\tmost[16*i+j%16] = max(most[16*i+j%16], c)")
	} else {
		lines = append(lines, fmt.Sprintf("\t\t\t\tset bit j of the %d bits at hits[i*hitStride+p*%d] if c >= limits[i], else clear it", w, w/8))
	}
	Doc(append(lines, "\t\t\t}", "\t\t}", "\t}", "",
		"where dot4 is the sum of the products of 4 bytes, those of x signed, those of y not. groups and panels are positive.")...)
}

func (t assignTile) load() *assignRegisters {
	r := &assignRegisters{assignTile: t, out: GP64(), starts: loadArgument("starts"), y: loadArgument("y"),
		panels: loadArgument("panels"), stride: loadArgument("xStride")}
	if t.most {
		MOVQ(argument("most"), r.out)
	} else {
		MOVQ(argument("hits"), r.out)
	}
	SHLQ(Imm(2), r.stride)
	r.times[1] = r.stride
	for _, n := range []int{3, 5, 7} {
		if n < t.rows {
			r.times[n] = GP64()
			LEAQ(Mem{Base: r.times[n-2], Index: r.stride, Scale: 2}, r.times[n])
		}
	}
	for range (t.rows + 7) / 8 {
		r.x = append(r.x, GP64())
	}
	for range t.rows {
		row := make([]VecVirtual, t.vectors)
		for v := range row {
			row[v] = t.vector()
		}
		r.acc = append(r.acc, row)
	}
	return r
}

// begin sets the sums to where they start, and goes to the first column.
func (r *assignRegisters) begin() {
	kinds := loadArgument("kinds")
	for i, row := range r.acc {
		at := GP64()
		MOVLQSX(Mem{Base: kinds, Disp: 4 * i}, at)
		for v, acc := range row {
			r.loadWords32(Mem{Base: r.starts, Index: at, Scale: 4, Disp: v * r.bytes()}, acc)
		}
	}
	MOVQ(argument("x"), r.x[0])
	if r.vectors == 1 {
		r.ahead = GP64()
		MOVQ(r.x[0], r.ahead)
	}
	for i := 1; i < len(r.x); i++ {
		LEAQ(Mem{Base: r.x[i-1], Index: r.stride, Scale: 8}, r.x[i])
	}
}

// row is a word of row i of the tile.
func (r *assignRegisters) row(i, word int) Mem {
	m := Mem{Base: r.x[i/8], Disp: 4 * word}
	switch n := i % 8; n {
	case 0:
	case 2, 4:
		m.Index, m.Scale = r.stride, uint8(n)
	case 6:
		m.Index, m.Scale = r.times[3], 2
	default:
		m.Index, m.Scale = r.times[n], 1
	}
	return m
}

func (r *assignRegisters) steps() {
	left := loadArgument("groups")
	SUBQ(Imm(unrollSteps), left)
	JL(LabelRef("last"))
	Label("loop")
	Commentf("%d groups of 4 columns.", unrollSteps)
	if r.vectors == 1 {
		lines := unrollSteps * 4 * r.rows / 64
		for line := range lines {
			PREFETCHT1(Mem{Base: r.ahead, Disp: distancesAhead + 64*line})
		}
		ADDQ(I32(64*lines), r.ahead)
	}
	for u := range unrollSteps {
		r.step(u)
	}
	r.advance(unrollSteps)
	SUBQ(Imm(unrollSteps), left)
	JGE(LabelRef("loop"))
	Label("last")
	ADDQ(Imm(unrollSteps), left)
	JZ(LabelRef("compare"))
	r.step(0)
	r.advance(1)
}

func (r *assignRegisters) step(u int) {
	y := make([]VecVirtual, r.vectors)
	for v := range y {
		y[v] = r.vector()
		r.loadWords32(Mem{Base: r.y, Disp: (u*r.vectors + v) * r.bytes()}, y[v])
	}
	for i, row := range r.acc {
		if r.vectors == 1 {
			dotOfBytes(r.row(i, u), y[0], row[0])
			continue
		}
		x := r.vector()
		VPBROADCASTD(r.row(i, u), x)
		for v, acc := range row {
			r.dotBytes(x, y[v], acc)
		}
	}
}

func (r *assignRegisters) advance(steps int) {
	ADDQ(I32(steps*r.vectors*r.bytes()), r.y)
	for _, x := range r.x {
		ADDQ(Imm(uint64(4*steps)), x)
	}
}

// compare writes a bit for each sum.
func (r *assignRegisters) compare() {
	limits, stride, to := loadArgument("limits"), loadArgument("hitStride"), GP64()
	MOVQ(r.out, to)
	for i, row := range r.acc {
		for v, acc := range row {
			if r.masks {
				k := K()
				VPCMPD_BCST(Imm(cmpAtLeast), Mem{Base: limits, Disp: 4 * i}, acc, k)
				KMOVW(k, Mem{Base: to, Disp: 2 * v})
				continue
			}
			limit, bits := r.vector(), GP32()
			VPBROADCASTD(Mem{Base: limits, Disp: 4 * i}, limit)
			VPCMPGTD(acc, limit, limit)
			VMOVMSKPS(limit, bits)
			NOTL(bits)
			MOVB(bits.As8(), Mem{Base: to, Disp: v})
		}
		if i < len(r.acc)-1 {
			ADDQ(stride, to)
		}
	}
}

// cmpAtLeast is the predicate of a comparison of integers that is true unless the first is less.
const cmpAtLeast = 5

// mostLanes is how many greatest sums of a row are kept: of every mostLanes-th center.
const mostLanes = 16

// greatest keeps the sums, and the greatest of each lane.
func (r *assignRegisters) greatest() {
	to, stride := loadArgument("sums"), loadArgument("sumStride")
	SHLQ(Imm(2), stride)
	kept := mostLanes / r.floats() // vectors
	for i, row := range r.acc {
		for v, acc := range row {
			r.storeWords32(acc, r.at(to, v))
		}
		if i < len(r.acc)-1 {
			ADDQ(stride, to)
		}
		for v := len(row) - 1; v >= kept; v-- {
			VPMAXSD(row[v], row[v-kept], row[v-kept])
		}
		for v, most := range row[:kept] {
			VPMAXSD(r.at(r.out, i*kept+v), most, most)
			r.storeWords32(most, r.at(r.out, i*kept+v))
		}
	}
}

// addPairDistances4 is GroupDistances for four rows and centers, each wherever it is.
func addPairDistances4(s isa) {
	name := "PairDistances4" + s.suffix
	TEXT(name, NOSPLIT, "func(dst *float64, rows **float32, centers **float64, dim int)")
	Doc(
		name+" sets dst[i] to the squared distance of row i and center i, for four of them:",
		"",
		"\tvar lane [4]float64",
		"\tfor j := range dim {",
		"\t\tt := float64(rows[i][j]) - centers[i][j]",
		"\t\tlane[j%4] += float64(t * t)",
		"\t}",
		"\tdst[i] = (lane[0] + lane[1]) + (lane[2] + lane[3])",
		"",
		"dim is positive.",
	)
	Pragma("noescape")
	r, at := fourRows{isa: s, dst: loadArgument("dst"), left: loadArgument("dim")}, GP64()
	XORQ(at, at)
	rows, centers := loadArgument("rows"), loadArgument("centers")
	var center [4]Mem
	for i := range r.row {
		row, to := GP64(), GP64()
		MOVQ(Mem{Base: rows, Disp: 8 * i}, row)
		MOVQ(Mem{Base: centers, Disp: 8 * i}, to)
		r.row[i], center[i] = Mem{Base: row, Index: at, Scale: 4}, Mem{Base: to, Index: at, Scale: 8}
		r.acc[i] = r.vector()
		r.zero(r.acc[i])
	}
	SUBQ(Imm(uint64(s.lanes)), r.left)
	JL(LabelRef("rest"))
	Label("vector")
	r.addOf(center, nil, nil)
	ADDQ(Imm(uint64(s.lanes)), at)
	SUBQ(Imm(uint64(s.lanes)), r.left)
	JGE(LabelRef("vector"))
	Label("rest")
	ADDQ(Imm(uint64(s.lanes)), r.left)
	JZ(LabelRef("sum"))
	k := s.tail64(r.left)
	r.addOf(center, k, halfMask(k))
	Label("sum")
	r.store()
	finish()
}
