package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// tile is the block of results that one step over the dimension extends: rows of
// the left operand by vectors of packed columns. rows*vectors accumulators, vectors of the
// packed operand and one broadcast element fill the registers.
type tile struct {
	isa
	rows, vectors int
	fetch         bool // the packed operand ahead of its use
}

// fetchAhead is how far ahead of its use the packed operand is fetched, in bytes. The widest tile of
// AVX-512 leaves that to the hardware, which keeps up with it: the loads cost more than they gain.
const fetchAhead = 1024

// unrollSteps is the number of steps over the dimension in one turn of the loop.
const unrollSteps = 2

func addMultiplications() {
	avx2, avx512 := isas[0], isas[1]
	for _, t := range []tile{
		{avx2, 6, 2, true}, {avx2, 12, 1, true},
		{avx512, 8, 3, false}, {avx512, 12, 2, true}, {avx512, 12, 1, true},
	} {
		t.add()
	}
}

func (t tile) add() {
	width := t.vectors * t.floats()
	name := fmt.Sprintf("Multiply%dx%d%s", t.rows, width, t.suffix)
	TEXT(name, NOSPLIT, "func(dst *float32, dstStride int, x *float32, xStride int, y *float32, dim int, tiles int, more bool, soon *float32, soonStride int, stream bool, next *float32, nextStep int)")
	Doc(
		fmt.Sprintf("%s multiplies %d*tiles rows of x by a panel of %d packed columns:", name, t.rows, width),
		"",
		fmt.Sprintf("\tfor i := range %d*tiles {", t.rows),
		fmt.Sprintf("\t\tfor j := range %d {", width),
		"\t\t\tc := float32(0)",
		"\t\t\tif more { c = dst[i*dstStride+j] }",
		fmt.Sprintf("\t\t\tfor k := range dim { c = fma32(x[i*xStride+k], y[k*%d+j], c) }", width),
		"\t\t\tdst[i*dstStride+j] = c",
		"\t\t}",
		"\t}",
		"",
		"dim and tiles are positive. It prefetches rows of the same size from soon, for the",
		"caller to write, unless that is nil. With stream, results go past the caches: dst and its stride",
		"are then multiples of a register, and a StoreFence must follow before another thread reads.",
		"With every second step it prefetches the line at next, which then moves on by nextStep bytes,",
		"unless that is 0: what the caller reads next comes while we compute.",
	)
	Pragma("noescape")
	r := t.load()
	Label("tile")
	r.start()
	r.steps()
	r.finish()
	VZEROUPPER()
	RET()
}

// tileRegisters are the registers of one function.
type tileRegisters struct {
	tile
	x       rowPointers
	y       Register
	dst     Register
	dstStep Register
	tiles   Register
	soon    Register
	next    Register
	ahead   Register // the step of next
	acc     [][]VecVirtual
}

func (t tile) load() *tileRegisters {
	r := &tileRegisters{tile: t}
	r.dst = Load(Param("dst"), GP64())
	r.dstStep = Load(Param("dstStride"), GP64())
	SHLQ(Imm(2), r.dstStep)
	r.x = loadRowPointers(t.rows)
	r.y = GP64()
	r.tiles = Load(Param("tiles"), GP64())
	r.soon = Load(Param("soon"), GP64())
	r.next, r.ahead = Load(Param("next"), GP64()), Load(Param("nextStep"), GP64())
	for range t.rows {
		row := make([]VecVirtual, t.vectors)
		for v := range row {
			row[v] = t.vector()
		}
		r.acc = append(r.acc, row)
	}
	return r
}

