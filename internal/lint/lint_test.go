package lint_test

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/internal/lint"
)

const root = "../.."

func readTree(t *testing.T) lint.Tree {
	t.Helper()
	tree, err := lint.ReadTree(root)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// reportAll fails t with every finding in one message.
func reportAll(t *testing.T, found []lint.Finding) {
	t.Helper()
	if len(found) == 0 {
		return
	}
	var b strings.Builder
	for _, f := range found {
		b.WriteString("\n  " + f.String())
	}
	t.Errorf("%d findings:%s", len(found), b.String())
}

// TestTree holds the rules that need no types.
func TestTree(t *testing.T) {
	tree := readTree(t)
	imports := lint.ImportsOf(tree)
	if len(tree.GoFiles()) == 0 || len(imports) == 0 {
		t.Fatalf("read %d Go files with %d imports: the tree was not found", len(tree.GoFiles()), len(imports))
	}
	for name, found := range map[string][]lint.Finding{
		"imports":   lint.Imports(imports),
		"sizes":     lint.Sizes(tree),
		"names":     lint.Names(tree),
		"docs":      lint.Docs(tree),
		"sleeps":    lint.Sleeps(tree),
		"addresses": lint.Addresses(tree),
		"links":     lint.Links(tree),
		"words":     lint.Words(tree),
	} {
		t.Run(name, func(t *testing.T) { reportAll(t, found) })
	}
}

// TestDependenciesAreExplained holds docs/dependencies.md to what the code imports.
func TestDependenciesAreExplained(t *testing.T) {
	tree := readTree(t)
	var require, explained []byte
	for _, f := range tree {
		switch f.Path {
		case "go.mod":
			require = f.Text
		case "docs/dependencies.md":
			explained = f.Text
		}
	}
	found, err := lint.Dependencies(lint.ImportsOf(tree), require, explained)
	if err != nil {
		t.Fatal(err)
	}
	reportAll(t, found)
}

// architectures are those whose files differ: kernels in assembly, and the generic ones alone.
var architectures = []string{"amd64", "arm64"}

// TestTyped holds the rules of numeric code and of decisions, on every architecture.
func TestTyped(t *testing.T) {
	abs, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, scope := range lint.Scopes() {
		t.Run(strings.Join(scope.Folders, ","), func(t *testing.T) {
			var all []lint.Finding
			var seen []string
			for _, goarch := range architectures {
				found, files, err := lint.Analyze(abs, goarch, scope)
				if err != nil {
					t.Fatal(err)
				}
				all, seen = append(all, found...), append(seen, files...)
			}
			reportAll(t, append(lint.Unique(all), unseen(readTree(t), scope.Folders, seen)...))
		})
	}
}

// unseen finds the files that no load took in, so that no rule judged them.
func unseen(tree lint.Tree, folders, seen []string) []lint.Finding {
	var found []lint.Finding
	for _, f := range tree.GoFiles() {
		in := slices.ContainsFunc(folders, func(folder string) bool { return strings.HasPrefix(f.Path, folder+"/") })
		if in && !f.IsTest() && !lint.IsTestSupport(f.Folder()) && !slices.Contains(seen, f.Path) {
			found = append(found, lint.Finding{Path: f.Path,
				What: "built for none of " + strings.Join(architectures,
					", ") + " on " + runtime.GOOS + ", so not judged"})
		}
	}
	return found
}
