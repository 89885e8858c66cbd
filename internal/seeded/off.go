//go:build !seededbugs

package seeded

import "time"

// Enabled: this build holds the bugs.
const Enabled = false

// Is reports whether the bug is to show. In this build none is.
func Is(Bug) bool { return false }

// Skew is how far the wall clock is to be off; here it never is.
func Skew() time.Duration { return 0 }
