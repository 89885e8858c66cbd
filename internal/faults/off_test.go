//go:build !faults && !seededbugs

package faults_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gram-compute/gram/internal/faults"
)

// A build without the tag keeps its clock, whatever its environment says.
func TestOff(t *testing.T) {
	file := filepath.Join(t.TempDir(), "skew")
	if err := os.WriteFile(file, []byte("1h"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GRAM_CLOCK_SKEW_FILE", file)
	if faults.Enabled || faults.Skew() != 0 {
		t.Error("the clock can be moved in a build without the tag")
	}
}
