//go:build seededbugs

package coordinator

import (
	"testing"

	"github.com/gram-compute/gram/internal/seeded"
	"github.com/gram-compute/gram/internal/seeded/seededtest"
)

func TestSeededLostAck(t *testing.T) {
	seededtest.Caught(t, seeded.LostAck, "TestFullDiskFailsTheProcess", "a command was committed on a full disk")
}

func TestSeededStaleRead(t *testing.T) {
	seededtest.Caught(t, seeded.StaleRead, "TestEveryMemberKnowsWhatWasAcknowledged", "does not know job")
}

func TestSeededWallClockLease(t *testing.T) {
	seededtest.Caught(t, seeded.WallClockLease, "TestLeasesKeepToTheMonotonicClock", "the clock was set (forward|back)")
}

func TestSeededMapOrder(t *testing.T) {
	seededtest.Caught(t, seeded.MapOrder, "TestMembersAgreeAtCheckpoints", "the members' states differ")
}

func TestSeededClockTrusted(t *testing.T) {
	seededtest.Caught(t, seeded.ClockTrusted, "TestAClockGoesBack", "the expired token is accepted")
	seededtest.Caught(t, seeded.ClockTrusted, "TestAStepRetiresNothing", "a step of the clock retired \\[a\\]")
	seededtest.Caught(t, seeded.ClockTrusted, "TestAWrongClockThatIsElected",
		"waited in vain for the follower to be told the time")
}
