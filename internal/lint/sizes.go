package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
)

// Bounds on hand-written Go, in lines and columns. A test function is a table more often than a thought, hence longer.
const (
	MaxColumns       = 120
	tabColumns       = 4
	MaxFileLines     = 400
	MaxFuncLines     = 50
	MaxTestFuncLines = 80
)

// Sizes finds hand-written Go files and functions that are too long to read at once.
func Sizes(tree Tree) []Finding {
	var found []Finding
	for _, f := range tree.GoFiles() {
		if n := bytes.Count(f.Text, []byte("\n")); n > MaxFileLines {
			found = append(found, Finding{Path: f.Path, What: fmt.Sprintf("%d lines, at most %d: split it by meaning",
				n, MaxFileLines)})
		}
		found = append(found, longFuncs(f)...)
		found = append(found, longLines(f)...)
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

// longLines finds lines beyond MaxColumns. A string that crosses the bound is left whole, so that a search finds it.
func longLines(f *File) []Finding {
	strings := map[int]bool{} // bytes of string literals, from the quote on
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			first := f.Fset.Position(lit.Pos()).Offset
			for i := range len(lit.Value) + 1 { // with the comma behind it
				strings[first+i] = true
			}
		}
		return true
	})
	var found []Finding
	number, columns, crossing := 1, 0, -1 // crossing is the first byte beyond the bound
	for i, r := range string(f.Text) {
		switch {
		case r == '\n':
			if crossing >= 0 && !strings[crossing] {
				what := fmt.Sprintf("%d columns, at most %d: break the line", columns, MaxColumns)
				found = append(found, Finding{Path: f.Path, Line: number, What: what})
			}
			number, columns, crossing = number+1, 0, -1
			continue
		case r == '\t':
			columns += tabColumns
		default:
			columns++
		}
		if columns > MaxColumns && crossing < 0 {
			crossing = i
		}
	}
	return found
}
