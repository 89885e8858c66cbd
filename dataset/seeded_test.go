//go:build seededbugs

package dataset

import (
	"testing"

	"github.com/gram-compute/gram/internal/seeded"
	"github.com/gram-compute/gram/internal/seeded/seededtest"
)

func TestSeededNoIfMatch(t *testing.T) {
	seededtest.Caught(t, seeded.NoIfMatch, "TestObjectReplacedAfterThePlan", "want INPUT_CHANGED")
}
