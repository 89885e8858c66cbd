package lint

import (
	"bytes"
	"go/ast"
	"path"
	"regexp"
)

// Sleeps finds time.Sleep: in a test it is a guess about another goroutine, elsewhere no context ends it.
func Sleeps(tree Tree) []Finding {
	var found []Finding
	for _, f := range tree.GoFiles() {
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "Sleep" {
				return true
			}
			if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == importName(f.Syntax, "time") {
				found = append(found, f.find(sel.Pos(), "time.Sleep: wait for a condition, a channel or ctx.Done()"))
			}
			return true
		})
	}
	return found
}

// importName returns the name by which file knows the package at path; "" if it does not import it.
func importName(file *ast.File, pkg string) string {
	for _, spec := range file.Imports {
		if importPath(spec) != pkg {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path.Base(pkg)
	}
	return ""
}

// address matches the folders of one machine and the hosts of package registries.
var address = regexp.MustCompile(
	`(?m)(^|[^\w.])/(?:work|farm|root|tmp|home)/|proxy\.golang|registry\.npm|deb\.debian|files\.pythonhosted`)

// Addresses finds what holds on one machine or network only.
func Addresses(tree Tree) []Finding {
	var found []Finding
	for _, f := range tree {
		if f.IsBinary() || path.Base(f.Path) == "go.sum" {
			continue
		}
		for _, at := range address.FindAllIndex(f.Text, -1) {
			line := 1 + bytes.Count(f.Text[:at[1]], []byte("\n"))
			found = append(found, Finding{Path: f.Path, Line: line, What: "a path of one machine or a registry's host"})
		}
	}
	return found
}
