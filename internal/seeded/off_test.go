//go:build !seededbugs

package seeded_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gram-compute/gram/internal/seeded"
)

// A build without the tag shows no bug, whatever its environment says.
func TestOff(t *testing.T) {
	file := filepath.Join(t.TempDir(), "skew")
	if err := os.WriteFile(file, []byte("1h"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GRAM_CLOCK_SKEW_FILE", file)
	for _, bug := range seeded.All() {
		t.Setenv("GRAM_SEEDED_BUG", string(bug))
		if seeded.Enabled || seeded.Is(bug) || seeded.Skew() != 0 {
			t.Errorf("%s shows in a build without it", bug)
		}
	}
}
