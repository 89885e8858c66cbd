package lint

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"golang.org/x/mod/modfile"
)

// dependencyRow is a row of the table in docs/dependencies.md: it begins with a module path.
var dependencyRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")

// Dependencies finds modules that our files import and docs/dependencies.md does not
// explain, and those it explains but nothing imports. require is go.mod's text.
func Dependencies(imports []Import, require, explained []byte) ([]Finding, error) {
	mod, err := modfile.Parse("go.mod", require, nil)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for _, imp := range imports {
		if m := moduleOf(mod, imp.Path); m != "" {
			used[m] = true
		}
	}
	rows := map[string]bool{}
	linked, _, _ := bytes.Cut(explained, []byte("\n## Considered and left"))
	for _, row := range dependencyRow.FindAllSubmatch(linked, -1) {
		rows[string(row[1])] = true
	}
	const doc = "docs/dependencies.md"
	var found []Finding
	for _, m := range slices.Sorted(maps.Keys(used)) {
		if !rows[m] {
			found = append(found,
				Finding{Path: doc, What: fmt.Sprintf("%s is imported and has no row: give its licence and the reason",
					m)})
		}
	}
	for _, m := range slices.Sorted(maps.Keys(rows)) {
		if !used[m] {
			found = append(found, Finding{Path: doc, What: fmt.Sprintf("%s has a row and is not imported", m)})
		}
	}
	return found, nil
}

// moduleOf returns the required module that holds the package; "" where none does.
func moduleOf(mod *modfile.File, pkg string) string {
	best := ""
	for _, r := range mod.Require {
		if within(pkg, r.Mod.Path) && len(r.Mod.Path) > len(best) {
			best = r.Mod.Path
		}
	}
	return best
}
