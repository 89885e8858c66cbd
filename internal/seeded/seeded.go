// Package seeded plants known bugs, each at the place where somebody could make it, to
// test what is there to find such bugs: a checker that has never found one proves nothing.
//
// No source holds them: bugs/ of the command plant has each as a diff, and the command writes changed copies for a
// build with -tags seededbugs and -overlay (`make seeded`, `make chaos-bugs`). Such a build shows one bug at a time:
// that which GRAM_SEEDED_BUG names.
package seeded

// Enabled reports whether this build holds the bugs: the overlay makes it true.
const Enabled = false

// Bug names a bug.
type Bug string

// The bugs. Each is a file of plant/bugs, which says what it is.
const (
	DoubleCommit    Bug = "double-commit"
	LostAck         Bug = "lost-ack"
	StaleRead       Bug = "stale-read"
	WallClockLease  Bug = "wall-clock-lease"
	MapOrder        Bug = "map-order"
	SkippedFsync    Bug = "skipped-fsync"
	EarlySnapshot   Bug = "early-snapshot-return"
	TickByNow       Bug = "tick-by-now"
	NoIfMatch       Bug = "no-if-match"
	NoAudit         Bug = "no-audit"
	LostObjectFails Bug = "lost-object-fails"
	ClockTrusted    Bug = "clock-trusted"
	ChangedAsUnwell Bug = "412-as-failure"
	NoCentering     Bug = "no-centering"
	NoTieCheck      Bug = "no-tie-check"
	TightBytes      Bug = "tight-bytes"
	TightTriangle   Bug = "tight-triangle"
)

// All lists the bugs.
func All() []Bug {
	return []Bug{
		DoubleCommit, LostAck, StaleRead, WallClockLease, MapOrder, SkippedFsync, EarlySnapshot, TickByNow, NoIfMatch,
		ChangedAsUnwell,
		NoCentering, NoTieCheck, TightBytes, TightTriangle, LostObjectFails, NoAudit, ClockTrusted,
	}
}

// OfNumbers lists the bugs that make every copy of a result wrong alike: tests of the arithmetic find them, faults of a
// cluster cannot.
func OfNumbers() []Bug { return []Bug{NoTieCheck, TightBytes, TightTriangle} }
