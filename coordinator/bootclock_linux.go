package coordinator

import (
	"time"

	"golang.org/x/sys/unix"
)

var processStarted = time.Now()

// sinceBoot reads CLOCK_BOOTTIME, which also counts the time that the machine was suspended: the wall clock
// of a machine that wakes up has not jumped against it.
func sinceBoot() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return time.Since(processStarted) // every Linux since 2.6.39 has it; a sandbox may refuse it, then always
	}
	return time.Duration(now.Nano())
}
