package kernelops

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/cpuid/v2"
)

// TestRequiredKernels fails on a machine that lacks a set it must have, so that a
// suite that ran without it is not taken for one that passed:
// REQUIRE_KERNELS=generic,avx2,avx512 go test ./kernelops
func TestRequiredKernels(t *testing.T) {
	var here []string
	for _, s := range All() {
		here = append(here, s.Name)
	}
	t.Logf("tested here: %s", strings.Join(here, ", "))
	for name := range strings.SplitSeq(os.Getenv("REQUIRE_KERNELS"), ",") {
		if name != "" && !slices.Contains(here, name) {
			t.Errorf("REQUIRE_KERNELS names %q, this machine runs %s", name, strings.Join(here, ", "))
		}
	}
}

func TestAll(t *testing.T) {
	sets := All()
	if sets[0].Name != "generic" {
		t.Errorf("All starts with %q, want generic", sets[0].Name)
	}
	if best := Best(); best.Name != sets[len(sets)-1].Name {
		t.Errorf("Best is %q, want the last of All, %q", best.Name, sets[len(sets)-1].Name)
	}
	for _, s := range sets {
		got, err := ByName(s.Name)
		if err != nil || got.Name != s.Name {
			t.Errorf("ByName(%q) = %v, %v", s.Name, got, err)
		}
		if s.addScaled == nil || s.add == nil {
			t.Errorf("set %q lacks an operation", s.Name)
		}
	}
}

func TestByNameErrors(t *testing.T) {
	_, err := ByName("avx9")
	if !errors.Is(err, ErrUnknown) || errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "generic") {
		t.Errorf("ByName(avx9): %v, want ErrUnknown naming generic", err)
	}
	if _, err = ByName(""); !errors.Is(err, ErrUnknown) {
		t.Errorf("ByName of nothing: %v, want ErrUnknown", err)
	}
	for _, c := range candidates(cpuid.CPU.Supports) { // some machine lacks one; where none is lacking, none is refused
		_, err := ByName(c.name)
		if refused := errors.Is(err, ErrUnsupported); refused != (c.set == nil) {
			t.Errorf("ByName(%s): %v, want ErrUnsupported: %v", c.name, err, c.set == nil)
		}
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct{ env, name, want string }{
		{"", "", Best().Name},
		{"generic", "", "generic"},
		{"nonsense", "generic", "generic"}, // a name given wins
		{"generic", Best().Name, Best().Name},
	} {
		t.Setenv(EnvName, c.env)
		got, err := Choose(c.name)
		if err != nil || got.Name != c.want {
			t.Errorf("%s=%q Choose(%q) = %v, %v, want %s", EnvName, c.env, c.name, got, err, c.want)
		}
	}
	t.Setenv(EnvName, "nonsense")
	if _, err := Choose(""); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "GRAM_KERNELS=nonsense") {
		t.Errorf("Choose with a bad environment: %v", err)
	}
}
