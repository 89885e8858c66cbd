package lint

import (
	"path"
	"slices"
	"strings"
)

// Names finds folders and files named after nothing: a name says what is inside.
func Names(tree Tree) []Finding {
	var found []Finding
	seen := map[string]bool{}
	for _, f := range tree {
		for p := f.Path; p != "."; p = path.Dir(p) {
			if seen[p] {
				break
			}
			seen[p] = true
			if word, ok := emptyWord(path.Base(p)); ok {
				found = append(found, Finding{Path: p, What: "named " + word +
					", which says nothing: name what is inside"})
			}
		}
	}
	return found
}

func emptyWord(base string) (string, bool) {
	stem, _, _ := strings.Cut(base, ".")
	for _, word := range strings.FieldsFunc(strings.ToLower(stem), func(r rune) bool { return r == '_' || r == '-' }) {
		says := func(nothing string) bool { return strings.HasSuffix(word, nothing) }
		if slices.ContainsFunc([]string{"common", "helper", "helpers", "manager", "misc", "util", "utils"}, says) {
			return word, true
		}
	}
	return "", false
}
