//go:build faults || seededbugs

package faults

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// Enabled: this build can be disturbed.
const Enabled = true

const skewVariable = "GRAM_CLOCK_SKEW_FILE"

// Skew is how far this process's wall clock is to be off: the duration, such as "-1h", in the file that
// GRAM_CLOCK_SKEW_FILE names, as it is at this moment. Without the file the clock is right. The monotonic
// clock is left alone.
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
