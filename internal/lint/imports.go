package lint

import (
	"path"
	"slices"
	"strings"
)

// layer says what the packages of one subtree may import of ours, besides each other.
type layer struct {
	tree string   // a folder and those below it, unless a longer row names them
	may  []string // exact folders, or subtrees as "folder/..."
	all  bool     // anything: wiring
	// apart means that the folders below the tree may not import each other, except in tests.
	apart bool
}

// numbers are what an algorithm computes with.
var numbers = []string{"dataset/...", "kernelops", "kernelops/fmath", "kernelops/philox", "protocol/..."}

// layers is the import table: imports go down only. The longest matching tree counts.
var layers = []layer{
	{tree: "protocol"},
	{tree: "objstore"},
	{tree: "asm"},
	{tree: "kernelops/decimal", may: []string{"asm"}},
	{tree: "kernelops/fmath"},
	{tree: "kernelops/philox"},
	{tree: "kernelops", may: []string{"asm", "kernelops/decimal", "kernelops/fmath", "kernelops/philox"}},
	{tree: "dataset", may: []string{
		"objstore", "protocol", "kernelops/decimal", "kernelops/fmath", "kernelops/philox",
	}},
	{tree: "jobs/params", may: []string{"protocol"}},
	{tree: "jobs", may: []string{"dataset", "jobs/params", "kernelops", "protocol"}},
	{tree: "jobs/planned", may: []string{"dataset", "jobs", "protocol"}},
	{tree: "jobs/run", may: []string{"dataset", "jobs", "kernelops", "proof", "protocol"}},
	{tree: "proof", may: []string{"jobs", "protocol"}},
	{tree: "attestation", may: []string{"protocol"}},
	{tree: "attestation/origin", may: []string{"dataset", "jobs", "jobs/planned", "proof", "protocol"}},
	{tree: "attestation/mlbom", may: []string{"attestation/origin", "jobs", "proof"}},
	{tree: "attestation/outputs", may: []string{
		"attestation", "attestation/mlbom", "attestation/origin", "objstore", "proof", "protocol",
	}},
	{tree: "jobs/learn", may: append([]string{"jobs", "jobs/params"}, numbers...)},
	{tree: "jobs/kinds", apart: true, may: append([]string{"jobs", "jobs/params", "jobs/learn/..."}, numbers...)},
	{tree: "jobs/all", may: []string{
		"dataset", "jobs", "jobs/kinds/...", "jobs/learn/...", "jobs/params", "kernelops", "protocol",
	}},
	{tree: "jobs/jobstest", may: append([]string{"jobs", "jobs/learn/...", "jobs/run"}, numbers...)},
	{tree: "coordinator/clock"},
	{tree: "coordinator/state", may: []string{"protocol/..."}},
	{tree: "coordinator/schedule", may: []string{
		"coordinator/clock", "coordinator/state", "protocol/...", "report/forecast",
	}},
	{tree: "coordinator/life"},
	{tree: "coordinator/bounds"},
	{tree: "coordinator/pki"},
	{tree: "coordinator/audit", may: []string{
		"coordinator/gate", "coordinator/outcome", "coordinator/state", "protocol/...",
	}},
	{tree: "coordinator/meters", may: []string{"coordinator/gate", "coordinator/state", "protocol/..."}},
	{tree: "coordinator/listing", may: []string{"coordinator/state", "protocol/..."}},
	{tree: "coordinator/lease", may: []string{"coordinator/schedule", "coordinator/state", "protocol/..."}},
	{tree: "coordinator/command", may: []string{
		"coordinator/schedule", "coordinator/state", "objstore", "protocol/...",
	}},
	{tree: "coordinator/listen", may: []string{
		"coordinator/bounds", "coordinator/gate", "coordinator/life", "coordinator/node", "coordinator/outcome",
		"coordinator/pki", "protocol/...",
	}},
	{tree: "coordinator/logstore", may: []string{"internal/faults"}},
	{tree: "coordinator/gate", may: []string{"coordinator/pki", "protocol/..."}},
	{tree: "coordinator/outcome", may: []string{"coordinator/gate", "coordinator/state"}},
	{tree: "coordinator/node", may: []string{
		"coordinator/bounds", "coordinator/life", "coordinator/logstore", "coordinator/outcome", "coordinator/pki",
		"coordinator/state", "protocol/...",
	}},
	{tree: "coordinator/lead", may: []string{
		"coordinator/audit", "coordinator/clock", "coordinator/command", "coordinator/gate", "coordinator/lease",
		"coordinator/life", "coordinator/meters", "coordinator/node", "coordinator/outcome", "coordinator/schedule",
		"coordinator/state", "objstore", "protocol/...", "report/forecast",
	}},
	{tree: "coordinator/findings", may: []string{"compare", "coordinator/state", "jobs", "objstore", "protocol/..."}},
	{tree: "coordinator/api", may: []string{
		"attestation", "compare", "coordinator/command", "coordinator/findings", "coordinator/gate", "coordinator/listing",
		"coordinator/outcome", "coordinator/schedule", "coordinator/state", "jobs", "objstore", "protocol/...",
	}},
	{tree: "coordinator", may: []string{
		"attestation", "coordinator/...", "internal/faults", "objstore", "protocol/...", "web",
	}},
	{tree: "compare", may: []string{"attestation/origin", "dataset", "jobs", "proof", "protocol/..."}},
	{tree: "report", may: []string{"jobs", "jobs/params", "protocol/...", "report/style"}},
	{tree: "report/style"},
	{tree: "report/forecast", may: []string{"kernelops/fmath", "kernelops/philox"}},
	{tree: "worker", may: []string{
		"attestation/mlbom", "attestation/origin", "dataset/...", "internal/faults", "jobs", "jobs/planned",
		"jobs/run", "kernelops", "objstore", "proof", "protocol/...", "report", "report/style",
	}},
	{tree: "verify", may: []string{
		"attestation/mlbom", "attestation/origin", "dataset", "jobs", "jobs/planned", "jobs/run", "kernelops",
		"kernelops/philox", "objstore", "proof", "protocol",
	}},
	{tree: "internal/lint"},
	{tree: "internal/faults"},
	{tree: "internal/seeded"},
	{tree: "internal/measure"},
	{tree: "internal/machine"},
	{tree: "internal/limits", may: []string{"kernelops"}},
	{tree: "web", may: []string{"protocol/...", "report", "report/style"}},
	{tree: "cmd/gram", all: true},
	{tree: "clustertest", all: true},
	{tree: "deploy", all: true},
	{tree: "benchmarks", all: true},
	{tree: "chaos", all: true},
	{tree: "chaos/history"},
	{tree: "chaos/linear", may: []string{"chaos/history"}},
	{tree: "chaos/checker", may: []string{"chaos/history", "chaos/linear", "objstore", "protocol/..."}},
}

