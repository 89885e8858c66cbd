package lint_test

import (
	"strings"
	"testing"

	"github.com/gram-compute/gram/internal/lint"
)

const raft = "github.com/hashicorp/raft"

// importCases are imports and what the tables say of them.
var importCases = []struct {
	folder, path string
	test         bool
	want         string // in the finding; empty where the import is allowed
}{
	{folder: "jobs", path: "dataset"},
	{folder: "jobs/kinds/naivebayes", path: "jobs"},
	{folder: "jobs/kinds/naivebayes", path: "kernelops/philox"},
	{folder: "jobs/kinds/naivebayes", path: "jobs/learn/features"},
	{folder: "jobs/kinds/naivebayes", path: "jobs/kinds/kmeans",
		want: "jobs/kinds/naivebayes may not import jobs/kinds"},
	{folder: "jobs/learn/features", path: "jobs/learn/vocabulary"},
	{folder: "jobs/learn/features", path: "jobs/kinds/kmeans", want: "may not import"},
	{folder: "jobs", path: "jobs/learn/rows", want: "jobs may not import jobs/learn/rows"},
	{folder: "jobs/run", path: "jobs"},
	{folder: "jobs/run", path: "jobs/learn/rows", want: "may not import"},
	{folder: "jobs/all", path: "jobs/kinds/kmeans"},
	{folder: "jobs", path: "objstore", want: "jobs may not import objstore"},
	{folder: "jobs", path: "worker", want: "jobs may not import worker"},
	{folder: "jobs", path: "coordinator/state", test: true, want: "may not import"},
	{folder: "protocol", path: "objstore", want: "protocol may not import objstore"},
	{folder: "protocol", path: "protocol/gramv1"},
	{folder: "objstore/s3", path: "objstore"},
	{folder: "objstore", path: "protocol", want: "may not import"},
	{folder: "kernelops", path: "asm"},
	{folder: "kernelops/fmath", path: "kernelops", want: "kernelops/fmath may not import kernelops"},
	{folder: "kernelops/philox", path: "kernelops/fmath", want: "may not import"},
	{folder: "dataset", path: "kernelops", want: "may not import"},
	{folder: "dataset", path: "kernelops/fmath"},
	{folder: "dataset", path: "objstore/dir", want: "dataset may not import objstore/dir"},
	{folder: "dataset", path: "objstore/dir", test: true},
	{folder: "dataset/datasettest", path: "objstore/mem"},
	{folder: "coordinator/state", path: "protocol/gramv1"},
	{folder: "coordinator/state", path: "coordinator/schedule", want: "may not import"},
	{folder: "coordinator/state", path: "objstore", want: "may not import"},
	{folder: "coordinator/schedule", path: "coordinator/state"},
	{folder: "coordinator/schedule", path: "coordinator", want: "may not import"},
	{folder: "coordinator", path: "coordinator/pki"},
	{folder: "coordinator", path: "coordinator/state"},
	{folder: "coordinator", path: "worker", want: "coordinator may not import worker"},
	{folder: "coordinator", path: "jobs", want: "coordinator may not import jobs"},
	{folder: "coordinator", path: "kernelops", test: true, want: "coordinator may not import kernelops"},
	{folder: "coordinator", path: "dataset", want: "coordinator may not import dataset"},
	{folder: "worker", path: "coordinator", want: "worker may not import coordinator"},
	{folder: "worker", path: "coordinator/state", test: true, want: "worker may not import coordinator/state"},
	{folder: "worker", path: "jobs"},
	{folder: "worker", path: "jobs/kinds/kmeans", want: "worker may not import jobs/kinds/kmeans"},
	{folder: "cmd/gram", path: "coordinator"},
	{folder: "cmd/gram", path: "objstore/objstoretest", want: "ships, so it may not import the test support"},
	{folder: "cmd/gram", path: "objstore/objstoretest", test: true},
	{folder: "worker", path: "clustertest", want: "ships, so it may not import the test support"},
	{folder: "clustertest", path: "worker"},
	{folder: "deploy/demo", path: "objstore/objstoretest"},
	{folder: "objstore/s3", path: "objstore/objstoretest", want: "ships, so it may not import the test support"},
	{folder: "objstore/s3", path: "objstore/objstoretest", test: true},
	{folder: "objstore/objstoretest/versity", path: "objstore/s3"},
	{folder: "jobs/learn/vocabulary", path: "dataset/text"},
	{folder: "jobs", path: "dataset/datasettest", want: "ships, so it may not import the test support"},
	{folder: "coordinator/state", path: "internal/seeded", want: "coordinator/state may not import internal/seeded"},
	{folder: "coordinator/state", path: "internal/seeded", test: true},
	{folder: "coordinator/state", path: "internal/seeded/seededtest",
		want: "ships, so it may not import the test support"},
	{folder: "gadgets", path: "protocol", want: "gadgets has no row in the import table"},
	{folder: "coordinator", path: raft},
	{folder: "coordinator/logstore", path: "github.com/hashicorp/go-msgpack/v2/codec"},
	{folder: "coordinator/node", path: "github.com/hashicorp/go-msgpack/v2/codec",
		want: "only coordinator/logstore may"},
	{folder: "coordinator/schedule", path: raft, want: "may not import"},
	{folder: "coordinator/state", path: raft, test: true, want: "may not import"},
	{folder: "cmd/gram", path: raft, want: "may not import " + raft},
	{folder: "worker", path: raft, test: true, want: "may not import " + raft},
	{folder: "objstore/s3", path: "github.com/minio/minio-go/v7"},
	{folder: "dataset", path: "github.com/minio/minio-go/v7", want: "only objstore/s3 may"},
	{folder: "jobs", path: "testing", want: "jobs ships, so it may not import testing"},
	{folder: "jobs", path: "testing", test: true},
	{folder: "objstore/objstoretest", path: "testing"},
	{folder: "jobs", path: "fmt"},
}

