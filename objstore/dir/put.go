package dir

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/gram-compute/gram/objstore"
)

// staleAfter is the age at which a file in the private folder is taken for the
// leftover of a killed process.
const staleAfter = 24 * time.Hour

// placeTries bounds how often Put makes a folder again that a Delete elsewhere took away.
const placeTries = 100

// Put stores data under key, durably.
func (s *Store) Put(ctx context.Context, key string, data []byte) (objstore.Info, error) {
	return s.PutIf(ctx, key, data, objstore.PutOptions{})
}

// PutIf stores data under key, durably, if opt allows it. Only one of several processes makes a new object; IfMatch is
// decided within this process, right before the file takes its name.
func (s *Store) PutIf(ctx context.Context, key string, data []byte, opt objstore.PutOptions) (objstore.Info, error) {
	if err := s.checkWrite(ctx, key); err != nil {
		return objstore.Info{}, s.fail("put", key, err)
	}
	lock := s.lock(key)
	lock.Lock()
	defer lock.Unlock()
	fi, err := s.put(key, data, opt)
	if err != nil {
		return objstore.Info{}, s.fail("put", key, err)
	}
	return info(key, fi), nil
}

var seed = maphash.MakeSeed()

func (s *Store) lock(key string) *sync.Mutex {
	return &s.locks[maphash.String(seed, key)%uint64(len(s.locks))]
}

func (s *Store) put(key string, data []byte, opt objstore.PutOptions) (fs.FileInfo, error) {
	name := filepath.FromSlash(key)
	if err := s.allow(name, opt); err != nil {
		return nil, err
	}
	if fi, err := s.keep(name, data); (fi != nil || err != nil) && !opt.New {
		return fi, err
	}
	temp, err := s.writeTemp(data)
	if err != nil {
		return nil, err
	}
	move := s.root.Rename
	if opt.New {
		move = s.link
	}
	if err := s.place(temp, name, move); err != nil {
		return nil, errors.Join(err, s.root.Remove(temp))
	}
	if err := s.syncAbove(name); err != nil {
		return nil, err
	}
	return s.root.Stat(name)
}

// allow decides about the object that is there now.
func (s *Store) allow(name string, opt objstore.PutOptions) error {
	if opt == (objstore.PutOptions{}) {
		return nil
	}
	fi, err := s.root.Stat(name)
	switch {
	case err == nil && fi.Mode().IsRegular():
		return opt.Allow(true, etag(fi))
	case err == nil, errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return opt.Allow(false, "") // a folder is met again when the file takes its place
	}
	return err
}

// link gives the file its name unless something has it, and takes the other one away. A file system without hard
// links leaves it at what allow found.
func (s *Store) link(temp, name string) error {
	err := s.root.Link(temp, name)
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS) {
		return s.root.Rename(temp, name)
	}
	if errors.Is(err, syscall.EEXIST) {
		if fi, failed := s.root.Lstat(name); failed == nil && !fi.IsDir() {
			return fmt.Errorf("%w: %w", objstore.ErrExists, err)
		}
	}
	if err != nil {
		return err
	}
	return s.root.Remove(temp)
}

// keep finds out whether name holds these very bytes already, and makes sure
// that they are durable: the Put that wrote them may still be at it.
func (s *Store) keep(name string, data []byte) (fs.FileInfo, error) {
	fi, err := s.root.Lstat(name)
	if err != nil || !fi.Mode().IsRegular() || fi.Size() != int64(len(data)) {
		return nil, nil // whatever is wrong, the Put proper meets it again
	}
	f, fi, err := s.open(name)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	if same, err := holds(f, data); err != nil || !same {
		return nil, err
	}
	if err := s.sync(f); err != nil {
		return nil, err
	}
	return fi, s.syncAbove(name)
}

