//go:build seededbugs

package kernelops

import (
	"testing"

	"github.com/gram-compute/gram/internal/seeded"
	"github.com/gram-compute/gram/internal/seeded/seededtest"
)

func TestSeededNoTieCheck(t *testing.T) {
	seededtest.Caught(t, seeded.NoTieCheck, "TestNearestFarFromTheOrigin", "is at center")
}

func TestSeededTightBytes(t *testing.T) {
	seededtest.Caught(t, seeded.TightBytes, "TestByteBoundByHand", "is not between")
	seededtest.Caught(t, seeded.TightBytes, "TestByteProductBoundsHold", "is not between")
	seededtest.Caught(t, seeded.TightBytes, "TestWithinAtTheBound", "are missing")
	seededtest.Caught(t, seeded.TightBytes, "TestExactBytes", "hits of query")
}
