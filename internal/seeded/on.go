//go:build seededbugs

package seeded

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// Enabled: this build holds the bugs.
const Enabled = true

const (
	bugVariable  = "GRAM_SEEDED_BUG"
	skewVariable = "GRAM_CLOCK_SKEW_FILE"
)

// Is reports whether the bug is to show: whether GRAM_SEEDED_BUG names it.
func Is(bug Bug) bool { return os.Getenv(bugVariable) == string(bug) }

// Skew is how far the wall clock is to be off: the duration, such as "-1h", in the file that
// GRAM_CLOCK_SKEW_FILE names, as it is at this moment. Without the file the clock is right.
// Nothing else can move the wall clock of one process.
func Skew() time.Duration {
	name := os.Getenv(skewVariable)
	if name == "" {
		return 0
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return 0
	}
	skew, err := time.ParseDuration(strings.TrimSpace(string(text)))
	if err != nil {
		panic(fmt.Sprintf("%s: %v", name, err))
	}
	return skew
}
