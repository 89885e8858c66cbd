// Package seeded plants known bugs, each at the place where somebody could make it, to
// test what is there to find such bugs: a checker that has never found one proves nothing.
//
// They exist only in a build with -tags seededbugs, one at a time: that which GRAM_SEEDED_BUG
// names. In every other build Is is constantly false, and the compiler leaves the bugs out.
package seeded

// Bug names a bug.
type Bug string

// The bugs.
const (
	DoubleCommit    Bug = "double-commit"         // a node is committed though it, or an ancestor, is
	LostAck         Bug = "lost-ack"              // a command is acknowledged before it is committed
	StaleRead       Bug = "stale-read"            // every member answers reads from what it has applied
	WallClockLease  Bug = "wall-clock-lease"      // leases are timed by the wall clock
	MapOrder        Bug = "map-order"             // the order of a map reaches the state
	SkippedFsync    Bug = "skipped-fsync"         // the log acknowledges entries that a kill loses
	EarlySnapshot   Bug = "early-snapshot-return" // reading a snapshot ends before its end
	SlotByNow       Bug = "slot-by-now"           // a slot is the time at which it is fired
	NoIfMatch       Bug = "no-if-match"           // input is read whatever its ETag is
	NoAudit         Bug = "no-audit"              // no task is made a second time
	LostObjectFails Bug = "lost-object-fails"     // a job object that is lost fails the job
	ClockTrusted    Bug = "clock-trusted"         // the leader's wall clock is the time, whatever other clocks show
	// what says that an object has changed passes for a store that is unwell
	ChangedAsUnwell Bug = "412-as-failure"
	NoCentering     Bug = "no-centering" // kernels take rows as they were read, with the bound of centered ones
	NoTieCheck      Bug = "no-tie-check" // the nearest center is that of the least float32 score
)

// All lists the bugs.
func All() []Bug {
	return []Bug{
		DoubleCommit, LostAck, StaleRead, WallClockLease, MapOrder, SkippedFsync, EarlySnapshot, SlotByNow, NoIfMatch,
		ChangedAsUnwell,
		NoCentering, NoTieCheck, LostObjectFails, NoAudit, ClockTrusted,
	}
}

// OfNumbers lists the bugs that make every copy of a result wrong alike: tests of the arithmetic find them, faults of a
// cluster cannot.
func OfNumbers() []Bug { return []Bug{NoTieCheck} }
