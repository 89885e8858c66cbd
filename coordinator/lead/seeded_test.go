//go:build seededbugs

package lead

import (
	"testing"

	"github.com/gram-compute/gram/internal/seeded"
	"github.com/gram-compute/gram/internal/seeded/seededtest"
)

func TestSeededStaleRead(t *testing.T) {
	const says = "read without a leadership that raft confirms"
	seededtest.Caught(t, seeded.StaleRead, "TestReadsAreConfirmed", says)
}
