//go:build seededbugs

package clustertest_test

import (
	"testing"

	"github.com/gram-compute/gram/internal/seeded"
	"github.com/gram-compute/gram/internal/seeded/seededtest"
)

func TestSeededNoAudit(t *testing.T) {
	seededtest.Caught(t, seeded.NoAudit, "TestALiarIsFoundAndItsWorkMadeAgain", `convicted: \[\]`)
}
