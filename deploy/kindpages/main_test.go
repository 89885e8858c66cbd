package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The pages that are checked in are those of the declarations.
func TestPagesAreCurrent(t *testing.T) {
	folder := filepath.Join("..", "..", "docs", "kinds")
	want := pages()
	for name, text := range want {
		have, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || !bytes.Equal(have, text) {
			t.Errorf("docs/kinds/%s is not what make generate writes (%v)", name, err)
		}
	}
	if have, _ := filepath.Glob(filepath.Join(folder, "*")); len(have) != len(want) {
		t.Errorf("docs/kinds has %d files, want %d", len(have), len(want))
	}
}
