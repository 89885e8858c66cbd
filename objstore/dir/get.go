package dir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/gram-compute/gram/objstore"
)

// Get opens key for reading.
func (s *Store) Get(ctx context.Context, key string, opt objstore.GetOptions) (io.ReadCloser, objstore.Info, error) {
	if err := s.check(ctx, key); err != nil {
		return nil, objstore.Info{}, s.fail("get", key, err)
	}
	f, fi, err := s.open(key)
	if err != nil {
		return nil, objstore.Info{}, s.fail("get", key, err)
	}
	r, err := s.reader(ctx, key, f, fi, opt)
	if err != nil {
		return nil, objstore.Info{}, s.fail("get", key, errors.Join(err, f.Close()))
	}
	return r, info(key, fi), nil
}

func (s *Store) open(key string) (*os.File, fs.FileInfo, error) {
	// Without O_NONBLOCK, opening a named pipe would wait for a writer.
	f, err := s.root.OpenFile(filepath.FromSlash(key), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	fi, err := f.Stat()
	if err == nil {
		err = regular(fi)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, fi, nil
}

func (s *Store) reader(ctx context.Context, key string, f *os.File, fi fs.FileInfo, opt objstore.GetOptions) (*reader,
	error) {
	if tag := etag(fi); opt.IfMatch != "" && opt.IfMatch != tag {
		return nil, fmt.Errorf("%w: ETag is %s, not %s", objstore.ErrChanged, tag, opt.IfMatch)
	}
	start, length, err := opt.Resolve(fi.Size())
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(start, io.SeekStart); err != nil {
		return nil, err
	}
	return &reader{ctx: ctx, store: s, key: key, file: f, opened: fi, left: length}, nil
}

// reader gives exactly the bytes promised, of one version of the file.
type reader struct {
	ctx    context.Context
	store  *Store
	key    string
	file   *os.File
	opened fs.FileInfo // as it was when opened
	left   int64
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, r.store.fail("get", r.key, err)
	}
	if r.left == 0 {
		return 0, r.end()
	}
	n, err := r.file.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	switch {
	case err == io.EOF:
		return n, r.store.fail("get", r.key,
			fmt.Errorf("%w: %d bytes are missing; the file was cut short while being read",
				io.ErrUnexpectedEOF, r.left))
	case err != nil:
		return n, r.store.fail("get", r.key, err)
	}
	return n, nil
}

// end is io.EOF, unless the file was written to since it was opened. The ctime
// is left out here: it moves when a Put replaces the name, which harms no reader.
func (r *reader) end() error {
	now, err := r.file.Stat()
	if err != nil {
		return r.store.fail("get", r.key, err)
	}
	if now.Size() != r.opened.Size() || !now.ModTime().Equal(r.opened.ModTime()) {
		return r.store.fail("get", r.key,
			fmt.Errorf("%w: the file was written to while being read", objstore.ErrChanged))
	}
	return io.EOF
}

func (r *reader) Close() error { return r.file.Close() }
