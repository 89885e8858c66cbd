//go:build !seededbugs

package seeded_test

import (
	"testing"

	"github.com/gram-compute/gram/internal/seeded"
)

// A build without the tag shows no bug, whatever its environment says.
func TestOff(t *testing.T) {
	for _, bug := range seeded.All() {
		t.Setenv("GRAM_SEEDED_BUG", string(bug))
		if seeded.Enabled || seeded.Is(bug) {
			t.Errorf("%s shows in a build without it", bug)
		}
	}
}
