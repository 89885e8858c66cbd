package lint

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Bounds on what one can keep in mind of a package: hand-written files without tests, and methods of one type.
const (
	MaxPackageFiles = 30
	MaxTypeMethods  = 40
)

// wide are the folders where one file is one operation, format or verb.
var wide = []string{"kernelops", "dataset", "cmd/gram"}

// Rooms finds packages with too many files and types with too many methods. The crowded are those of today, by name
// ("folder" or "folder.Type") with their counts: such a count may only fall, and is then lowered in the list.
func Rooms(tree Tree, crowded map[string]int) []Finding {
	files, methods := counts(tree)
	var found []Finding
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !slices.Contains(wide, name) {
			found = append(found, room(name, "files", files[name], MaxPackageFiles, crowded)...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		found = append(found, room(name, "methods", methods[name], MaxTypeMethods, crowded)...)
	}
	for _, name := range slices.Sorted(maps.Keys(crowded)) {
		if files[name]+methods[name] == 0 {
			found = append(found, Finding{Path: name, What: "is listed as crowded and is not there: remove its row"})
		}
	}
	return found
}

func room(name, what string, n, most int, crowded map[string]int) []Finding {
	listed, ok := crowded[name]
	switch {
	case ok && n <= most:
		return []Finding{{Path: name, What: "is listed as crowded and is not: remove its row"}}
	case ok && n < listed:
		return []Finding{{Path: name, What: fmt.Sprintf("has %d %s now: lower its row from %d", n, what, listed)}}
	case n > max(most, listed):
		return []Finding{{Path: name, What: fmt.Sprintf("%d %s, at most %d: make rooms", n, what, max(most, listed))}}
	}
	return nil
}

// counts returns the files of each folder and the methods of each type, tests left out.
func counts(tree Tree) (files, methods map[string]int) {
	files, methods = map[string]int{}, map[string]int{}
	seen := map[string]bool{} // a method may be there once for each platform
	for _, f := range tree.GoFiles() {
		if f.IsTest() {
			continue
		}
		files[f.Folder()]++
		for _, decl := range f.Syntax.Decls {
			d, ok := decl.(*ast.FuncDecl)
			if !ok || d.Recv == nil || len(d.Recv.List) != 1 {
				continue
			}
			of := f.Folder() + "." + receiver(d.Recv.List[0].Type)
			if method := of + "." + d.Name.Name; !seen[method] {
				seen[method] = true
				methods[of]++
			}
		}
	}
	return files, methods
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// Crowded reads the list of today's crowded packages and types: a name, a tab and a count on each line.
func Crowded(text []byte) (map[string]int, error) {
	crowded := map[string]int{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, count, _ := strings.Cut(line, "\t")
		n, err := strconv.Atoi(count)
		if err != nil {
			return nil, fmt.Errorf("crowded: %q: %w", line, err)
		}
		crowded[name] = n
	}
	return crowded, nil
}
