package audit

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// What the files may hold together: about 128 MiB, some 400,000 lines.
const (
	maxFileBytes = 16 << 20
	oldFiles     = 7
)

// File is a file that is set aside when it is full: as NAME.1, and what was NAME.1 as NAME.2, until the
// oldest goes.
type File struct {
	path  string
	limit int64 // bytes
	keep  int   // files set aside

	mu   sync.Mutex
	file *os.File
	size int64
}

// OpenFile goes on with a file, or makes it, for this user's eyes only.
func OpenFile(path string) (*File, error) { return openFile(path, maxFileBytes, oldFiles) }

func openFile(path string, limit int64, keep int) (*File, error) {
	f := &File{path: path, limit: limit, keep: keep}
	return f, f.open()
}

func (f *File) open() error {
	file, err := os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the audit log: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(fmt.Errorf("open the audit log: %w", err), file.Close())
	}
	f.file, f.size = file, info.Size()
	return nil
}

// Write implements io.Writer. A line is in one file, whole.
func (f *File) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil || f.size > 0 && f.size+int64(len(line)) > f.limit {
		if err := f.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := f.file.Write(line)
	f.size += int64(n)
	return n, err
}

// rotate sets the file aside and begins another. It may be tried again where it stopped.
func (f *File) rotate() error {
	if f.file != nil {
		err := f.file.Close()
		f.file = nil
		if err != nil {
			return fmt.Errorf("set the audit log aside: %w", err)
		}
	}
	for i := f.keep; i > 0; i-- {
		from := f.path
		if i > 1 {
			from = fmt.Sprintf("%s.%d", f.path, i-1)
		}
		if err := os.Rename(from, fmt.Sprintf("%s.%d", f.path, i)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("set the audit log aside: %w", err)
		}
	}
	return f.open()
}

// Close implements io.Closer.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
}
