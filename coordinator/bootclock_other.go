//go:build !linux

package coordinator

import "time"

var processStarted = time.Now()

// sinceBoot reads Go's monotonic clock. On systems where that stands still while the machine is suspended,
// waking up is a jump of the wall clock ahead.
func sinceBoot() time.Duration { return time.Since(processStarted) }
