package dir

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
)

// unsynced are the names of files that were put or deleted since the last Sync.
type unsynced struct {
	mu    sync.Mutex
	names map[string]bool
}

func (u *unsynced) add(name string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.names[name] = true
}

// take returns the names, sorted, and forgets them.
func (u *unsynced) take() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	names := slices.Sorted(maps.Keys(u.names))
	clear(u.names)
	return names
}

// syncsAtOnce is how many files Sync waits for at a time: file systems commit several in one go.
const syncsAtOnce = 8

// Sync makes durable what was put into a Deferred store, and deleted from it. After an error, which objects survive a
// power cut is not known.
func (s *Store) Sync(ctx context.Context) error {
	if s.unsynced == nil {
		return nil
	}
	files := s.unsynced.take()
	folders := map[string]bool{}
	for _, name := range files {
		for name != "." {
			name = filepath.Dir(name)
			folders[name] = true
		}
	}
	err := s.syncAll(ctx, files, s.syncFile)
	if err == nil { // what a folder names comes first
		err = s.syncAll(ctx, slices.Sorted(maps.Keys(folders)), s.syncFolder)
	}
	if err != nil {
		return s.fail("sync", "", err)
	}
	return nil
}

// syncFile makes the content of a file durable.
func (s *Store) syncFile(name string) error {
	f, err := s.root.OpenFile(name, toSync, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// syncAll makes files or folders durable; those that are gone again need nothing.
func (s *Store) syncAll(ctx context.Context, names []string, sync func(name string) error) error {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(syncsAtOnce)
	for _, name := range names {
		all.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := sync(name); err != nil && !missing(err) {
				return err
			}
			return nil
		})
	}
	return all.Wait()
}
