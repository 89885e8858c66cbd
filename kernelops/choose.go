package kernelops

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/klauspost/cpuid/v2"
)

var (
	// ErrUnknown is wrapped where no set has the asked name.
	ErrUnknown = errors.New("no such kernel set")
	// ErrUnsupported is wrapped where the set exists but this CPU, operating system
	// or build cannot run it.
	ErrUnsupported = errors.New("kernel set not supported here")
)

// EnvName is the environment variable that Choose reads.
const EnvName = "GRAM_KERNELS"

// candidate is a set by name; set is nil where it cannot run.
type candidate struct {
	name string
	set  *Set
}

// supports reports whether a CPU, under its operating system, has all these features.
type supports func(...cpuid.FeatureID) bool

// candidates lists every set that has a name, slowest first, on every machine.
func candidates(has supports) []candidate {
	return []candidate{
		{"generic", Generic()},
		{"avx2", avx2(has)},
		{"avx512", avx512(has)},
	}
}

// All returns the sets that can run here, Generic first, the fastest last.
func All() []*Set { return runnable(cpuid.CPU.Supports) }

// runnable is All on a CPU with these features.
func runnable(has supports) []*Set {
	var sets []*Set
	for _, c := range candidates(has) {
		if c.set != nil {
			sets = append(sets, c.set)
		}
	}
	return sets
}

// Best returns the fastest set that can run here.
func Best() *Set {
	sets := All()
	return sets[len(sets)-1]
}

// ByName returns the set of that name. The error wraps ErrUnknown or ErrUnsupported
// and names the sets that can run here.
func ByName(name string) (*Set, error) {
	var here []string
	for _, s := range All() {
		here = append(here, s.Name)
	}
	for _, c := range candidates(cpuid.CPU.Supports) {
		switch {
		case c.name != name:
		case c.set == nil:
			return nil, fmt.Errorf("kernelops: %w: %q; this machine runs %s", ErrUnsupported, name,
				strings.Join(here, ", "))
		default:
			return c.set, nil
		}
	}
	return nil, fmt.Errorf("kernelops: %w: %q; this machine runs %s", ErrUnknown, name, strings.Join(here, ", "))
}

// Choose returns the named set; for "" the one that GRAM_KERNELS names; without
// that, the best. Results do not depend on the choice, speed does.
func Choose(name string) (*Set, error) {
	if name != "" {
		return ByName(name)
	}
	name = os.Getenv(EnvName)
	if name == "" {
		return Best(), nil
	}
	set, err := ByName(name)
	if err != nil {
		return nil, fmt.Errorf("%s=%s: %w", EnvName, name, err)
	}
	return set, nil
}
