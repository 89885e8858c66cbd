//go:build !seededbugs && !faults

package clustertest_test

import (
	"bytes"
	"debug/elf"
	"os"
	"strings"
	"testing"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/internal/seeded"
)

// The binary that people get holds nothing of the seeded bugs and the hooks for faults: no name, no switch, no symbol.
func TestShippedBinaryHoldsNoSeededBug(t *testing.T) {
	file := clustertest.Binary(t)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	traces := []string{"GRAM_SEEDED_BUG", "GRAM_CLOCK_SKEW_FILE", "GRAM_LIE", "GRAM_DISK_FAULT_FILE", "internal/seeded",
		"internal/faults", "lazyLog"}
	for _, bug := range seeded.All() {
		traces = append(traces, string(bug))
	}
	for _, trace := range traces {
		if bytes.Contains(data, []byte(trace)) {
			t.Errorf("the binary holds %q", trace)
		}
	}
	program, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Skipf("symbols are looked through in ELF binaries only: %v", err)
	}
	symbols, err := program.Symbols()
	if err != nil || len(symbols) == 0 {
		t.Fatalf("the test's binary has no symbols: %v", err)
	}
	for _, symbol := range symbols {
		if strings.Contains(symbol.Name, "internal/seeded.") || strings.Contains(symbol.Name, "internal/faults.") ||
			strings.Contains(symbol.Name, "lazyLog") {
			t.Errorf("the binary holds %s", symbol.Name)
		}
	}
}
