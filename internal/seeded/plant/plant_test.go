package main

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/internal/seeded"
)

// TestEveryBugApplies: a bug whose place in the sources has changed is named, with the lines that are not found.
func TestEveryBugApplies(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	changes, err := readAll()
	if err != nil {
		t.Fatal(err)
	}
	planted, err := plant(root, changes)
	if err != nil {
		t.Error(err)
	}
	for _, bug := range seeded.All() {
		if !slices.ContainsFunc(changes, func(c change) bool {
			return c.bug == bug && strings.Contains(c.is, "seeded.Is(")
		}) {
			t.Errorf("no line of %s asks whether the bug is to show", diffOf(bug))
		}
	}
	if !strings.Contains(planted[enable.file], enable.is) {
		t.Errorf("%s with the bugs does not say so", enable.file)
	}
}

// TestNoOtherDiffs: a diff of no bug would never be applied.
func TestNoOtherDiffs(t *testing.T) {
	files, err := diffs.ReadDir("bugs")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if bug := strings.TrimSuffix(f.Name(), ".diff"); !slices.Contains(seeded.All(), seeded.Bug(bug)) {
			t.Errorf("bugs/%s is of no bug in seeded.All", f.Name())
		}
	}
}

// TestPlantedSourcesBuild: what the bugs call is still there.
func TestPlantedSourcesBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("builds packages")
	}
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	changes, err := readAll()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"build", "-tags=seededbugs", "-overlay=" + overlay}
	for _, c := range changes {
		args = append(args, "./"+path.Dir(c.file))
	}
	build := exec.Command("go", args...)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("the sources with the bugs do not build: %v\n%s", err, out)
	}
}

func TestWhatDoesNotApply(t *testing.T) {
	const file = "dir/place.go"
	root := t.TempDir()
	if err := writeFile(filepath.Join(root, file),
		[]byte("package dir\n\nvar a = 1\nvar b = 1 // var a = 1\n\n// c\n\n// c\n")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, diff, want string }{
		{"applies", "--- dir/place.go\n@@\n-var a = 1\n+var a = 2\n", ""},
		{"a new file", "--- dir/new.go\n@@\n+package dir\n", ""},
		{"not there", "--- dir/place.go\n@@\n-var c = 1\n+var c = 2\n", "has these lines 0 times"},
		{"twice", "--- dir/place.go\n@@\n-// c\n+// d\n", "has these lines 2 times"},
		{"another bug's lines", "--- dir/place.go\n@@\n-var a = 1\n+var a = 2\n@@\n-var a = 1\n+var a = 3\n",
			"has these lines 0 times"},
		{"no such file", "--- dir/none.go\n@@\n-var a = 1\n+var a = 2\n", "no such file"},
		{"a new file that stands", "--- dir/place.go\n@@\n+package dir\n", "stands already"},
		{"not gofmt-ed", "--- dir/place.go\n@@\n-var a = 1\n+var  a = 2\n", "not gofmt-ed"},
		{"not Go", "--- dir/place.go\n@@\n-var a = 1\n+va a = 2\n", "dir/place.go with its bugs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			changes, err := parse("a-bug", "A sentence.\n\n"+c.diff)
			if err != nil {
				t.Fatal(err)
			}
			_, err = plant(root, changes)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	if text, err := os.ReadFile(filepath.Join(root, file)); err != nil ||
		!strings.Contains(string(text), "var a = 1\n") {
		t.Errorf("the source was changed to %q (%v)", text, err)
	}
}

func TestMalformedDiffs(t *testing.T) {
	for name, diff := range map[string]string{
		"no file":        "A sentence.\n@@\n-a\n+b\n",
		"no hunk":        "--- a.go\n-a\n+b\n",
		"another mark":   "--- a.go\n@@\n*a\n",
		"after a file":   "--- a.go\n@@\n-a\n+b\n--- b.go\n+c\n",
		"nothing at all": "",
	} {
		if changes, err := parse("a-bug", diff); err == nil {
			t.Errorf("%s: was read as %q", name, changes)
		}
	}
}

// TestImportIsAdded: a source that imports nothing, one thing or a list gets the import of package seeded.
func TestImportIsAdded(t *testing.T) {
	const want = "import \"github.com/gram-compute/gram/internal/seeded\"\n"
	const use = "\nvar on = seeded.Is(seeded.LostAck)\n"
	for _, head := range []string{
		"package a\n", "// Package a.\npackage a\n\nimport \"math\"\n",
		"package a\n\nimport (\n\t\"math\"\n\t\"os\"\n)\n",
	} {
		if text, err := finish(head + use); err != nil || text != head+"\n"+want+use {
			t.Errorf("%q became %q (%v)", head+use, text, err)
		}
	}
	if text, err := finish("package a\n"); err != nil || strings.Contains(text, "import") {
		t.Errorf("a source that calls nothing became %q (%v)", text, err)
	}
}
