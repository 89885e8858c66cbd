// Package datasettest holds what tests of readers need: contents too large to keep
// in memory, a store that serves them in ragged reads, and inputs made to do harm.
package datasettest

import (
	"bytes"
	"io"
)

// Content describes the bytes of an object without holding them: runs, one after
// another. It is an io.ReaderAt, and never changes.
type Content []Run

// Run is Bytes, repeated.
type Run struct {
	Bytes []byte
	Times int64
}

// Literal is the content data.
func Literal(data []byte) Content { return Content{{data, 1}} }

// Repeat is pattern, over and over, in at least size bytes.
func Repeat(pattern string, size int64) Run {
	n := int64(len(pattern))
	copies := max(1, 4096/n) // so that reading copies pages, not characters
	return Run{bytes.Repeat([]byte(pattern), int(copies)), (size + n*copies - 1) / (n * copies)}
}

func (r Run) size() int64 { return int64(len(r.Bytes)) * r.Times }

// Size is the number of bytes.
func (c Content) Size() int64 {
	var size int64
	for _, r := range c {
		size += r.size()
	}
	return size
}

// ReadAt reads as io.ReaderAt says.
func (c Content) ReadAt(p []byte, off int64) (int, error) {
	read := 0
	for _, r := range c {
		size := r.size()
		for off < size && read < len(p) {
			n := copy(p[read:], r.Bytes[off%int64(len(r.Bytes)):])
			read += n
			off += int64(n)
		}
		off = max(0, off-size)
	}
	if read < len(p) {
		return read, io.EOF
	}
	return read, nil
}

// Reader reads the whole content.
func (c Content) Reader() io.Reader { return io.NewSectionReader(c, 0, c.Size()) }

// Bytes makes the content real.
func (c Content) Bytes() []byte {
	data := make([]byte, c.Size())
	if _, err := c.ReadAt(data, 0); err != nil {
		panic(err) // a bug in ReadAt
	}
	return data
}
