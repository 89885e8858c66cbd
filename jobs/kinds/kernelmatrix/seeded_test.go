//go:build seededbugs

package kernelmatrix

import (
	"testing"

	"github.com/gram-compute/gram/internal/seeded"
	"github.com/gram-compute/gram/internal/seeded/seededtest"
)

func TestSeededNoCentering(t *testing.T) {
	seededtest.Caught(t, seeded.NoCentering, "TestOffsets", "offset 1e\\+06: relative error")
	seededtest.Caught(t, seeded.NoCentering, "TestShiftedPointsByHand", "shifted by 1e\\+06")
}
