//go:build seededbugs

package state_test

import (
	"testing"

	"github.com/gram-compute/gram/internal/seeded"
	"github.com/gram-compute/gram/internal/seeded/seededtest"
)

// often lets a property be tried until it can be relied on, without the search for a small example.
var often = []string{"-rapid.checks", "1500", "-rapid.shrinktime", "1ms", "-rapid.nofailfile"}

func TestSeededDoubleCommit(t *testing.T) {
	seededtest.Caught(t, seeded.DoubleCommit, "TestReplayAndSnapshot",
		"overlaps the one before it|is audited and not committed", often...)
}

func TestSeededMapOrder(t *testing.T) {
	seededtest.Caught(t, seeded.MapOrder, "TestReplayAndSnapshot", "replay differs from live|snapshot and tail differ",
		often...)
}

func TestSeededEarlySnapshot(t *testing.T) {
	seededtest.Caught(t, seeded.EarlySnapshot, "TestReplayAndSnapshot", "snapshot and tail differ", often...)
	seededtest.Caught(t, seeded.EarlySnapshot, "TestDecodeRefusesAlteredSnapshots", "was read")
}
