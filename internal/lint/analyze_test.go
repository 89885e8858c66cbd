package lint_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/internal/lint"
)

// module writes a module of its own to disk and returns its root.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example.com/m\n\ngo 1.26\n"
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const fusable = "func f(x, y, z float64) float64 { return x*y + z }\n"

// TestAnalyze finds a breach in what ships, on the architecture that builds it, and leaves tests alone.
func TestAnalyze(t *testing.T) {
	dir := module(t, map[string]string{
		"num/all.go":             "package num\n\n" + fusable,
		"num/all_test.go":        "package num\n\nfunc g(x, y, z float64) float64 { return x*y + z }\n",
		"num/deep/arm_arm64.go":  "package deep\n\n" + fusable,
		"num/deep/deep.go":       "package deep\n",
		"num/numtest/support.go": "package numtest\n\n" + fusable,
		"other/other.go":         "package other\n\n" + fusable,
	})
	scope := lint.Scope{Folders: []string{"num"}, Analyzers: lint.Numeric()}
	for goarch, want := range map[string][]string{
		"amd64": {"num/all.go:3: float product"},
		"arm64": {"num/all.go:3: float product", "num/deep/arm_arm64.go:3: float product"},
	} {
		found, seen, err := lint.Analyze(dir, goarch, scope)
		if err != nil {
			t.Fatal(err)
		}
		wantFindings(t, found, want...)
		if slices.Contains(seen, "num/deep/arm_arm64.go") != (goarch == "arm64") ||
			!slices.Contains(seen, "num/all.go") {
			t.Errorf("%s has seen %v", goarch, seen)
		}
	}
}

// TestAnalyzeRefuses code that it cannot judge.
func TestAnalyzeRefuses(t *testing.T) {
	dir := module(t, map[string]string{"num/broken.go": "package num\n\nvar x int = \"text\"\n", "empty/README": ""})
	for folder, want := range map[string]string{"num": "cannot use", "empty": "", "gone": ""} {
		_, _, err := lint.Analyze(dir, "amd64", lint.Scope{Folders: []string{folder}, Analyzers: lint.Numeric()})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("folder %s: error %v, want one with %q", folder, err, want)
		}
	}
}
