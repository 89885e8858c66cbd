package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/gram-compute/gram/asm/_gen/vex"
)

// byteTile is a tile of products of bytes: queries by packed rows. queries*vectors accumulators, a vector of each of
// the packed rows and one broadcast query fill the registers.
type byteTile struct {
	isa
	queries, vectors int
}

// addBytes writes what runs over rows of 8 bits. The products need AVX512_VNNI beside AVX512F.
func addBytes() {
	wide := isas[1]
	for _, t := range []byteTile{{wide, 6, 4}, {wide, 1, 4}} {
		t.add()
	}
	addByteStrips()
	for _, s := range []isa{wide, isas[0]} {
		addByteExtent(s)
		addByteRow(s)
		addSqDistEach(s)
	}
	addByteMeasures(wide)
	addByteRounds(wide)
}

// dotBytes adds to each of the 32-bit lanes of sums the products of 4 bytes: those of x are signed, those of y are not.
// avo does not know the instruction.
func (s isa) dotBytes(x, y, sums VecVirtual) {
	needs := []string{"AVX512F", "AVX512VNNI"}
	switch {
	case s.suffix == vex.Suffix:
		needs = []string{"AVXVNNI"}
	case !s.masks:
		needs = []string{"AVX512VL", "AVX512VNNI"}
	}
	Instruction(&ir.Instruction{
		Opcode:   "VPDPBUSD",
		Operands: []Op{x, y, sums},
		Inputs:   []Op{x, y, sums},
		Outputs:  []Op{sums},
		ISA:      needs,
	})
}

// loadWords32 loads a vector of 32-bit words.
func (s isa) loadWords32(from Mem, to VecVirtual) {
	if s.masks {
		VMOVDQU32(from, to)
		return
	}
	VMOVDQU(from, to)
}

// storeWords32 stores a vector of 32-bit words.
func (s isa) storeWords32(from VecVirtual, to Mem) {
	if s.masks {
		VMOVDQU32(from, to)
	} else {
		VMOVDQU(from, to)
	}
}

// width is the number of packed rows of a panel.
func (t byteTile) width() int { return t.vectors * t.floats() }

