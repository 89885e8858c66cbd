//go:build seededbugs

package kmeans

import (
	"testing"

	"github.com/gram-compute/gram/internal/seeded"
	"github.com/gram-compute/gram/internal/seeded/seededtest"
)

func TestSeededNoTieCheck(t *testing.T) {
	seededtest.Caught(t, seeded.NoTieCheck, "TestAssignmentIsExact", "are not at the first of their nearest centers")
}
