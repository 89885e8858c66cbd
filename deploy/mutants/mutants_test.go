package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const code = "package p\n\nfunc (t *T) less(a, b int) bool {\n\treturn a <= b-1\n}\n"

func TestApply(t *testing.T) {
	for _, c := range []struct {
		column int
		change string
		want   string // the line; "" is an error
	}{
		{11, "CONDITIONALS_BOUNDARY", "return a < b-1"},
		{11, "CONDITIONALS_NEGATION", "return a > b-1"},
		{15, "ARITHMETIC_BASE", "return a <= b+1"},
		{15, "CONDITIONALS_BOUNDARY", ""},
		{99, "ARITHMETIC_BASE", ""},
		{11, "UNKNOWN", ""},
	} {
		got, err := mutant{line: 4, column: c.column, change: c.change}.apply(code)
		if (err == nil) != (c.want != "") || c.want != "" &&
			got != strings.Replace(code, "return a <= b-1", c.want, 1) {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}

func TestFunctionAt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.go")
	if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
	if name, text := s.functionAt(4), s.lineAt(4); name != "T.less" || text != "return a <= b-1" {
		t.Errorf("%q, %q", name, text)
	}
	if name := s.functionAt(1); name != "" {
		t.Errorf("outside of functions: %q", name)
	}
}

func TestExcuses(t *testing.T) {
	m := mutant{file: "a/b.go", function: "f", change: "ARITHMETIC_BASE", text: "x + y"}
	file := filepath.Join(t.TempDir(), "excused.tsv")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# a comment\n" + m.key() + "\tequivalent: y is 0\na/b.go\tg\tARITHMETIC_BASE\tx\tequivalent\n")
	e, err := readExcuses(file)
	if err != nil {
		t.Fatal(err)
	}
	if !e.take(m) || e.take(mutant{file: "a/b.go"}) {
		t.Error("an excuse that is there, and one that is not")
	}
	if left := e.unused(map[string]bool{"a": true}); len(left) != 1 || !strings.Contains(left[0], "\tg\t") {
		t.Errorf("unused: %q", left)
	}
	for _, judged := range []map[string]bool{nil, {"a": false}, {"b": true}, {"": true}} {
		if left := e.unused(judged); len(left) > 0 {
			t.Errorf("unused in %v: %q", judged, left)
		}
	}
	var s score
	if s.count(mutant{file: "a/b.go", function: "g", change: "ARITHMETIC_BASE", text: "x"}, true, e); s.unexcused > 0 ||
		len(e.unused(map[string]bool{"a": true})) > 0 {
		t.Errorf("an excused mutant that is killed: %+v, unused %q", s, e.unused(map[string]bool{"a": true}))
	}
	for _, bad := range []string{m.key() + "\n", m.key() + "\t \n", m.key() + "\twhy\n" + m.key() + "\twhy\n"} {
		write(bad)
		if _, err := readExcuses(file); err == nil {
			t.Errorf("taken: %q", bad)
		}
	}
}

// A package kills enough and leaves nothing unexcused, or it is not well.
func TestScore(t *testing.T) {
	for _, c := range []struct {
		score
		well bool
	}{
		{score{killed: 92, alive: 8}, true},
		{score{killed: 91, alive: 9}, false},
		{score{killed: 100, unexcused: 1}, false},
		{score{}, false},
	} {
		if c.score.well() != c.well {
			t.Errorf("%+v is well: %v", c.score, c.score.well())
		}
	}
}

// A package without mutants of the wanted files is passed over; that no package has any is an error.
func TestFilesOfNoPackage(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(filepath.Join("deploy", "mutants"), 0o700); err != nil {
		t.Fatal(err)
	}
	gremlins := filepath.Join(t.TempDir(), "gremlins")
	script := "#!/bin/sh\nwhile [ \"$1\" != --output ]; do shift; done\necho '{}' >\"$2\"\n"
	for file, text := range map[string]string{filepath.Join("deploy", "mutants", "excused.tsv"): "", gremlins: script} {
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for files, want := range map[string]string{"none.go": `files that match "none.go"`, "": "no mutants in dataset"} {
		_, err := run(t.Context(), settings{gremlins: gremlins, only: "dataset", files: files})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("files %q: %v, want %q", files, err, want)
		}
	}
}

// Each excuse is of a line that its file still has.
func TestExcusesAreOfLinesThatExist(t *testing.T) {
	list, err := readExcuses("excused.tsv")
	if err != nil {
		t.Fatal(err)
	}
	if len(list.used) == 0 {
		t.Fatal("no excuses")
	}
	for key := range list.used {
		fields := strings.Split(key, "\t")
		source, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(fields[0])))
		if err != nil {
			t.Error(err)
			continue
		}
		found := false
		for line := range strings.Lines(string(source)) {
			found = found || strings.TrimSpace(line) == fields[3]
		}
		if !found {
			t.Errorf("%s has no line %q", fields[0], fields[3])
		}
	}
}
