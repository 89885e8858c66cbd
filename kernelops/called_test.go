package kernelops

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestEveryOperationIsCalled: an operation that no job calls, by another operation at least, is tuned and tested for
// nothing.
func TestEveryOperationIsCalled(t *testing.T) {
	var source strings.Builder
	for _, root := range []string{".", filepath.Join("..", "jobs")} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			source.Write(comments.ReplaceAll(text, nil))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	methods := reflect.TypeFor[*Set]()
	for i := range methods.NumMethod() {
		name := methods.Method(i).Name
		if !regexp.MustCompile(`\w\.` + name + `\b`).MatchString(source.String()) {
			t.Errorf("neither a job nor another operation calls %s: remove it", name)
		}
	}
}

var comments = regexp.MustCompile(`//.*`)