func (t byteTile) add() {
	t.declare(t.width())
	r := t.load()
	XORQ(r.found, r.found)
	MOVQ(U32(1), r.bit)
	Label("panel")
	r.begin()
	r.steps()
	r.compare()
	r.next()
	Store(r.found, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// declare begins the function, for panels of w rows.
func (t byteTile) declare(w int) {
	n := t.queries
	name := fmt.Sprintf("ByteTile%dx%d%s", n, w, t.suffix)
	TEXT(name, NOSPLIT, "func(hits *uint64, dots *int32, x *uint32, y *uint32, terms *float32, factors *float32, limits *float32, starts *int32, spreads *float32, groups int, panels int) uint64")
	Doc(
		fmt.Sprintf("%s compares %d queries with panels of %d packed rows:", name, n, w),
		"",
		"\tfor p := range panels {",
		fmt.Sprintf("\t\tfor i := range %d {", n),
		fmt.Sprintf("\t\t\tfor j := range %d {", w),
		"\t\t\t\tc := starts[i]",
		fmt.Sprintf("\t\t\t\tfor g := range groups { c += dot4(x[g*%d+i], y[(p*groups+g)*%d+j]) }", n, w),
		fmt.Sprintf("\t\t\t\tt := terms[p*%d:]", 4*w),
		fmt.Sprintf("\t\t\t\tlift := fma32(t[%d+j], spreads[1], float32(t[%d+j]*spreads[0]))", 3*w, 2*w),
		"\t\t\t\tleast := fma32(t[j], factors[i], lift)",
		fmt.Sprintf("\t\t\t\tleast = fma32(-limits[i], t[%d+j], least)", w),
		fmt.Sprintf("\t\t\t\tset bit j of hits[p*%d+i] if least <= float32(c), else clear it", n),
		fmt.Sprintf("\t\t\t\tdots[(p*%d+i)*%d+j] = c", n, w),
		"\t\t\t}",
		"\t\t}",
		"\t}",
		"",
		"where dot4 is the sum of the products of 4 bytes, those of x signed, those of y not. No least may be a NaN. Bit p of",
		"the result is set if a bit of panel p is; else its hits and dots have no meaning. Nor have dots without a hit.",
		"groups and panels are positive, panels at most 64.",
	)
	Pragma("noescape")
}

// byteRegisters are the registers of one function.
type byteRegisters struct {
	byteTile
	hits, dots, x, y, terms, factors, limits, starts, panels Register
	found, bit                                               Register // of panels
	acc                                                      [][]VecVirtual
}

func (t byteTile) load() *byteRegisters {
	r := &byteRegisters{byteTile: t, x: GP64(), found: GP64(), bit: GP64()}
	for _, p := range []struct {
		name string
		to   *Register
	}{{"hits", &r.hits}, {"dots", &r.dots}, {"y", &r.y}, {"terms", &r.terms}, {"factors", &r.factors},
		{"limits", &r.limits}, {"starts", &r.starts}, {"panels", &r.panels}} {
		*p.to = Load(Param(p.name), GP64())
	}
	for range t.queries {
		row := make([]VecVirtual, t.vectors)
		for v := range row {
			row[v] = t.vector()
		}
		r.acc = append(r.acc, row)
	}
	return r
}

// begin sets the sums to where they start.
func (r *byteRegisters) begin() {
	for i, row := range r.acc {
		VPBROADCASTD(Mem{Base: r.starts, Disp: 4 * i}, row[0])
		for _, acc := range row[1:] {
			VMOVAPS(row[0], acc)
		}
	}
}

// steps runs over the groups of 4 columns, two at a time.
func (r *byteRegisters) steps() {
	left := GP64()
	MOVQ(argument("groups"), left)
	MOVQ(argument("x"), r.x)
	SUBQ(Imm(unrollSteps), left)
	JL(LabelRef("last"))
	Label("loop")
	Commentf("%d groups of 4 columns.", unrollSteps)
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

// step multiplies a group. The vectors of rows stay in registers where there are enough, else the queries.
func (r *byteRegisters) step(u int) {
	x, y := make([]VecVirtual, r.queries), make([]VecVirtual, r.vectors)
	loadX := func(i int) {
		x[i] = r.vector()
		VPBROADCASTD(Mem{Base: r.x, Disp: 4 * (u*r.queries + i)}, x[i])
	}
	loadY := func(v int) {
		y[v] = r.vector()
		r.loadWords32(Mem{Base: r.y, Disp: 4*byteWidth*u + v*r.bytes()}, y[v])
	}
	if (r.queries+1)*r.vectors+1 > r.registers() {
		for i := range x {
			loadX(i)
		}
		for v := range y {
			loadY(v)
			for i, row := range r.acc {
				r.dotBytes(x[i], y[v], row[v])
			}
		}
		return
	}
	for v := range y {
		loadY(v)
	}
	for i, row := range r.acc {
		loadX(i)
		for v, acc := range row {
			r.dotBytes(x[i], y[v], acc)
		}
	}
}

func (r *byteRegisters) advance(steps int) {
	ADDQ(I32(steps*4*byteWidth), r.y)
	ADDQ(Imm(uint64(steps*4*r.queries)), r.x)
}

// compare looks whether a bit is to be set: whether one of the differences has no sign.
func (r *byteRegisters) compare() {
	Label("compare")
	lifts, signs := r.lifts(), r.vector()
	r.ones(signs)
	r.eachLeast(lifts, func(i, v int, least, sum VecVirtual) {
		VSUBPS(least, sum, sum)
		VPANDD(sum, signs, signs)
	})
	VPSRAD(Imm(31), signs, signs)
	r.ones(lifts[0])
	k := K()
	VPCMPEQD(lifts[0], signs, k)
	some := GP32()
	KMOVW(k, some)
	CMPL(some, U32(1<<r.floats()-1))
	JE(LabelRef("none"))
	ORQ(r.bit, r.found)
	lifts = r.lifts()
	r.eachLeast(lifts, func(i, v int, least, sum VecVirtual) {
		k := K()
		VCMPPS(Imm(cmpNotGreater), sum, least, k)
		KMOVW(k, Mem{Base: r.hits, Disp: 8*i + 2*v})
		VMOVDQU32(r.acc[i][v], Mem{Base: r.dots, Disp: (i*r.vectors + v) * r.bytes()})
	})
	Label("none")
}

// lifts are what the least products of all queries have in common.
func (r *byteRegisters) lifts() []VecVirtual {
	var spreads [2]VecVirtual
	at := GP64()
	MOVQ(argument("spreads"), at)
	for i := range spreads {
		spreads[i] = r.vector()
		VBROADCASTSS(Mem{Base: at, Disp: 4 * i}, spreads[i])
	}
	lifts := make([]VecVirtual, r.vectors)
	for v := range lifts {
		lifts[v] = r.vector()
		VMULPS(r.term(2, v), spreads[0], lifts[v])
		VFMADD231PS(r.term(3, v), spreads[1], lifts[v])
	}
	return lifts
}

func (r *byteRegisters) term(term, v int) Mem {
	return Mem{Base: r.terms, Disp: (term*r.vectors + v) * r.bytes()}
}

// eachLeast calls visit with the least products and the sums, as floats.
func (r *byteRegisters) eachLeast(lifts []VecVirtual, visit func(i, v int, least, sum VecVirtual)) {
	for i, row := range r.acc {
		for v := range row {
			least, sum := r.vector(), r.vector()
			VBROADCASTSS(Mem{Base: r.factors, Disp: 4 * i}, least)
			VFMADD132PS(r.term(0, v), lifts[v], least)
			VBROADCASTSS(Mem{Base: r.limits, Disp: 4 * i}, sum)
			VFNMADD231PS(r.term(1, v), sum, least)
			VCVTDQ2PS(row[v], sum)
			visit(i, v, least, sum)
		}
	}
}

// next goes on to the next panel.
func (r *byteRegisters) next() {
	ADDQ(Imm(uint64(8*r.queries)), r.hits)
	ADDQ(I32(4*r.queries*r.width()), r.dots)
	ADDQ(I32(4*4*r.width()), r.terms)
	SHLQ(Imm(1), r.bit)
	DECQ(r.panels)
	JNZ(LabelRef("panel"))
}
