package asm

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// beyondAVX2 matches the registers that AVX2 does not have: with one of them, the assembler
// quietly encodes an AVX-512 instruction.
var beyondAVX2 = regexp.MustCompile(`\b([XY](1[6-9]|2[0-9]|3[01])|Z[0-9]+|K[0-7])\b`)

// TestRegistersOfAVX2 demands that functions for machines without AVX-512 use no register of it.
func TestRegistersOfAVX2(t *testing.T) {
	files, err := filepath.Glob("*_amd64.s")
	if err != nil || len(files) == 0 {
		t.Fatalf("no assembly: %v", err)
	}
	checked := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, function := range strings.Split(string(text), "\nTEXT ·")[1:] {
			name, _, _ := strings.Cut(function, "(")
			if strings.HasSuffix(name, "AVX512") {
				continue
			}
			checked++
			if r := beyondAVX2.FindString(function); r != "" {
				t.Errorf("%s: %s uses %s", file, name, r)
			}
		}
	}
	if checked == 0 {
		t.Error("no function checked")
	}
}
