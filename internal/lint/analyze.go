package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// Scope is where a group of analyzers applies.
type Scope struct {
	Folders   []string // with the folders below; each must hold a package
	Analyzers []*analysis.Analyzer
}

// Scopes lists the typed rules by folder.
func Scopes() []Scope {
	return []Scope{
		{[]string{"kernelops", "dataset", "jobs"}, Numeric()},
		{[]string{"coordinator/state", "coordinator/schedule"}, Decisions()},
		{[]string{"coordinator/state"}, []*analysis.Analyzer{NoFloats}},
	}
}

// Analyze runs a scope's analyzers over what ships from its folders when built for
// goarch. It returns the findings and the files it has seen. Code that does not
// type-check cannot be judged and is an error.
func Analyze(root, goarch string, scope Scope) (found []Finding, seen []string, err error) {
	pkgs, err := load(root, goarch, scope.Folders)
	if err != nil {
		return nil, nil, err
	}
	graph, err := checker.Analyze(scope.Analyzers, pkgs, nil)
	if err != nil {
		return nil, nil, err
	}
	for _, act := range graph.Roots {
		if act.Err != nil {
			return nil, nil, fmt.Errorf("%s on %s: %w", act.Analyzer.Name, act.Package.PkgPath, act.Err)
		}
		for _, d := range act.Diagnostics {
			pos := act.Package.Fset.Position(d.Pos)
			found = append(found, Finding{Path: relative(root, pos.Filename), Line: pos.Line, What: d.Message})
		}
	}
	for _, p := range pkgs {
		for _, name := range p.GoFiles {
			seen = append(seen, relative(root, name))
		}
	}
	return Unique(found), seen, nil
}

func load(root, goarch string, folders []string) ([]*packages.Package, error) {
	cfg := &packages.Config{
		Mode: packages.LoadSyntax,
		Dir:  root,
		Env:  append(os.Environ(), "GOARCH="+goarch, "CGO_ENABLED=0"),
	}
	var kept []*packages.Package
	for _, folder := range folders {
		pkgs, err := packages.Load(cfg, "./"+folder+"/...")
		if err != nil {
			return nil, err
		}
		if len(pkgs) == 0 {
			return nil, fmt.Errorf("%s holds no package, yet rules name it", folder)
		}
		for _, p := range pkgs {
			if len(p.Errors) > 0 {
				return nil, fmt.Errorf("%s for %s: %w", p.PkgPath, goarch, p.Errors[0])
			}
			if !IsTestSupport(p.PkgPath) {
				kept = append(kept, p)
			}
		}
	}
	return kept, nil
}

func relative(root, name string) string {
	rel, err := filepath.Rel(root, name)
	if err != nil {
		return name
	}
	return filepath.ToSlash(rel)
}

// Unique sorts findings by place and drops repetitions.
func Unique(found []Finding) []Finding {
	slices.SortFunc(found, func(a, b Finding) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return strings.Compare(a.What, b.What)
	})
	return slices.Compact(found)
}
