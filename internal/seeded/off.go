//go:build !seededbugs

package seeded

// Enabled: this build holds the bugs.
const Enabled = false

// Is reports whether the bug is to show. In this build none is.
func Is(Bug) bool { return false }
