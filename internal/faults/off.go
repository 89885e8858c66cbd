//go:build !faults && !seededbugs

package faults

import "time"

// Enabled: this build cannot be disturbed.
const Enabled = false

// Skew is how far the wall clock is to be off; in this build it never is.
func Skew() time.Duration { return 0 }
