package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// mutant is one small change of one file.
type mutant struct {
	file         string // below the repository's root
	function     string // "" outside of any
	line, column int
	change       string // such as "CONDITIONALS_BOUNDARY"
	text         string // the line as it stands
	covered      bool
}

// key names a mutant for an excuse; it survives when other lines move.
func (m mutant) key() string {
	return strings.Join([]string{filepath.ToSlash(m.file), m.function, m.change, m.text}, "\t")
}

func (m mutant) String() string {
	return fmt.Sprintf("%s:%d:%d %s in %s: %s", m.file, m.line, m.column, m.change, m.function, m.text)
}

// found is what Gremlins writes.
type found struct {
	Files []struct {
		Name      string `json:"file_name"`
		Mutations []struct {
			Type, Status string
			Line, Column int
		}
	}
}

// list has Gremlins find the mutants of a target. It leaves generated files out.
func list(ctx context.Context, gremlins string, t target) ([]mutant, error) {
	out, err := os.CreateTemp("", "mutants-*.json")
	if err != nil {
		return nil, err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	cmd := exec.CommandContext(ctx, gremlins, "unleash", "--dry-run", "--silent", "--output", out.Name(), "./"+t.folder)
	cmd.Env = environment()
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("gremlins of %s: %w\n%s", t.folder, err, text)
	}
	var all found
	if err := json.NewDecoder(out).Decode(&all); err != nil {
		return nil, fmt.Errorf("what gremlins wrote of %s: %w", t.folder, err)
	}
	var mutants []mutant
	for _, f := range all.Files {
		file := filepath.Join(t.folder, filepath.Base(f.Name))
		if _, err := os.Stat(file); err != nil || !t.counts(f.Name) {
			continue // a folder below has a row of its own
		}
		source, err := read(file)
		if err != nil {
			return nil, err
		}
		for _, m := range f.Mutations {
			one := mutant{file: file, line: m.Line, column: m.Column, change: m.Type, covered: m.Status == "RUNNABLE"}
			one.function, one.text = source.functionAt(m.Line), source.lineAt(m.Line)
			mutants = append(mutants, one)
		}
	}
	slices.SortFunc(mutants, func(a, b mutant) int {
		return cmp.Or(cmp.Compare(a.file, b.file), a.line-b.line, a.column-b.column, cmp.Compare(a.change, b.change))
	})
	// Gremlins turns a binary minus into a plus twice, under two names.
	return slices.CompactFunc(mutants, func(a, b mutant) bool {
		return a.file == b.file && a.line == b.line && a.column == b.column &&
			min(a.change, b.change) == "ARITHMETIC_BASE" && max(a.change, b.change) == "INVERT_NEGATIVES"
	}), nil
}

// counts reports whether a file that Gremlins names, below the target or its folder's name, belongs to the target.
func (t target) counts(name string) bool {
	name = filepath.ToSlash(name)
	dir := filepath.ToSlash(filepath.Dir(name))
	if dir != "." && dir != t.folder && !strings.HasSuffix(t.folder, "/"+dir) {
		return false
	}
	if t.files == "" {
		return true
	}
	for _, pattern := range strings.Fields(t.files) {
		if ok, err := filepath.Match(pattern, filepath.Base(name)); ok && err == nil {
			return true
		}
	}
	return false
}

// source is a parsed file.
type source struct {
	lines []string
	fset  *token.FileSet
	tree  *ast.File
}

func read(file string) (*source, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s := &source{lines: strings.Split(string(text), "\n"), fset: token.NewFileSet()}
	s.tree, err = parser.ParseFile(s.fset, file, text, 0)
	return s, err
}

func (s *source) lineAt(line int) string { return strings.TrimSpace(s.lines[line-1]) }

// functionAt names the function around a line, with its receiver's type.
func (s *source) functionAt(line int) string {
	for _, decl := range s.tree.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || line < s.fset.Position(f.Pos()).Line || line > s.fset.Position(f.End()).Line {
			continue
		}
		if f.Recv == nil || len(f.Recv.List) == 0 {
			return f.Name.Name
		}
		kind := f.Recv.List[0].Type
		if star, ok := kind.(*ast.StarExpr); ok {
			kind = star.X
		}
		if generic, ok := kind.(*ast.IndexExpr); ok {
			kind = generic.X
		}
		if name, ok := kind.(*ast.Ident); ok {
			return name.Name + "." + f.Name.Name
		}
		return f.Name.Name
	}
	return ""
}
