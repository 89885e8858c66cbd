//go:build seededbugs

package seeded

import "os"

const bugVariable = "GRAM_SEEDED_BUG"

// Is reports whether the bug is to show: whether GRAM_SEEDED_BUG names it.
func Is(bug Bug) bool { return os.Getenv(bugVariable) == string(bug) }
