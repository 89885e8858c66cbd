package lint_test

import (
	"testing"

	"github.com/gram-compute/gram/internal/lint"
)

func TestDependencies(t *testing.T) {
	const require = `module example.com/m

require (
	example.com/said v1.0.0
	example.com/silent v1.2.3
	example.com/silent/v2 v2.0.0 // indirect
	example.com/idle v1.0.0
)
`
	const explained = "| module | licence | reason |\n|---|---|---|\n" +
		"| `example.com/said` | MIT | it is good |\n| `example.com/idle` | MIT | it was good |\n" +
		"\n## Considered and left\n| `example.com/left` | it is slow |\n"
	imports := []lint.Import{
		{Path: "fmt"}, {Path: "example.com/said/sub"}, {Path: "example.com/silent/v2"}, {Path: "example.com/saidso"},
	}
	found, err := lint.Dependencies(imports, []byte(require), []byte(explained))
	if err != nil {
		t.Fatal(err)
	}
	wantFindings(t, found,
		"docs/dependencies.md: example.com/silent/v2 is imported and has no row",
		"docs/dependencies.md: example.com/idle has a row and is not imported",
	)
	if _, err := lint.Dependencies(nil, []byte("require ("), nil); err == nil {
		t.Error("a broken go.mod was read without an error")
	}
}
