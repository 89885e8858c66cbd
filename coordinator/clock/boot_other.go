//go:build !linux

package clock

import "time"

var started = time.Now()

// SinceBoot reads Go's monotonic clock. On systems where that stands still while the machine is suspended,
// waking up is a jump of the wall clock ahead.
func SinceBoot() time.Duration { return time.Since(started) }
