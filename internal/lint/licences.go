package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licenceFile matches the files in which a module states its licence.
var licenceFile = regexp.MustCompile(`(?i)^(un)?licen[cs]e(-[a-z0-9]+)?(\.(md|txt))?$|^copying(\.[a-z]+)?$`)

// licences are told by words that no other has. Those that may be linked come with a name and no reason to refuse.
var licences = []struct {
	words  *regexp.Regexp
	name   string
	refuse bool
}{
	{regexp.MustCompile(`(?i)Business\s+Source\s+License`), "BUSL", true},
	{regexp.MustCompile(`(?i)Server\s+Side\s+Public\s+License`), "SSPL", true},
	{regexp.MustCompile(`(?i)Commons\s+Clause`), "Commons Clause", true},
	{regexp.MustCompile(`(?i)Elastic\s+License`), "Elastic", true},
	// it names the GNU licences that it goes with
	{regexp.MustCompile(`(?i)Mozilla\s+Public\s+License,?\s+version\s+2\.0`), "MPL-2.0", false},
	{regexp.MustCompile(`(?i)GNU\s+AFFERO\s+GENERAL\s+PUBLIC\s+LICENSE`), "AGPL", true},
	{regexp.MustCompile(`(?i)GNU\s+(LESSER\s+|LIBRARY\s+)?GENERAL\s+PUBLIC\s+LICENSE`), "GPL", true},
	{regexp.MustCompile(`(?i)Apache\s+License,?\s+Version\s+2\.0`), "Apache-2.0", false},
	{regexp.MustCompile(`(?i)Permission\s+to\s+use,\s+copy,\s+modify,\s+and(/or)?\s+distribute\s+this\s+software`),
		"ISC", false},
	{regexp.MustCompile(`(?i)Permission\s+is\s+hereby\s+granted,\s+free\s+of\s+charge`), "MIT", false},
	{regexp.MustCompile(`(?i)Redistribution\s+and\s+use\s+in\s+source\s+and\s+binary\s+forms`), "BSD", false},
}

// Licences reads the licence of each module from its folder and finds those that must not be linked, or that say
// nothing that is known. Folders are by module path.
func Licences(folders map[string]string) ([]Finding, error) {
	var found []Finding
	for module, folder := range folders { // sorted below
		names, err := licencesIn(folder)
		if err != nil {
			return nil, err
		}
		for _, refused := range names.refused {
			found = append(found, Finding{Path: module, What: "is under the " + refused + ": it may not be linked"})
		}
		if len(names.allowed)+len(names.refused) == 0 {
			found = append(found,
				Finding{Path: module,
					What: "states no licence that is known here; read it, and add it to internal/lint/licences.go"})
		}
	}
	// total order: equal ones are equal
	slices.SortFunc(found, func(a, b Finding) int { return strings.Compare(a.String(), b.String()) })
	return found, nil
}

type licenceNames struct{ allowed, refused []string }

func licencesIn(folder string) (licenceNames, error) {
	var names licenceNames
	entries, err := os.ReadDir(folder)
	if err != nil {
		return names, fmt.Errorf("licences: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return names, fmt.Errorf("licences: %w", err)
		}
		for _, l := range licences {
			if !l.words.Match(text) {
				continue
			}
			if l.refuse {
				names.refused = append(names.refused, l.name)
			} else {
				names.allowed = append(names.allowed, l.name)
			}
			break // each file states one, or the first that counts
		}
	}
	return names, nil
}
