package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/gram-compute/gram/jobs"
)

// shelfBytes is what a shelf keeps in memory.
const shelfBytes = 256 << 20

// shelf keeps arrays for later: carries and roots. What does not fit into memory goes to temporary files.
type shelf struct {
	budget int64

	mu    sync.Mutex
	held  int64
	kept  map[slot]jobs.Arrays
	files map[slot]string
	dir   string // "" until there is one
	next  int
}

// slot names what is on a shelf: what phase carries for a leaf, or, with leaf below 0, the root of a tree.
type slot struct {
	phase      string
	tree, leaf int
}

func newShelf(budget int64) *shelf {
	return &shelf{budget: budget, kept: map[slot]jobs.Arrays{}, files: map[slot]string{}}
}

// put keeps arrays, in the place of what the slot had; nil empties it.
func (s *shelf) put(at slot, arrays jobs.Arrays) error {
	if err := s.drop(at); err != nil || arrays == nil {
		return err
	}
	size := arrays.EncodedSize()
	s.mu.Lock()
	if s.held+size <= s.budget {
		s.held += size
		s.kept[at] = arrays
		s.mu.Unlock()
		return nil
	}
	s.next++
	number := s.next
	s.mu.Unlock()
	dir, err := s.folder()
	if err != nil {
		return err
	}
	name := filepath.Join(dir, fmt.Sprint(number))
	if err := os.WriteFile(name, arrays.Encode(), 0o600); err != nil {
		return fmt.Errorf("keep what a later round needs: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[at] = name
	return nil
}

// get returns what a slot has; nil for nothing.
func (s *shelf) get(at slot) (jobs.Arrays, error) {
	s.mu.Lock()
	arrays, name := s.kept[at], s.files[at]
	s.mu.Unlock()
	if arrays != nil || name == "" {
		return arrays, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read what an earlier round left: %w", err)
	}
	return jobs.Decode(data)
}

func (s *shelf) drop(at slot) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if arrays, ok := s.kept[at]; ok {
		s.held -= arrays.EncodedSize()
		delete(s.kept, at)
	}
	name := s.files[at]
	delete(s.files, at)
	if name == "" {
		return nil
	}
	return os.Remove(name)
}

func (s *shelf) folder() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir != "" {
		return s.dir, nil
	}
	var err error
	if s.dir, err = os.MkdirTemp("", "gram-verify-*"); err != nil {
		return "", fmt.Errorf("make a folder for what later rounds need: %w", err)
	}
	return s.dir, nil
}

// close removes the files.
func (s *shelf) close() error {
	if s.dir == "" {
		return nil
	}
	return os.RemoveAll(s.dir)
}