func holds(r io.Reader, data []byte) (bool, error) {
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		if n > len(data) || !bytes.Equal(buf[:n], data[:n]) {
			return false, nil
		}
		data = data[n:]
		if err == io.EOF {
			return len(data) == 0, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// writeTemp writes a durable file of a fresh name into the private folder.
func (s *Store) writeTemp(data []byte) (string, error) {
	if err := s.root.MkdirAll(private, 0o777); err != nil {
		return "", err
	}
	temp := filepath.Join(private, rand.Text())
	f, err := s.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil {
		now := time.Now() // finer than the kernel's own stamp; see the package's text
		err = s.root.Chtimes(temp, now, now)
	}
	if err == nil {
		err = s.sync(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, s.root.Remove(temp))
	}
	return temp, nil
}

// sync makes a file durable, unless it does not outlive this process or Sync will do it.
func (s *Store) sync(f *os.File) error {
	if s.ephemeral || s.unsynced != nil {
		return nil
	}
	return f.Sync()
}

// place moves temp to name, making the folders above it.
func (s *Store) place(temp, name string, move func(temp, name string) error) error {
	for range placeTries {
		err := s.root.MkdirAll(filepath.Dir(name), 0o777)
		if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EEXIST) {
			if s.belowObject(name) {
				return fmt.Errorf("%w: a parent of it is an object: %w", objstore.ErrInvalidKey, err)
			}
			continue // another process made the folder and took it away again meanwhile
		}
		if err == nil {
			err = move(temp, name)
		}
		switch {
		case err == nil, errors.Is(err, objstore.ErrExists):
			return err
		case errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.EEXIST), errors.Is(err, syscall.ENOTEMPTY):
			err = s.clear(name)
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			err = nil // a Delete took the folder, or another Put made it an object
		}
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: its folder keeps vanishing", objstore.ErrUnavailable)
}

// belowObject reports whether a folder that name needs is an object.
func (s *Store) belowObject(name string) bool {
	for parent := filepath.Dir(name); parent != "."; parent = filepath.Dir(parent) {
		if fi, err := s.root.Stat(parent); err == nil && !fi.IsDir() {
			return true
		}
	}
	return false
}

// clear removes a folder in the place of an object, if there is no object below it.
func (s *Store) clear(name string) error {
	fi, err := s.root.Lstat(name)
	if err != nil || !fi.IsDir() {
		return nil // gone meanwhile: try again
	}
	entries, err := s.entries(name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			return fmt.Errorf("%w: it is the parent of object %s", objstore.ErrInvalidKey,
				path.Join(filepath.ToSlash(name), e.Name()))
		}
		if err := s.clear(filepath.Join(name, e.Name())); err != nil {
			return err
		}
	}
	return s.removeEmpty(name)
}

// syncAbove makes the entries of every folder above name durable. All of them: one that
// is here already may have been made a moment ago, by a Put that has not synced it yet.
func (s *Store) syncAbove(name string) error {
	if s.ephemeral {
		return nil
	}
	if s.unsynced != nil {
		s.unsynced.add(name)
		return nil
	}
	for name != "." {
		name = filepath.Dir(name)
		if err := s.syncFolder(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (s *Store) syncFolder(name string) error {
	folder, err := s.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(syncFolder(folder), folder.Close())
}

// AbortUploads removes leftovers from the private folder; of which objects they are is not known.
func (s *Store) AbortUploads(ctx context.Context, prefix string, before time.Time) (int, error) {
	n, err := s.sweep(ctx, before)
	if err != nil {
		return n, s.fail("list", prefix, err)
	}
	return n, nil
}

// sweep removes old leftovers from the private folder.
func (s *Store) sweep(ctx context.Context, before time.Time) (removed int, err error) {
	entries, err := s.entries(private)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return removed, err
		}
		fi, err := e.Info()
		if err != nil || !fi.ModTime().Before(before) {
			continue
		}
		if err := s.root.Remove(filepath.Join(private, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, err
		}
		removed++
	}
	return removed, nil
}
