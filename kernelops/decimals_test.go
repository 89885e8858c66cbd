package kernelops

import (
	"testing"

	"github.com/gram-compute/gram/kernelops/decimal"
)

// A set that was asked for by name reads numbers without instructions of others.
func TestDecimalsAreOfTheSet(t *testing.T) {
	for _, s := range All() {
		if has, want := s.Decimals != nil, s.Name == "avx512" && decimal.Fastest() != nil; has != want {
			t.Errorf("%s reads numbers by the CPU: %v, want %v", s.Name, has, want)
		}
	}
}
