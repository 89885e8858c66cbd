// Package seededtest shows that tests find the bugs of package seeded.
package seededtest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/internal/seeded"
)

// Caught runs a test of the calling package, as a process of its own, without a bug and with it. It
// must pass without; with it, it must fail and say why in words that match says.
func Caught(t *testing.T, bug seeded.Bug, test, says string, flags ...string) {
	t.Helper()
	if !seeded.Enabled {
		t.Fatal("this build has the tag seededbugs but not the overlay with the bugs: run make seeded")
	}
	if !slices.Contains(seeded.All(), bug) {
		t.Fatalf("%s is not one of the bugs", bug)
	}
	out, err := run(t.Context(), "", test, flags)
	if err != nil || !strings.Contains(out, "--- PASS: "+test) {
		t.Fatalf("%s does not pass without a bug: %v\n%s", test, err, out)
	}
	out, err = run(t.Context(), bug, test, flags)
	switch {
	case err == nil:
		t.Errorf("%s does not find %s", test, bug)
	case !strings.Contains(out, "--- FAIL: "+test) || !regexp.MustCompile(says).MatchString(out):
		t.Errorf("%s fails with %s, but not in the words %q:\n%s", test, bug, says, out)
	}
}

func run(ctx context.Context, bug seeded.Bug, test string, flags []string) (string, error) {
	cmd := exec.CommandContext(ctx, os.Args[0],
		append([]string{"-test.run", "^" + test + "$", "-test.v", "-test.count", "1"}, flags...)...)
	cmd.Env = append(os.Environ(), "GRAM_SEEDED_BUG="+string(bug))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}
