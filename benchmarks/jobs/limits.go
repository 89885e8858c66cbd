package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// limitLine is a line of the file of limits.
var limitLine = regexp.MustCompile("^\\* `([a-z0-9-]+)`: (.+)$")

// readLimits reads what the file says of a machine: below the heading of its name, a line for
// a goal. A goal that there is not is an error, or the file would say old things.
func readLimits(path, slug string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, g := range goals() {
		known[g.id] = true
	}
	why, here := map[string]string{}, false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			here = heading == slug
		}
		m := limitLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if !known[m[1]] {
			return nil, fmt.Errorf("%s: there is no goal %q", path, m[1])
		}
		if here {
			why[m[1]] = m[2]
		}
	}
	return why, nil
}