// reserved names who may import what is not ours. Tests are bound only where strict.
var reserved = []struct {
	path   string // the import path and those below it
	by     []string
	strict bool
}{
	{path: "github.com/hashicorp/raft", by: []string{"coordinator"}, strict: true},
	{path: "github.com/hashicorp/go-msgpack", by: []string{"coordinator/logstore"}, strict: true},
	{path: "github.com/prometheus/client_golang", by: []string{"coordinator"}},
	{path: "github.com/minio/minio-go", by: []string{"objstore/s3"}},
	{path: "github.com/klauspost/cpuid", by: []string{"kernelops"}},
	{path: "github.com/spf13/cobra", by: []string{"cmd/gram"}},
	{path: "github.com/anishathalye/porcupine", by: []string{"chaos"}, strict: true},
	{path: "github.com/chromedp"},
	{path: "testing"},
	{path: "pgregory.net/rapid"},
	{path: "go.uber.org/goleak"},
}

// Import is one import of a file: by its folder, of an import path.
type Import struct {
	Folder string
	Path   string
	Test   bool // by a _test.go file
	At     Finding
}

// ImportsOf lists the imports of the module's own files; folders with a go.mod of their own are other modules.
func ImportsOf(tree Tree) []Import {
	var nested []string
	for _, f := range tree {
		if path.Base(f.Path) == "go.mod" && f.Folder() != "." {
			nested = append(nested, f.Folder())
		}
	}
	var imports []Import
	for _, f := range tree {
		if f.Syntax == nil || slices.ContainsFunc(nested, func(m string) bool { return within(f.Folder(), m) }) {
			continue
		}
		for _, spec := range f.Syntax.Imports {
			imports = append(imports, Import{
				Folder: f.Folder(), Path: importPath(spec), Test: f.IsTest(), At: f.find(spec.Pos(), ""),
			})
		}
	}
	return imports
}

