package lint_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gram-compute/gram/internal/lint"
)

// TestRooms holds packages and types to what one can keep in mind.
func TestRooms(t *testing.T) {
	text, err := os.ReadFile("crowded.tsv")
	if err != nil {
		t.Fatal(err)
	}
	crowded, err := lint.Crowded(text)
	if err != nil {
		t.Fatal(err)
	}
	reportAll(t, lint.Rooms(readTree(t), crowded))
}

func TestRoomsFindsTheCrowded(t *testing.T) {
	files := map[string]string{"small/a.go": "package small\n"}
	for i := range lint.MaxPackageFiles + 1 {
		files[fmt.Sprintf("big/f%02d.go", i)] = "package big\n"
		files[fmt.Sprintf("dataset/f%02d.go", i)] = "package dataset\n"
	}
	var methods strings.Builder
	for i := range lint.MaxTypeMethods + 1 {
		fmt.Fprintf(&methods, "func (x *Many) M%d() {}\nfunc (x List[T]) M%d() {}\n", i, i)
	}
	files["small/a.go"] += methods.String()
	files["small/a_test.go"] = "package small\nfunc (x *Few) Test() {}\n"
	tree := plant(t, files)
	wantFindings(t, lint.Rooms(tree, nil),
		"big: 31 files, at most 30", "small.List: 41 methods, at most 40", "small.Many: 41 methods, at most 40")
	wantFindings(t,
		lint.Rooms(tree, map[string]int{"big": 32, "small": 31, "small.List": 41, "small.Many": 41, "gone": 40}),
		"big: has 31 files now: lower its row from 32", "small: is listed as crowded and is not", "gone: is listed")
}
