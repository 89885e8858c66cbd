package lint

import (
	"bytes"
	"path"
	"regexp"
	"strings"
)

// link matches the target of a Markdown link or picture, without its fragment.
var link = regexp.MustCompile(`\]\(([^)#\s]+)(?:#[^)]*)?\)`)

// Links finds links in Markdown that lead to no file or folder of the tree.
func Links(tree Tree) []Finding {
	exists := map[string]bool{}
	for _, f := range tree {
		for p := f.Path; p != "." && !exists[p]; p = path.Dir(p) {
			exists[p] = true
		}
	}
	var found []Finding
	for _, f := range tree {
		if path.Ext(f.Path) != ".md" || inTestdata(f.Path) {
			continue
		}
		for _, at := range link.FindAllSubmatchIndex(f.Text, -1) {
			target := string(f.Text[at[2]:at[3]])
			if strings.Contains(target, "://") || exists[path.Join(f.Folder(), target)] {
				continue
			}
			line := 1 + bytes.Count(f.Text[:at[2]], []byte("\n"))
			found = append(found, Finding{Path: f.Path, Line: line, What: "link to " + target + ", which is not there"})
		}
	}
	return found
}
