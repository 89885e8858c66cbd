package lint

import (
	"bytes"
	"fmt"
	"go/ast"
)

// Bounds on hand-written Go, in lines. A test function is a table more often than a thought, hence longer.
const (
	MaxFileLines     = 400
	MaxFuncLines     = 50
	MaxTestFuncLines = 80
)

// Sizes finds hand-written Go files and functions that are too long to read at once.
func Sizes(tree Tree) []Finding {
	var found []Finding
	for _, f := range tree.GoFiles() {
		if n := bytes.Count(f.Text, []byte("\n")); n > MaxFileLines {
			found = append(found, Finding{Path: f.Path, What: fmt.Sprintf("%d lines, at most %d: split it by meaning", n, MaxFileLines)})
		}
		found = append(found, longFuncs(f)...)
	}
	return found
}

func longFuncs(f *File) []Finding {
	most := MaxFuncLines
	if f.IsTest() {
		most = MaxTestFuncLines
	}
	var found []Finding
	for _, decl := range f.Syntax.Decls {
		d, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if n := f.line(d.End()) - f.line(d.Pos()) + 1; n > most {
			found = append(found, f.find(d.Pos(), "func %s has %d lines, at most %d: split it", d.Name.Name, n, most))
		}
	}
	return found
}
