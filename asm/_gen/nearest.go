package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func addNearest() {
	for _, s := range isas {
		addLowestTwo(s)
		addRunnersUp(s)
	}
}

// addLowestTwo keeps the smallest scores lane by lane, and the second smallest.
func addLowestTwo(s isa) {
	name := "LowestTwo" + s.suffix
	TEXT(name, NOSPLIT, "func(scores *float32, seconds *float32, columns *int32, dots *float32, colNorms *float32, rows int, vectors int, first int)")
	s.docLowestTwo(name)
	Pragma("noescape")
	scores, seconds := Load(Param("scores"), GP64()), Load(Param("seconds"), GP64())
	columns, dots, rows := Load(Param("columns"), GP64()), Load(Param("dots"), GP64()), Load(Param("rows"), GP64())
	start, column, step, minusTwo := s.vector(), s.vector(), s.vector(), s.vector()
	VPBROADCASTD(argument("first"), start)
	VPADDD(laneNumbers(), start, start)
	VPBROADCASTD(intData(s.floats()), step)
	VBROADCASTSS(float32Data(-2), minusTwo)
	Label("row")
	l, second := lowest{isa: s, score: s.vector(), column: s.vector()}, s.vector()
	s.ones(l.column)
	VBROADCASTSS(float32Data(float32(math.Inf(1))), l.score)
	VMOVAPS(l.score, second)
	CMPQ(argument("first"), Imm(0))
	JE(LabelRef("fresh"))
	VMOVUPS(Mem{Base: scores}, l.score)
	VMOVUPS(Mem{Base: seconds}, second)
	VMOVUPS(Mem{Base: columns}, l.column)
	Label("fresh")
	norms, left := loadArgument("colNorms"), loadArgument("vectors")
	VMOVAPS(start, column)
	Label("vector")
	score, larger := s.vector(), s.vector()
	VMOVUPS(Mem{Base: dots}, score)
	VFMADD213PS(Mem{Base: norms}, minusTwo, score)
	VMAXPS(l.score, score, larger)
	VMINPS(second, larger, second)
	l.take(score, column)
	VPADDD(step, column, column)
	for _, p := range []Register{dots, norms} {
		ADDQ(Imm(uint64(s.bytes())), p)
	}
	DECQ(left)
	JNZ(LabelRef("vector"))
	VMOVUPS(l.score, Mem{Base: scores})
	VMOVUPS(second, Mem{Base: seconds})
	VMOVUPS(l.column, Mem{Base: columns})
	for _, p := range []Register{scores, seconds, columns} {
		ADDQ(Imm(uint64(s.bytes())), p)
	}
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// loadArgument loads an argument into a register.
func loadArgument(name string) Register {
	r := GP64()
	MOVQ(argument(name), r)
	return r
}

func (s isa) docLowestTwo(name string) {
	Doc(
		fmt.Sprintf("%s keeps for each row the two smallest scores so far in each of %d lanes, and the column of the smaller:", name, s.floats()),
		"",
		fmt.Sprintf("\tfor j := range %d*vectors {", s.floats()),
		fmt.Sprintf("\t\tlane := i*%d + j%%%d", s.floats(), s.floats()),
		fmt.Sprintf("\t\tscore := fma32(-2, dots[i*%d*vectors+j], colNorms[j])", s.floats()),
		"\t\tseconds[lane] = min(seconds[lane], max(scores[lane], score))",
		"\t\tif score < scores[lane] { scores[lane], columns[lane] = score, int32(first+j) }",
		"\t}",
		"",
		"If first is 0, there are none so far: all are +Inf, in column -1. No score is a NaN. rows and vectors are positive.",
	)
}

// addRunnersUp finds the second smallest of all lanes, by folding pairs of a smallest and a second in halves.
func addRunnersUp(s isa) {
	name := "RunnersUp" + s.suffix
	TEXT(name, NOSPLIT, "func(runners *float32, scores *float32, seconds *float32, rows int)")
	Doc(
		fmt.Sprintf("%s sets runners[i] to the second smallest of scores[%d*i:][:%[2]d] and", name, s.floats()),
		fmt.Sprintf("seconds[%d*i:][:%[1]d] together, none of them a NaN; equal values count each. seconds are not below",
			s.floats()),
		"the scores of their lanes. rows is positive.",
	)
	Pragma("noescape")
	runners, scores := Load(Param("runners"), GP64()), Load(Param("scores"), GP64())
	seconds, rows := Load(Param("seconds"), GP64()), Load(Param("rows"), GP64())
	Label("row")
	low, high := s.vector(), s.vector()
	VMOVUPS(Mem{Base: scores}, low)
	VMOVUPS(Mem{Base: seconds}, high)
	for h := s.floats() / 2; h > 0; h /= 2 {
		otherLow, otherHigh := s.swapped(low, h), s.swapped(high, h)
		larger := s.vector()
		VMAXPS(low, otherLow, larger)
		VMINPS(low, otherLow, low)
		VMINPS(high, otherHigh, high)
		VMINPS(high, larger, high)
	}
	VMOVSS(high.AsX(), Mem{Base: runners})
	ADDQ(Imm(4), runners)
	for _, p := range []Register{scores, seconds} {
		ADDQ(Imm(uint64(s.bytes())), p)
	}
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// swapped returns v with every lane exchanged with that h lanes away.
func (s isa) swapped(v VecVirtual, h int) VecVirtual {
	t := s.vector()
	switch {
	case h == 8:
		VSHUFF32X4(Imm(0x4e), v, v, t)
	case h == 4 && s.masks:
		VSHUFF32X4(Imm(0xb1), v, v, t)
	case h == 4:
		VPERM2F128(Imm(1), v, v, t)
	case h == 2:
		VPERMILPS(Imm(0x4e), v, t)
	default:
		VPERMILPS(Imm(0xb1), v, t)
	}
	return t
}
