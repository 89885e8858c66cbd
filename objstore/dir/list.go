package dir

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/gram-compute/gram/objstore"
)

// List yields the objects below prefix in byte order of key. It holds the
// entries of one folder per level at a time.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[objstore.Info, error] {
	return func(yield func(objstore.Info, error) bool) {
		w := &walk{ctx: ctx, store: s, prefix: prefix, yield: yield}
		err := objstore.ValidPrefix(prefix)
		if err == nil {
			folder, _ := path.Split(prefix)
			err = w.folder(strings.TrimSuffix(folder, "/"))
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(objstore.Info{}, s.fail("list", prefix, err))
		}
	}
}

// errStopped: the caller wants no more.
var errStopped = errors.New("listing stopped")

type walk struct {
	ctx    context.Context
	store  *Store
	prefix string
	yield  func(objstore.Info, error) bool
}

// folder yields what lies below the folder key ("" for the root). Its entries
// are taken in order of name, a folder's with its slash: "a-b" comes before
// "a/c", though the folder "a" comes before "a-b".
func (w *walk) folder(key string) error {
	entries, err := w.store.entries(filepath.FromSlash(cmp.Or(key, ".")))
	if err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(sortName(a), sortName(b)) })
	for _, e := range entries {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if e.Name() == private {
			continue
		}
		if err := w.entry(path.Join(key, e.Name()), e); err != nil {
			return err
		}
	}
	return nil
}

func sortName(e fs.DirEntry) string {
	if e.IsDir() {
		return e.Name() + "/"
	}
	return e.Name()
}

func (w *walk) entry(key string, e fs.DirEntry) error {
	switch {
	case e.IsDir():
		if below := key + "/"; strings.HasPrefix(below, w.prefix) || strings.HasPrefix(w.prefix, below) {
			return w.folder(key)
		}
		return nil
	case !strings.HasPrefix(key, w.prefix):
		return nil
	}
	fi, err := w.stat(key, e)
	if err != nil || fi == nil {
		return err
	}
	if err := objstore.ValidKey(key); err != nil {
		return fmt.Errorf("%w: rename the file to list this folder", err)
	}
	if !w.yield(info(key, fi), nil) {
		return errStopped
	}
	return nil
}

// stat describes the object key, or is nil if the entry is not an object.
func (w *walk) stat(key string, e fs.DirEntry) (fs.FileInfo, error) {
	if e.Type()&fs.ModeSymlink != 0 {
		return w.follow(key)
	}
	fi, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // deleted since the folder was read
	}
	if err != nil || !fi.Mode().IsRegular() {
		return nil, err
	}
	return fi, nil
}

func (w *walk) follow(key string) (fs.FileInfo, error) {
	fi, err := w.store.root.Stat(filepath.FromSlash(key))
	if err == nil && !fi.Mode().IsRegular() {
		err = fmt.Errorf("it leads to %s", fi.Mode().Type())
	}
	if err != nil {
		return nil, fmt.Errorf("%w: the symbolic link %q does not lead to a file in this folder; remove it or put the file in its place: %w",
			objstore.ErrInvalidKey, key, err)
	}
	return fi, nil
}

// entries reads a folder; a missing one is empty.
func (s *Store) entries(name string) ([]fs.DirEntry, error) {
	folder, err := s.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may turn out to be a pipe
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := folder.ReadDir(-1)
	if errors.Is(err, syscall.ENOTDIR) { // an object, where the prefix has a folder
		entries, err = nil, nil
	}
	return entries, errors.Join(err, folder.Close())
}
