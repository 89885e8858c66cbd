package lint

import (
	"go/ast"
	"go/token"
	"slices"
)

// Docs finds packages without a package comment and exported names without a doc comment.
func Docs(tree Tree) []Finding {
	var found []Finding
	documented := map[string]bool{} // folder
	var folders []string
	for _, f := range tree {
		if f.Syntax == nil || f.IsTest() {
			continue
		}
		if !slices.Contains(folders, f.Folder()) {
			folders = append(folders, f.Folder())
		}
		if f.Syntax.Doc.Text() != "" {
			documented[f.Folder()] = true
		}
	}
	for _, folder := range folders {
		if !documented[folder] {
			found = append(found, Finding{Path: folder, What: "no file has a package comment"})
		}
	}
	for _, f := range tree.GoFiles() {
		if !f.IsTest() {
			for _, decl := range f.Syntax.Decls {
				found = append(found, undocumented(f, decl)...)
			}
		}
	}
	return found
}

// selfEvident methods fulfil a contract of the standard library, which documents them.
var selfEvident = map[string]bool{
	"Error": true, "Unwrap": true, "Is": true, "As": true, "String": true, "GoString": true,
	"MarshalJSON": true, "UnmarshalJSON": true, "MarshalText": true, "UnmarshalText": true,
	"MarshalYAML": true, "UnmarshalYAML": true, "LogValue": true,
}

func undocumented(f *File, decl ast.Decl) []Finding {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc.Text() == "" && onExported(d.Recv) &&
			(d.Recv == nil || !selfEvident[d.Name.Name]) {
			return []Finding{f.find(d.Pos(), "exported %s has no doc comment", d.Name.Name)}
		}
	case *ast.GenDecl:
		if d.Tok != token.IMPORT && (d.Doc.Text() == "" || d.Tok == token.TYPE && d.Lparen.IsValid()) {
			return undocumentedSpecs(f, d)
		}
	}
	return nil
}

func undocumentedSpecs(f *File, d *ast.GenDecl) []Finding {
	var found []Finding
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() && s.Doc.Text()+s.Comment.Text() == "" {
				found = append(found, f.find(s.Pos(), "exported type %s has no doc comment", s.Name.Name))
			}
		case *ast.ValueSpec:
			if s.Doc.Text()+s.Comment.Text() != "" {
				continue
			}
			for _, name := range s.Names {
				if name.IsExported() {
					found = append(found, f.find(name.Pos(), "exported %s has no doc comment", name.Name))
				}
			}
		}
	}
	return found
}

// onExported reports whether a method's receiver, if it has one, is an exported type.
func onExported(recv *ast.FieldList) bool {
	if recv == nil {
		return true
	}
	t := recv.List[0].Type
	for {
		switch e := t.(type) {
		case *ast.StarExpr:
			t = e.X
		case *ast.ParenExpr:
			t = e.X
		case *ast.IndexExpr: // a generic type
			t = e.X
		case *ast.IndexListExpr:
			t = e.X
		case *ast.Ident:
			return e.IsExported()
		default:
			return false
		}
	}
}
