// Package scratch keeps bytes that can be made again in files, bounded, for as long as a process lives. What is read
// back is what was written, or an error.
package scratch

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Errors of Put and Read.
var (
	// ErrFull: the directory has as many bytes as it may.
	ErrFull = errors.New("the scratch directory is full")
	// ErrDamaged: a file does not have the bytes that were written.
	ErrDamaged = errors.New("the file in the scratch directory is damaged")
)

// The directory of a process begins with madeOf; one that is being made with making.
const (
	madeOf = "gram-scratch-"
	making = ".gram-new-"
)

// Dir is the directory of this process within one that several may share.
type Dir struct {
	path  string
	lock  *os.File // held while this process lives
	limit int64
	write func(path string, data []byte) error

	mu   sync.Mutex
	used int64
	next uint64
}

// Open makes a directory for this process within parent, which is made if it is not there, for limit bytes. What
// processes that have ended left there is removed, but for the empty directory of one that ended while it made its own.
func Open(parent string, limit int64) (*Dir, error) {
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, fmt.Errorf("make the scratch directory: %w", err)
	}
	if err := removeLeft(parent); err != nil {
		return nil, fmt.Errorf("look into the scratch directory: %w", err)
	}
	name := rand.Text()
	early, path := filepath.Join(parent, making+name), filepath.Join(parent, madeOf+name)
	if err := os.Mkdir(early, 0o700); err != nil {
		return nil, fmt.Errorf("make a directory in the scratch directory: %w", err)
	}
	lock, err := locked(early)
	if err == nil { // nobody finds it under its name before it is locked
		err = os.Rename(early, path)
	}
	if err != nil {
		if lock != nil {
			err = errors.Join(err, lock.Close())
		}
		return nil, errors.Join(fmt.Errorf("lock a directory in the scratch directory: %w", err), os.Remove(early))
	}
	return &Dir{path: path, lock: lock, limit: limit, write: writeFile}, nil
}

// removeLeft removes the directories that no process holds.
func removeLeft(parent string) error {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !entry.IsDir() || !strings.HasPrefix(entry.Name(), madeOf) {
			continue
		}
		path := filepath.Join(parent, entry.Name())
		lock, err := locked(path)
		if err != nil {
			continue // held, or another user's
		}
		if err := errors.Join(os.RemoveAll(path), lock.Close()); err != nil {
			return err
		}
	}
	return nil
}

// locked opens a directory and locks it, unless another process has.
func locked(path string) (*os.File, error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := tryLock(dir); err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return dir, nil
}

// writeFile writes a new file that only this user may read. It need not survive a power cut.
func writeFile(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// Put writes a file. If that fails, nothing is left of it.
func (d *Dir) Put(data []byte) (*File, error) {
	size := int64(len(data))
	name, err := d.reserve(size)
	if err != nil {
		return nil, err
	}
	f := &File{dir: d, path: filepath.Join(d.path, name), size: size, sum: sha256.Sum256(data)}
	if err := d.write(f.path, data); err != nil {
		return nil, errors.Join(fmt.Errorf("write to the scratch directory: %w", err), f.Remove())
	}
	return f, nil
}

// reserve takes room for a file and names it.
func (d *Dir) reserve(size int64) (name string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if size > d.limit-d.used {
		return "", fmt.Errorf("%w: %d of %d bytes are in use, and %d more are too many", ErrFull, d.used, d.limit, size)
	}
	d.used += size
	d.next++
	return fmt.Sprintf("%016x", d.next), nil
}

// Used is how many bytes are in files.
func (d *Dir) Used() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.used
}

// Close removes the directory. Its files are not to be used any more.
func (d *Dir) Close() error {
	err := os.RemoveAll(d.path)
	return errors.Join(err, d.lock.Close())
}

// File is one that Put wrote. It is removed once.
type File struct {
	dir  *Dir
	path string
	size int64
	sum  [sha256.Size]byte
}

// Read returns what was written; ErrDamaged if the file has other bytes, or more, or fewer.
func (f *File) Read() ([]byte, error) {
	info, err := os.Lstat(f.path)
	if err != nil {
		return nil, fmt.Errorf("read from the scratch directory: %w", err)
	}
	if info.Size() != f.size || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s has %d bytes, not %d", ErrDamaged, f.path, info.Size(), f.size)
	}
	data, err := os.ReadFile(f.path)
	if err != nil {
		return nil, fmt.Errorf("read from the scratch directory: %w", err)
	}
	if sha256.Sum256(data) != f.sum {
		return nil, fmt.Errorf("%w: %s does not have the digest of what was written", ErrDamaged, f.path)
	}
	return data, nil
}

// Remove removes the file. It need not be there.
func (f *File) Remove() error {
	f.dir.mu.Lock()
	f.dir.used -= f.size
	f.dir.mu.Unlock()
	if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove from the scratch directory: %w", err)
	}
	return nil
}
