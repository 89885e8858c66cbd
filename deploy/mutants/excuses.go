package main

import (
	"bufio"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
)

// excuses are the mutants that may stay alive, each with its reason: the change is equivalent, or a named test of
// another package kills it.
type excuses struct {
	mu   sync.Mutex
	used map[string]bool // by the mutant's key
}

// readExcuses reads a file of five columns: file, function, change, the line as it stands, the reason. Lines that
// begin with # are comments.
func readExcuses(file string) (*excuses, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	e := &excuses{used: make(map[string]bool)}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text := lines.Text()
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		fields := strings.Split(text, "\t")
		if len(fields) != 5 || strings.TrimSpace(fields[4]) == "" {
			return nil, fmt.Errorf("%s, line %d: %d columns, want file, function, change, line and reason", file, n,
				len(fields))
		}
		key := strings.Join(fields[:4], "\t")
		if _, twice := e.used[key]; twice {
			return nil, fmt.Errorf("%s, line %d: the mutant is excused already", file, n)
		}
		e.used[key] = false
	}
	return e, lines.Err()
}

// take reports whether a mutant, killed or not, is excused: it may stay alive.
func (e *excuses) take(m mutant) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, ok := e.used[m.key()]; !ok {
		return false
	}
	e.used[m.key()] = true
	return true
}

// unused lists the excuses of the given folders that no tried mutant matches. Only folders all of whose mutants were
// tried can be judged: elsewhere an excuse may be unused by chance.
func (e *excuses) unused(folders map[string]bool) []string {
	var left []string
	for key, used := range e.used { // sorted below
		file, _, _ := strings.Cut(key, "\t")
		if !used && folders[path.Dir(file)] {
			left = append(left, key)
		}
	}
	slices.Sort(left)
	return left
}
