package dir

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
)

// Delete removes key, and the folders that it leaves empty.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := s.checkWrite(ctx, key); err != nil {
		return s.fail("delete", key, err)
	}
	lock := s.lock(key)
	lock.Lock()
	defer lock.Unlock()
	if err := s.remove(filepath.FromSlash(key)); err != nil {
		return s.fail("delete", key, err)
	}
	return nil
}

func (s *Store) remove(name string) error {
	fi, err := s.root.Lstat(name)
	if missing(err) || err == nil && fi.IsDir() {
		return nil // a folder is no object
	}
	if err == nil {
		err = s.root.Remove(name)
	}
	if err != nil && !missing(err) {
		return err
	}
	if s.unsynced != nil {
		s.unsynced.add(name)
	} else if err := s.syncFolder(filepath.Dir(name)); err != nil && !missing(err) {
		return err
	}
	for parent := filepath.Dir(name); parent != "."; parent = filepath.Dir(parent) {
		if s.removeEmpty(parent) != nil {
			break // not empty, most likely; an empty folder left behind harms nobody
		}
	}
	return nil
}

func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func (s *Store) removeEmpty(name string) error {
	parent, err := s.root.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(removeFolder(parent, filepath.Base(name)), parent.Close())
}
