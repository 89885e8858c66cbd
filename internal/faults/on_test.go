//go:build faults || seededbugs

package faults_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gram-compute/gram/internal/faults"
)

// TestSeededSkew runs with `make seeded` too: the seeded bugs are shown with a skewed clock.
func TestSeededSkew(t *testing.T) {
	file := filepath.Join(t.TempDir(), "skew")
	t.Setenv("GRAM_CLOCK_SKEW_FILE", file)
	for _, c := range []struct {
		text string
		want time.Duration
	}{{"", 0}, {"-1h\n", -time.Hour}, {"250ms", 250 * time.Millisecond}} {
		if c.text != "" {
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := faults.Skew(); got != c.want {
			t.Errorf("skew %q is %v, want %v", c.text, got, c.want)
		}
	}
}