func TestImports(t *testing.T) {
	for _, c := range importCases {
		path := c.path
		if first, _, _ := strings.Cut(path, "/"); !strings.Contains(first, ".") && path != "testing" && path != "fmt" {
			path = lint.Module + "/" + path
		}
		imp := lint.Import{Folder: c.folder, Path: path, Test: c.test,
			At: lint.Finding{Path: c.folder + "/x.go", Line: 3}}
		switch found := lint.Imports([]lint.Import{imp}); {
		case c.want == "" && len(found) > 0:
			t.Errorf("%s -> %s (test %t): %s, want none", c.folder, c.path, c.test, found[0])
		case c.want != "" && (len(found) != 1 || !strings.Contains(found[0].What, c.want)):
			t.Errorf("%s -> %s (test %t): %v, want one with %q", c.folder, c.path, c.test, found, c.want)
		}
	}
}

// TestImportsOf reads imports from files and leaves other modules out.
func TestImportsOf(t *testing.T) {
	tree := plant(t, map[string]string{
		"jobs/a.go":               "package jobs\n\nimport \"" + lint.Module + "/worker\"\n",
		"jobs/a_test.go":          "package jobs_test\n\nimport _ \"testing\"\n",
		"jobs/testdata/b.go":      "package b\n\nimport _ \"os\"\n",
		"deploy/tools/go.mod":     "module tools\n",
		"deploy/tools/gen/gen.go": "package main\n\nimport _ \"os\"\n",
	})
	imports := lint.ImportsOf(tree)
	if len(imports) != 2 || imports[0].Test || !imports[1].Test {
		t.Fatalf("imports of the planted tree: %+v", imports)
	}
	wantFindings(t, lint.Imports(imports), "jobs/a.go:3: jobs may not import worker")
}

// Inside the coordinator no import runs up: rooms know those below them, and none the root.
func TestCoordinatorRooms(t *testing.T) {
	for _, c := range []struct{ folder, path, want string }{
		{"coordinator", "coordinator/node", ""},
		{"coordinator/node", "coordinator/bounds", ""},
		{"coordinator/node", "coordinator", "coordinator/node may not import coordinator"},
		{"coordinator/node", "coordinator/schedule", "may not import"},
		{"coordinator/outcome", "coordinator/node", "may not import"},
		{"coordinator/listen", "coordinator/node", ""},
		{"coordinator/node", "coordinator/listen", "may not import"},
		{"coordinator/listen", "coordinator/lease", "may not import"},
		{"coordinator/lead", "coordinator/node", ""},
		{"coordinator/lead", "coordinator/api", "may not import"},
		{"coordinator/api", "coordinator/lead", "may not import"},
		{"coordinator/api", "coordinator/node", "may not import"},
	} {
		found := lint.Imports([]lint.Import{{Folder: c.folder, Path: lint.Module + "/" + c.path}})
		if len(found) != min(len(c.want), 1) || len(found) == 1 && !strings.Contains(found[0].What, c.want) {
			t.Errorf("%s imports %s: %v, want %q", c.folder, c.path, found, c.want)
		}
	}
}
