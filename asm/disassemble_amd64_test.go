//go:build !purego

package asm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// narrowFunctions keeps the functions of 256 bits in the binary of this test.
var narrowFunctions = []any{ByteTile6x64AVXVNNI, ByteTile1x64AVXVNNI, ByteNear6x16AVXVNNI, ByteMost6x16AVXVNNI,
	ByteTile6x64AVX512VL, ByteTile1x64AVX512VL, ByteNear6x16AVX512VL, ByteMost6x16AVX512VL}

// TestDisassembled asks a disassembler that knows nothing of this project, objdump of binutils, what the code of the
// functions for AVX-VNNI is: the products with a prefix VEX, and else, instruction by instruction, what tests run on
// CPUs with AVX512VL. Without objdump it is skipped; REQUIRE_OBJDUMP=1 makes that a failure.
func TestDisassembled(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a binary")
	}
	if _, err := exec.LookPath("objdump"); err != nil {
		if os.Getenv("REQUIRE_OBJDUMP") != "" {
			t.Fatal(err)
		}
		t.Skipf("NOT RUN: %v", err)
	}
	binary := filepath.Join(t.TempDir(), "asm.test") // that which runs has no symbols
	if out, err := exec.Command("go", "test", "-c", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	pairs := narrowPairs(t)
	if len(narrowFunctions) != 2*len(pairs) {
		t.Errorf("%d functions in the binary, %d in the assembly", len(narrowFunctions), 2*len(pairs))
	}
	for name := range pairs {
		vex, evex := disassemble(t, binary, name+"AVXVNNI"), disassemble(t, binary, name+"AVX512VL")
		if len(vex) < 100 || len(vex) != len(evex) {
			t.Errorf("%s: %d and %d instructions", name, len(vex), len(evex))
			continue
		}
		products := 0
		for i, line := range vex {
			product, ok := strings.CutPrefix(line, "{vex} ")
			if ok {
				products++
			}
			if ok != strings.HasPrefix(evex[i], "vpdpbusd ") || product != evex[i] {
				t.Errorf("%s, instruction %d: %q and %q", name, i, line, evex[i])
			}
		}
		if products < 24 {
			t.Errorf("%s: %d products of bytes", name, products)
		}
	}
}

// disassembled is a line of objdump: an address and an instruction, after a name where it is a jump's target.
var (
	disassembled = regexp.MustCompile(`^ *([0-9a-f]+):\t(.*)$`)
	jump         = regexp.MustCompile(`^(j[a-z]+) +([0-9a-f]+) <.*>$`)
)

// disassemble returns the instructions of a function, with the numbers of instructions in place of the addresses that
// it jumps to.
func disassemble(t *testing.T, binary, name string) []string {
	t.Helper()
	symbol := "github.com/gram-compute/gram/asm." + name + ".abi0"
	out, err := exec.Command("objdump", "--disassemble="+symbol, "--no-show-raw-insn", binary).Output()
	if err != nil {
		t.Fatalf("objdump of %s: %v", symbol, err)
	}
	var list []string
	number := map[string]int{} // of each address
	for line := range strings.SplitSeq(string(out), "\n") {
		if parts := disassembled.FindStringSubmatch(line); parts != nil && !strings.HasPrefix(parts[2], "int3") {
			number[parts[1]] = len(list)
			list = append(list, strings.TrimSpace(parts[2]))
		}
	}
	for i, line := range list {
		if parts := jump.FindStringSubmatch(line); parts != nil {
			to, ok := number[parts[2]]
			if !ok {
				t.Errorf("%s jumps out of itself: %s", name, line)
			}
			list[i] = fmt.Sprintf("%s to instruction %d", parts[1], to)
		}
	}
	return list
}
