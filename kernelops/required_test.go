package kernelops

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestRequiredKernelsFail runs this test binary again, asking for sets that it does not have:
// the run must fail, not pass over them.
func TestRequiredKernelsFail(t *testing.T) {
	for _, c := range []struct{ required, missing string }{
		{"", ""},
		{"generic", ""},
		{"generic,nosuch", "nosuch"},
		{"nosuch", "nosuch"},
		{"Generic", "Generic"}, // names are exact
	} {
		suite := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRequiredKernels$", "-test.v")
		suite.Env = append(os.Environ(), "REQUIRE_KERNELS="+c.required)
		out, err := suite.CombinedOutput()
		text := string(out)
		if c.missing == "" {
			if err != nil || !strings.Contains(text, "--- PASS: TestRequiredKernels ") {
				t.Errorf("REQUIRE_KERNELS=%q: %v\n%s", c.required, err, text)
			}
			continue
		}
		want := `REQUIRE_KERNELS names "` + c.missing + `", this machine runs generic`
		if suite.ProcessState == nil || suite.ProcessState.ExitCode() != 1 ||
			!strings.Contains(text, "--- FAIL: TestRequiredKernels ") || !strings.Contains(text, want) {
			t.Errorf("REQUIRE_KERNELS=%q: %v, want a failure that says %s\n%s", c.required, err, want, text)
		}
	}
}
