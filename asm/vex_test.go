package asm

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// vexProducts is the code of VPDPBUSD ymm1, ymm2, ymm3, "VEX.256.66.0F38.W0 50 /r" in the Intel SDM, volume 2, by the
// fields of its section 2.3.5: the 3-byte prefix, for the 2-byte one means the map 0F.
var vexProducts = []struct {
	at, from, bits int // of byte at, from the bit of that number on
	value          int
	meaning        string
}{
	{0, 0, 8, 0xc4, "3-byte VEX"},
	{1, 0, 5, 0b00010, "mmmmm: the map 0F38"},
	{1, 6, 1, 1, "X, inverted: no index register"},
	{2, 0, 2, 0b01, "pp: 66"},
	{2, 2, 1, 1, "L: 256 bits"},
	{2, 7, 1, 0, "W0"},
	{3, 0, 8, 0x50, "the opcode"},
	{4, 6, 2, 0b11, "mod: a register"},
}

// field is bits of a byte.
func field(b uint8, from, bits int) int { return int(b) >> from & (1<<bits - 1) }

// vexRegisters decodes a product: x is in ModRM.rm, of which B has the fourth bit, inverted, y in vvvv, inverted, and
// the sums are in ModRM.reg with R.
func vexRegisters(code [5]uint8) (x, y, sums int, err error) {
	for _, f := range vexProducts {
		if got := field(code[f.at], f.from, f.bits); got != f.value {
			return 0, 0, 0, fmt.Errorf("byte %d of % x has %b for %s", f.at, code, got, f.meaning)
		}
	}
	x = field(code[4], 0, 3) + 8*(1-field(code[1], 5, 1))
	y = 15 - field(code[2], 3, 4)
	sums = field(code[4], 3, 3) + 8*(1-field(code[1], 7, 1))
	return x, y, sums, nil
}

var vexLine = regexp.MustCompile(
	`^\s*BYTE +\$0x(..); BYTE \$0x(..); BYTE \$0x(..); BYTE \$0x(..); BYTE \$0x(..) // (VPDPBUSD Y\d+, Y\d+, Y\d+)$`)

// decodeVEX returns the product of bytes that a line of assembly has as data, which must be what its comment says.
func decodeVEX(line string) (instruction string, err error) {
	parts := vexLine.FindStringSubmatch(line)
	if parts == nil {
		return "", fmt.Errorf("data that are no product of bytes: %q", line)
	}
	var code [5]uint8
	for i := range code {
		b, err := strconv.ParseUint(parts[1+i], 16, 8)
		if err != nil {
			return "", err
		}
		code[i] = uint8(b)
	}
	x, y, sums, err := vexRegisters(code)
	if err != nil {
		return "", err
	}
	if instruction = fmt.Sprintf("VPDPBUSD Y%d, Y%d, Y%d", x, y, sums); instruction != parts[6] {
		return "", fmt.Errorf("the data are %s: %q", instruction, line)
	}
	return instruction, nil
}

// TestDecodeVEX has the codes of four instructions as GNU as 2.40 writes them, and lines with an error each.
func TestDecodeVEX(t *testing.T) {
	line := func(code, text string) string {
		return "\tBYTE $0x" + strings.ReplaceAll(code, " ", "; BYTE $0x") + " // " + text
	}
	for code, want := range map[string]string{
		"c4 e2 75 50 c2": "VPDPBUSD Y2, Y1, Y0", // {vex} vpdpbusd %ymm2,%ymm1,%ymm0
		"c4 42 3d 50 cf": "VPDPBUSD Y15, Y8, Y9",
		"c4 c2 45 50 f4": "VPDPBUSD Y12, Y7, Y6",
		"c4 62 05 50 d3": "VPDPBUSD Y3, Y15, Y10",
	} {
		if got, err := decodeVEX(line(code, want)); got != want || err != nil {
			t.Errorf("%s is %s, %v; want %s", code, got, err, want)
		}
	}
	for _, code := range []string{"c5 e2 75 50 c2", "c4 e1 75 50 c2", "c4 e2 71 50 c2", "c4 e2 74 50 c2", "c4 e2 f5 50 c2",
		"c4 e2 75 51 c2", "c4 e2 75 50 02", "c4 a2 75 50 c2", "c4 e2 75 50 c3", "c4 e2 6d 50 c2", "c4 62 75 50 c2"} {
		if got, err := decodeVEX(line(code, "VPDPBUSD Y2, Y1, Y0")); err == nil {
			t.Errorf("%s passes as %s", code, got)
		}
	}
}

// narrowPairs returns the functions of 256 bits that are written for AVX-VNNI and for AVX512VL, by name without these.
func narrowPairs(t *testing.T) map[string][2]string {
	t.Helper()
	pairs := map[string][2]string{}
	for _, file := range []string{"bytes_amd64.s", "assign_amd64.s"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, function := range strings.Split(string(text), "\nTEXT ·")[1:] {
			name, body, _ := strings.Cut(function, "(SB)")
			body, _, _ = strings.Cut(body, "\n// func") // the comment of the next one
			for i, suffix := range []string{"AVXVNNI", "AVX512VL"} {
				if short, ok := strings.CutSuffix(name, suffix); ok {
					p := pairs[short]
					p[i] = body
					pairs[short] = p
				}
			}
		}
	}
	if len(pairs) != 4 {
		t.Fatalf("%d functions of 256 bits, want 4", len(pairs))
	}
	return pairs
}

var spaces = regexp.MustCompile(` +`)

// TestNarrowProgramsAreTheSame: instruction by instruction, what AVX-VNNI runs is what tests run on CPUs with AVX512VL,
// but for the encoding of products of bytes.
func TestNarrowProgramsAreTheSame(t *testing.T) {
	for name, bodies := range narrowPairs(t) {
		vex, evex := strings.Split(bodies[0], "\n"), strings.Split(bodies[1], "\n")
		if len(vex) != len(evex) {
			t.Errorf("%s: %d and %d lines", name, len(vex), len(evex))
			continue
		}
		products := 0
		for i, line := range vex {
			if strings.Contains(line, "BYTE ") {
				products++
				var err error
				if line, err = decodeVEX(line); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			line = strings.TrimSpace(spaces.ReplaceAllString(line, " "))
			if other := strings.TrimSpace(spaces.ReplaceAllString(evex[i], " ")); line != other {
				t.Errorf("%s, line %d: %q and %q", name, i, line, other)
			}
		}
		if products < 24 {
			t.Errorf("%s: %d products of bytes", name, products)
		}
	}
}