// Imports finds the imports that the tables do not allow.
func Imports(imports []Import) []Finding {
	var found []Finding
	for _, imp := range imports {
		if what := breach(imp); what != "" {
			at := imp.At
			at.What = what
			found = append(found, at)
		}
	}
	return found
}

func breach(imp Import) string {
	testing := imp.Test || IsTestSupport(imp.Folder)
	own, ours := strings.CutPrefix(imp.Path, Module+"/")
	if !ours {
		return foreignBreach(imp, testing)
	}
	row, ok := layerOf(imp.Folder)
	switch {
	case !ok:
		return imp.Folder + " has no row in the import table (internal/lint/imports.go)"
	case IsTestSupport(own):
		if testing || row.all && wiresTests(row.tree) {
			return ""
		}
		return imp.Folder + " ships, so it may not import the test support " + own
	case row.all, allows(row, own), own == imp.Folder, testing && allowsTest(row, own):
		return ""
	}
	return imp.Folder + " may not import " + own
}

func foreignBreach(imp Import, testing bool) string {
	for _, r := range reserved {
		if !within(imp.Path, r.path) || testing && !r.strict {
			continue
		}
		if r.by == nil {
			return imp.Folder + " ships, so it may not import " + imp.Path
		}
		if !slices.ContainsFunc(r.by, func(tree string) bool {
			return within(imp.Folder, tree)
		}) || isDecision(imp.Folder) {
			return imp.Folder + " may not import " + imp.Path + ": only " + strings.Join(r.by, ", ") + " may"
		}
	}
	return ""
}

// IsTestSupport reports whether a folder holds a package made for tests, such as objstore/objstoretest, or lies in one.
func IsTestSupport(folder string) bool {
	return slices.ContainsFunc(strings.Split(folder, "/"), func(name string) bool {
		return strings.HasSuffix(name, "test") && name != "test"
	})
}

// wiresTests: what drives the whole system for people or tests, and is never shipped.
func wiresTests(tree string) bool { return tree != "cmd/gram" }

func isDecision(folder string) bool {
	return within(folder, "coordinator/state") || within(folder, "coordinator/schedule")
}

func within(p, tree string) bool { return p == tree || strings.HasPrefix(p, tree+"/") }

func layerOf(folder string) (layer, bool) {
	var best layer
	for _, row := range layers {
		if within(folder, row.tree) && len(row.tree) > len(best.tree) {
			best = row
		}
	}
	return best, best.tree != ""
}

func allows(row layer, own string) bool {
	if of, ok := layerOf(own); ok && of.tree == row.tree && !row.apart { // the same subtree
		return true
	}
	return slices.ContainsFunc(row.may, func(entry string) bool {
		tree, below := strings.CutSuffix(entry, "/...")
		return own == tree || below && within(own, tree)
	})
}

// allowsTest lets a test name seeded bugs, use the implementations of what its package uses through an interface, and
// compare folders that are apart.
func allowsTest(row layer, own string) bool {
	return own == "internal/seeded" || row.apart && within(own, row.tree) ||
		within(own, "objstore") && slices.Contains(row.may, "objstore")
}
