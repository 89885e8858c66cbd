//go:build seededbugs

package seeded_test

import (
	"testing"

	"github.com/gram-compute/gram/internal/seeded"
)

func TestSeededOneAtATime(t *testing.T) {
	for _, named := range append(seeded.All(), "", "none-such") {
		t.Setenv("GRAM_SEEDED_BUG", string(named))
		for _, bug := range seeded.All() {
			if seeded.Is(bug) != (bug == named) {
				t.Errorf("GRAM_SEEDED_BUG=%s: %s shows: %t", named, bug, seeded.Is(bug))
			}
		}
	}
}
