// Package vex encodes instructions that Go's assembler knows by EVEX alone, which is AVX-512.
package vex

import (
	"fmt"
	"strings"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Suffix ends the names of functions for CPUs with AVX-VNNI, which need not have AVX-512.
const Suffix = "AVXVNNI"

// Encode writes the products of bytes of such functions as data.
func Encode(f *ir.Function) error {
	if !strings.HasSuffix(f.Name, Suffix) {
		return nil
	}
	for _, node := range f.Nodes {
		i, ok := node.(*ir.Instruction)
		if !ok || i.Opcode != "VPDPBUSD" {
			continue
		}
		bytes, err := dotBytes(i.Operands)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		i.Opcode, i.Operands = "BYTE", []operand.Op{bytes}
	}
	return nil
}

// data is an instruction as data, after the name BYTE, and what it does.
type data struct {
	bytes [5]uint8
	text  string
}

func (d data) Asm() string {
	return "$0x" + strings.ReplaceAll(fmt.Sprintf("% 02x", d.bytes[:]), " ", "; BYTE $0x") + " // " + d.text
}

// dotBytes encodes VPDPBUSD x, y, sums: VEX.256.66.0F38.W0 50 /r (Intel SDM volume 2, 2.3 and VPDPBUSD). sums is
// in ModRM.reg, y in VEX.vvvv, x in ModRM.rm.
func dotBytes(operands []operand.Op) (data, error) {
	var number [3]uint8
	for i, op := range operands {
		r, ok := op.(reg.VecPhysical)
		if !ok || r.Size() != 32 || r.PhysicalIndex() > 15 {
			return data{}, fmt.Errorf("%s is not one of the 16 ymm registers of VEX", op.Asm())
		}
		number[i] = uint8(r.PhysicalIndex())
	}
	x, y, sums := number[0], number[1], number[2]
	const map0F38, length256, prefix66 = 2, 1 << 2, 1
	inverted := 7 &^ (sums>>3<<2 | x>>3) // R, X and B
	return data{
		bytes: [5]uint8{0xc4, inverted<<5 | map0F38, (15&^y)<<3 | length256 | prefix66, 0x50, 0xc0 | sums&7<<3 | x&7},
		text:  fmt.Sprintf("VPDPBUSD Y%d, Y%d, Y%d", x, y, sums),
	}, nil
}
