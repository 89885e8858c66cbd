// Package dir is an object store in a directory: key "a/b" is the file a/b
// below the root. It serves laptop mode and reads folders that people filled by hand.
//
// Everything goes through os.Root: neither ".." nor a symbolic link leads out.
//
// Put writes a file in the private folder .gram.tmp, fsyncs it, renames it into
// place and fsyncs every folder above it; so an object is there whole or not at
// all, and once Put returns nil it survives a power cut as far as the disk keeps
// its word. A Put of the bytes that are already there changes nothing.
//
// # ETag
//
// The ETag digests what the file system says of the file: size, inode, time of
// last write and time of last change (ctime). Hashing the content instead would read every
// input twice, and would have to trust the same times anyway when the next range
// of the file is read. The ctime cannot be set by a program, so an edit in
// place is noticed even where the editor restores size and mtime; but ctime also
// moves when a file is only renamed, linked or chmod-ed, so unequal ETags do not
// prove unequal bytes. The kernel's own times move in ticks of a few milliseconds: Put
// stamps the mtime from the finer clock instead, and what remains is an outside program that
// writes a file twice in place within a tick, keeping its size, with a listing in between.
//
// If-Match is checked on the open file, and again at its end: a file written in
// place while it is being read ends in ErrChanged, not in a mixture.
//
// # What is an object
//
// Regular files, and symbolic links to regular files inside the root. Devices,
// sockets and pipes are not. A listing that meets any other symbolic link fails
// rather than leave input out in silence.
package dir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/gram-compute/gram/objstore"
)

// private is the folder for files being written. No key has a segment of this name.
const private = ".gram.tmp"

// Options says how to open a directory.
type Options struct {
	// ReadOnly makes Put and Delete fail with ErrDenied and leaves the directory untouched.
	ReadOnly bool
	// Within, when set, is a directory that the store's own must lie in, also
	// once symbolic links are followed.
	Within string
	// Ephemeral is for a directory that is removed before the process that opened it ends: Put does not wait for the
	// disk.
	Ephemeral bool
	// Deferred is for a directory whose objects count only once the process has called Sync: Put does not wait for the
	// disk.
	Deferred bool
}

// Store is a directory of objects.
type Store struct {
	root      *os.Root
	name      string // absolute path
	readOnly  bool
	ephemeral bool
	unsynced  *unsynced      // nil unless deferred
	locks     [64]sync.Mutex // by hash of key: one Put of a key at a time
}

var (
	_ objstore.Store         = (*Store)(nil)
	_ objstore.UploadAborter = (*Store)(nil)
)

// Open opens the directory at path. Unless read-only it is made when missing, and files
// that a killed process left in the private folder are removed once they are a day old.
func Open(path string, opt Options) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	root, err := openRoot(path, opt)
	if err != nil {
		return nil, fmt.Errorf("open directory store %s: %w", path, mapErr(err))
	}
	s := &Store{root: root, name: path, readOnly: opt.ReadOnly, ephemeral: opt.Ephemeral}
	if opt.Deferred {
		s.unsynced = &unsynced{names: map[string]bool{}}
	}
	if !s.readOnly {
		if _, err := s.sweep(context.Background(), time.Now().Add(-staleAfter)); err != nil {
			return nil, errors.Join(fmt.Errorf("sweep directory store %s: %w", path, err), root.Close())
		}
	}
	return s, nil
}

func openRoot(path string, opt Options) (*os.Root, error) {
	if opt.Within == "" {
		if !opt.ReadOnly {
			if err := os.MkdirAll(path, 0o777); err != nil {
				return nil, err
			}
		}
		return os.OpenRoot(path)
	}
	rel, err := filepath.Rel(opt.Within, path)
	if err != nil {
		return nil, err
	}
	outer, err := os.OpenRoot(opt.Within)
	if err != nil {
		return nil, err
	}
	defer outer.Close()
	if !opt.ReadOnly {
		if err := outer.MkdirAll(rel, 0o777); err != nil {
			return nil, err
		}
	}
	return outer.OpenRoot(rel)
}

// Close releases the directory. Readers already open stay usable.
func (s *Store) Close() error { return s.root.Close() }

// String gives the store's URI.
func (s *Store) String() string { return "file://" + filepath.ToSlash(s.name) }

// Stat describes key.
func (s *Store) Stat(ctx context.Context, key string) (objstore.Info, error) {
	if err := s.check(ctx, key); err != nil {
		return objstore.Info{}, s.fail("stat", key, err)
	}
	fi, err := s.root.Stat(filepath.FromSlash(key))
	if err == nil {
		err = regular(fi)
	}
	if err != nil {
		return objstore.Info{}, s.fail("stat", key, err)
	}
	return info(key, fi), nil
}

// check refuses a key that cannot be, and a context that has ended.
func (s *Store) check(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return validKey(key)
}

func (s *Store) checkWrite(ctx context.Context, key string) error {
	if err := s.check(ctx, key); err != nil {
		return err
	}
	if s.readOnly {
		return fmt.Errorf("%w: the directory was opened for reading only", objstore.ErrDenied)
	}
	return nil
}

func regular(fi fs.FileInfo) error {
	if !fi.Mode().IsRegular() {
		return fmt.Errorf("%w: not a regular file but %s", objstore.ErrNotFound, fi.Mode().Type())
	}
	return nil
}

func (s *Store) fail(op, key string, err error) error {
	return &objstore.Error{Op: op, Store: s.String(), Key: key, Err: mapErr(err)}
}

// mapErr adds the sentinel that tells what an error of the file system means.
func mapErr(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w: %w", objstore.ErrNotFound, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: %w", objstore.ErrDenied, err)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return fmt.Errorf("%w: %w", objstore.ErrInvalidKey, err)
	case errors.Is(err, syscall.EIO), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT),
		errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ESTALE):
		return fmt.Errorf("%w: %w", objstore.ErrUnavailable, err)
	case refused(err):
		return fmt.Errorf("%w: a symbolic link leads out of the directory: %w", objstore.ErrDenied, err)
	}
	return err
}

// refused tells os.Root's own refusal to leave the root, which has no exported
// name: a PathError that does not come from the operating system.
func refused(err error) bool {
	path, ok := errors.AsType[*fs.PathError](err)
	if !ok {
		return false
	}
	_, system := errors.AsType[syscall.Errno](path.Err)
	return !system && !errors.Is(err, fs.ErrClosed)
}
