//go:build seededbugs

package kmeans

import (
	"testing"

	"github.com/gram-compute/gram/internal/seeded"
	"github.com/gram-compute/gram/internal/seeded/seededtest"
)

func TestSeededTightTriangle(t *testing.T) {
	seededtest.Caught(t, seeded.TightTriangle, "TestReachByHand", "reaches")
	seededtest.Caught(t, seeded.TightTriangle, "TestSeedingIsUnpruned", "differs from that by all distances")
	seededtest.Caught(t, seeded.TightTriangle, "TestNearestClusterByHand", "width of")
	seededtest.Caught(t, seeded.TightTriangle, "TestMeanBoundsHold", "is said to be at least")
}
