//go:build seededbugs

package node

import (
	"testing"

	"github.com/gram-compute/gram/internal/seeded"
	"github.com/gram-compute/gram/internal/seeded/seededtest"
)

func TestSeededSkippedFsync(t *testing.T) {
	const says = "entry 1 was acknowledged and is not in the file"
	seededtest.Caught(t, seeded.SkippedFsync, "TestAcknowledgedEntriesAreInTheFile", says)
}