// start sets the accumulators, to 0 or to what dst holds.
func (r *tileRegisters) start() {
	Comment("The chains start from what dst holds, or from zero.")
	CMPB(argument("more"), Imm(0))
	JE(LabelRef("fresh"))
	at := GP64()
	MOVQ(r.dst, at)
	for i, row := range r.acc {
		for v, acc := range row {
			VMOVUPS(Mem{Base: at, Disp: v * r.bytes()}, acc)
		}
		if i+1 < r.rows {
			ADDQ(r.dstStep, at)
		}
	}
	JMP(LabelRef("begin"))
	Label("fresh")
	for _, row := range r.acc {
		for _, acc := range row {
			r.zero(acc)
		}
	}
	Label("begin")
	TESTQ(r.soon, r.soon)
	JZ(LabelRef("fetched"))
	Comment("What is written soon comes from memory while we compute.")
	step := GP64()
	MOVQ(argument("soonStride"), step)
	for range r.rows {
		for line := 0; line < r.vectors*r.bytes(); line += 64 {
			PREFETCHT0(Mem{Base: r.soon, Disp: line})
		}
		LEAQ(Mem{Base: r.soon, Index: step, Scale: 4}, r.soon)
	}
	Label("fetched")
}

// steps runs over the dimension.
func (r *tileRegisters) steps() {
	left := GP64()
	MOVQ(argument("dim"), left)
	MOVQ(argument("y"), r.y)
	r.x.begin()
	SUBQ(Imm(unrollSteps), left)
	JL(LabelRef("last"))
	TESTQ(r.ahead, r.ahead)
	JZ(LabelRef("alone"))
	r.loop("loop", left, true)
	JMP(LabelRef("last"))
	r.loop("alone", left, false)
	Label("last")
	ADDQ(Imm(unrollSteps), left)
	JZ(LabelRef("store"))
	Label("single")
	Comment("One step.")
	r.step(0)
	r.advance(1)
	DECQ(left)
	JNZ(LabelRef("single"))
}

// loop takes unrollSteps steps at a time, with a line of what is read next or without: the load
// is felt.
func (r *tileRegisters) loop(label string, left Register, next bool) {
	Label(label)
	Commentf("%d steps over the dimension.", unrollSteps)
	if next {
		PREFETCHT0(Mem{Base: r.next})
		ADDQ(r.ahead, r.next)
	}
	for u := range unrollSteps {
		r.step(u)
	}
	r.advance(unrollSteps)
	SUBQ(Imm(unrollSteps), left)
	JGE(LabelRef(label))
}

// step extends every chain by its element u steps ahead.
func (r *tileRegisters) step(u int) {
	y := make([]VecVirtual, r.vectors)
	for v := range y {
		y[v] = r.vector()
		at := (u*r.vectors + v) * r.bytes()
		VMOVUPS(Mem{Base: r.y, Disp: at}, y[v])
		if r.fetch && at%64 == 0 {
			PREFETCHT0(Mem{Base: r.y, Disp: at + fetchAhead})
		}
	}
	for i, row := range r.acc {
		x := r.vector()
		VBROADCASTSS(r.x.element(i, 4*u), x)
		for v, acc := range row {
			VFMADD231PS(x, y[v], acc)
		}
	}
}

func (r *tileRegisters) advance(steps int) {
	ADDQ(I32(steps*r.vectors*r.bytes()), r.y)
	r.x.advance(4 * steps)
}

// finish stores the tile and goes on to the next rows.
func (r *tileRegisters) finish() {
	Label("store")
	CMPB(argument("stream"), Imm(0))
	JNE(LabelRef("stream"))
	r.storeRows(func(from, to Op) { VMOVUPS(from, to) })
	JMP(LabelRef("next"))
	Label("stream")
	r.storeRows(func(from, to Op) { VMOVNTPS(from, to) })
	Label("next")
	r.x.nextRows()
	DECQ(r.tiles)
	JNZ(LabelRef("tile"))
}

func (r *tileRegisters) storeRows(store func(from, to Op)) {
	for _, row := range r.acc {
		for v, acc := range row {
			store(acc, Mem{Base: r.dst, Disp: v * r.bytes()})
		}
		ADDQ(r.dstStep, r.dst)
	}
}
