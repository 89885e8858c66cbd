package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// block returns the first fenced block of a language in a page, and what follows it.
func block(t *testing.T, page, language string) (text, rest string) {
	t.Helper()
	_, after, found := strings.Cut(page, "\n```"+language+"\n")
	text, rest, ends := strings.Cut(after, "\n```\n")
	if !found || !ends {
		t.Fatalf("no block of %q", language)
	}
	return text + "\n", rest
}

// The spec of README makes what README says, to the digest.
func TestTheSpecOfREADME(t *testing.T) {
	t.Parallel() // mostly waits for an election
	page, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t)
	testdata, err := filepath.Abs(filepath.Join("..", "..", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(testdata, filepath.Join(c.app.dir, "testdata")); err != nil {
		t.Fatal(err)
	}
	spec, rest := block(t, string(page), "yaml")
	c.want(0, c.run("run", "-f", c.writeSpec(spec)))
	told, _ := block(t, rest, "")
	for line := range strings.Lines(told) {
		if !strings.Contains(c.stdout.String(), line) {
			t.Errorf("gram run does not print %q:\n%s", line, c.stdout.String())
		}
	}
}
