package main

import (
	"errors"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// plant returns the changed files by their names, with every bug in them. It changes nothing on disk. The error names
// each bug that does not apply, and where.
func plant(root string, changes []change) (map[string]string, error) {
	planted := make(map[string]string)
	var faults []error
	for _, c := range changes {
		text, known := planted[c.file]
		if !known {
			source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(c.file)))
			if c.was == "" && errors.Is(err, os.ErrNotExist) {
				planted[c.file] = c.is
				continue
			}
			if err != nil {
				faults = append(faults, fmt.Errorf("bug %s: %w", c.bug, err))
				continue
			}
			text = string(source)
		}
		changed, err := c.apply(text)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		planted[c.file] = changed
	}
	for file, text := range planted {
		finished, err := finish(text)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s with its bugs: %w", file, err))
		}
		planted[file] = finished
	}
	return planted, errors.Join(faults...)
}

// apply replaces the change's lines in a file's text.
func (c change) apply(text string) (string, error) {
	if c.was == "" {
		return "", fmt.Errorf("bug %s: %s stands already, and the change is a new file", c.bug, c.file)
	}
	before, after, _ := strings.Cut("\n"+text, "\n"+c.was) // whole lines only
	if n := strings.Count("\n"+text, "\n"+c.was); n != 1 {
		return "", fmt.Errorf("bug %s: %s has these lines %d times instead of once; adapt %s:\n%s",
			c.bug, c.file, n, diffOf(c.bug), c.was)
	}
	return strings.TrimPrefix(before+"\n"+c.is+after, "\n"), nil
}

// finish imports package seeded where the text calls it, and rejects text that is not gofmt-ed.
func finish(text string) (string, error) {
	if strings.Contains(text, "seeded.Is(") {
		file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ImportsOnly)
		if err != nil {
			return "", err
		}
		end := int(file.Name.End()) - 1
		if n := len(file.Decls); n > 0 { // imports only
			end = int(file.Decls[n-1].End()) - 1
		}
		text = text[:end] + "\n\nimport \"github.com/gram-compute/gram/internal/seeded\"" + text[end:]
	}
	formatted, err := format.Source([]byte(text))
	if err == nil && string(formatted) != text {
		err = errors.New("not gofmt-ed")
	}
	return text, err
}
