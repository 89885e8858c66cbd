package main

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// operators has one mutant or more in each line but the last of every function.
const operators = `package p

import "math"

const size = 1 << 3 * 2

func less(a, b int) bool { return a < b }
func atMost(a, b int) bool { return a <= b }
func more(a, b float64) bool { return a > b }
func atLeast(a, b float64) bool { return a >= b }
func same(a *int) bool { return a == nil }
func other(a string) bool { return a != "x" }
func sum(a, b int) int { return a + b }
func nested(a, b, c int) int { return -a - b*(c+1)%7/2 }
func count(n int) (i int) {
	for ; i < n; i++ {
	}
	for n > 0 {
		n--
	}
	if n != 0 {
		return 99
	}
	return i
}
func named(s string) string { return s + "x" }

var _ = math.Pi
`

// The tests of the package notice every mutant: each condition of the list fails if its operator does anything else.
const operatorsTest = `package p

import (
	"math"
	"testing"
)

func Test(t *testing.T) {
	nan := math.NaN()
	x := 1
	for i, ok := range []bool{
		less(1, 2), !less(2, 2), !less(3, 2), atMost(1, 2), atMost(2, 2), !atMost(3, 2),
		more(2, 1), !more(2, 2), !more(1, 2), !more(nan, 1), !more(1, nan),
		atLeast(2, 1), atLeast(2, 2), !atLeast(1, 2), !atLeast(nan, 1), !atLeast(1, nan),
		same(nil), !same(&x), other("y"), !other("x"), sum(2, 3) == 5,
		nested(3, 5, 1) == -4, nested(0, 6, 2) == -2, count(3) == 3, named("y") == "yx",
		size == 16,
	} {
		if !ok {
			t.Fatal(i)
		}
	}
}
`

// module writes a module's files into a new folder, and makes it the working directory.
func module(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	files["go.mod"] = "module example.com/m\n\ngo 1.25\n"
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// every lists all mutants of a file: one for each operator and each change that swaps it.
func every(t *testing.T, file string) []mutant {
	t.Helper()
	src, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []mutant
	add := func(pos token.Pos, op string, unary bool) {
		at := src.fset.Position(pos)
		for change, to := range swaps {
			if to[op] != "" && unary == (change == "INVERT_NEGATIVES") {
				m := mutant{file: file, line: at.Line, column: at.Column, change: change, covered: true}
				all = append(all, m)
			}
		}
	}
	ast.Inspect(src.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			add(n.OpPos, n.Op.String(), false)
		case *ast.UnaryExpr:
			add(n.OpPos, n.Op.String(), true)
		case *ast.IncDecStmt:
			add(n.TokPos, n.Tok.String(), false)
		}
		return true
	})
	return all
}

// All mutants of the package are in one binary, and its tests notice each one that is live. They pass while no mutant
// is live, or begin would fail.
func TestSchema(t *testing.T) {
	module(t, map[string]string{"p/p.go": operators, "p/p_test.go": operatorsTest})
	mutants := every(t, "p/p.go")
	tried, err := begin(t.Context(), "p", t.TempDir(), mutants)
	if err != nil {
		t.Fatal(err)
	}
	tried.patience = 2 * time.Second // for the mutants that loop without end
	compiled := 0
	for _, m := range mutants {
		if _, ok := tried.schema.number[m]; !ok {
			compiled++
		}
		if dead, viable, err := tried.killed(t.Context(), m); err != nil || viable && !dead {
			t.Errorf("%v: dead %v, %v", m, dead, err)
		}
	}
	if len(mutants) < 25 || compiled > 2 { // the constant, and the + of strings
		t.Errorf("%d mutants, %d of them with a compilation of their own", len(mutants), compiled)
	}
}

// A package whose tests fail by themselves has no score.
func TestNoMutantIsLive(t *testing.T) {
	wrong := strings.Replace(operatorsTest, "less(1, 2)", "less(2, 1)", 1)
	module(t, map[string]string{"p/p.go": operators, "p/p_test.go": wrong})
	if _, err := begin(t.Context(), "p", t.TempDir(), every(t, "p/p.go")); err == nil {
		t.Error("begin takes tests that fail with no mutant live")
	}
}

// An excuse that no mutant matches any more fails the run if all mutants of its package were tried. Where a share was
// drawn, or only some files were tried, its mutant may have been left out.
func TestStaleExcuses(t *testing.T) {
	const less = "package p\n\nfunc less(a, b int) bool { return a < b }\n"
	const lessTest = "package p\n\nimport \"testing\"\n\nfunc Test(t *testing.T) {\n" +
		"\tif !less(1, 2) || less(2, 2) || less(3, 2) {\n\t\tt.Fatal()\n\t}\n}\n"
	const gremlins = `#!/bin/sh
while [ "$1" != --output ]; do shift; done
cat >"$2" <<'END'
{"files": [{"file_name": "p.go", "mutations": [
	{"type": "CONDITIONALS_BOUNDARY", "status": "RUNNABLE", "line": 3, "column": 37},
	{"type": "CONDITIONALS_NEGATION", "status": "RUNNABLE", "line": 3, "column": 37}]}]}
END
`
	module(t, map[string]string{
		"all/p.go": less, "all/p_test.go": lessTest, "share/p.go": less, "share/p_test.go": lessTest,
		"gremlins": gremlins, "deploy/mutants/excused.tsv": "",
	})
	if err := os.Chmod("gremlins", 0o700); err != nil {
		t.Fatal(err)
	}
	defer func(before []target) { targets = before }(targets)
	targets = []target{{folder: "all", most: 2}, {folder: "share", most: 1}}
	const gone = "/p.go\tmore\tCONDITIONALS_BOUNDARY\treturn a > b\tequivalent\n"
	const there = "/p.go\tless\tCONDITIONALS_BOUNDARY\tfunc less(a, b int) bool { return a < b }\tequivalent\n"
	for _, c := range []struct {
		excuses, files string
		well           bool
	}{
		{"all" + there + "share" + there, "", true},
		{"all" + gone, "", false},
		{"all" + gone, "p.go", true},
		{"share" + gone, "", true},
	} {
		if err := os.WriteFile(filepath.Join("deploy", "mutants", "excused.tsv"), []byte(c.excuses),
			0o600); err != nil {
			t.Fatal(err)
		}
		well, err := run(t.Context(), settings{gremlins: "./gremlins", files: c.files, workers: 1})
		if err != nil || well != c.well {
			t.Errorf("excuses %q, files %q: well is %v, %v", c.excuses, c.files, well, err)
		}
	}
}
