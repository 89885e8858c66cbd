//go:build seededbugs

package schedule_test

import (
	"testing"

	"github.com/gram-compute/gram/internal/seeded"
	"github.com/gram-compute/gram/internal/seeded/seededtest"
)

func TestSeededLostObjectFails(t *testing.T) {
	seededtest.Caught(t, seeded.LostObjectFails, "TestTwoWorkersMissAnObject", "command <nil>")
	seededtest.Caught(t, seeded.LostObjectFails, "TestARefusingStoreIsWaitedFor", "after 0s")
}

func TestSeededTickByNow(t *testing.T) {
	seededtest.Caught(t, seeded.TickByNow, "TestEveryTickOnce", "is not what comes next")
}
