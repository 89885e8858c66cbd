//go:build seededbugs

package clustertest_test

import (
	"testing"

	"github.com/gram-compute/gram/internal/seeded"
	"github.com/gram-compute/gram/internal/seeded/seededtest"
)

// Found by what clients see of real processes, and nothing else.
func TestSeededStaleRead(t *testing.T) {
	seededtest.Caught(t, seeded.StaleRead, "TestClientsSeeOneOrder", "the history is not linearizable")
}

func TestSeededNoAudit(t *testing.T) {
	seededtest.Caught(t, seeded.NoAudit, "TestALiarIsFoundAndItsWorkMadeAgain", `convicted: \[\]`)
}
