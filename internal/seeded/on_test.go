//go:build seededbugs

package seeded_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/internal/seeded"
)

func TestSeededOneAtATime(t *testing.T) {
	for _, named := range append(seeded.All(), "", "none-such") {
		t.Setenv("GRAM_SEEDED_BUG", string(named))
		for _, bug := range seeded.All() {
			if seeded.Is(bug) != (bug == named) {
				t.Errorf("GRAM_SEEDED_BUG=%s: %s shows: %t", named, bug, seeded.Is(bug))
			}
		}
	}
}

func TestSeededSkew(t *testing.T) {
	file := filepath.Join(t.TempDir(), "skew")
	t.Setenv("GRAM_CLOCK_SKEW_FILE", file)
	for text, want := range map[string]time.Duration{"": 0, "-1h\n": -time.Hour, "250ms": 250 * time.Millisecond} {
		if text != "" {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		} else if err := os.RemoveAll(file); err != nil {
			t.Fatal(err)
		}
		if got := seeded.Skew(); got != want {
			t.Errorf("skew %q is %v", text, got)
		}
	}
}

// TestSeededBugsAreCaught: every bug is named by a test of the tree that must find it.
func TestSeededBugsAreCaught(t *testing.T) {
	source, err := os.ReadFile("seeded.go")
	if err != nil {
		t.Fatal(err)
	}
	tests := ""
	for _, folder := range []string{"coordinator", "coordinator/state", "coordinator/schedule", "dataset", "objstore/s3"} {
		text, err := os.ReadFile(filepath.Join("..", "..", folder, "seeded_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		tests += string(text)
	}
	names := regexp.MustCompile(`(?m)^\t(\w+)\s+Bug\s+= "`).FindAllStringSubmatch(string(source), -1)
	if len(names) != len(seeded.All()) || len(names) != 11 {
		t.Errorf("%d bugs are named, %d listed; want 11", len(names), len(seeded.All()))
	}
	for _, name := range names {
		if !strings.Contains(tests, "Caught(t, seeded."+name[1]+",") {
			t.Errorf("no test must find %s", name[1])
		}
	}
}
