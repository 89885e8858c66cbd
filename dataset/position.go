package dataset

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
)

// countedBytes bounds how far lineNumber reads to name a line.
const countedBytes = 1 << 30

// lineNumber counts from the object's start which line begins at off, when an error
// is about to name it. It is 0, not known, beyond countedBytes or when the store
// fails: the offset says it all.
func lineNumber(ctx context.Context, obj pinned, off int64) int64 {
	if off == 0 {
		return 1
	}
	if off > countedBytes {
		return 0
	}
	body, err := obj.open(ctx, 0, off)
	if err != nil {
		return 0
	}
	defer body.Close()
	return countLines(ctx, body)
}

// countLines is the number of the line that begins where a stream ends; 0 if it fails.
func countLines(ctx context.Context, r io.Reader) int64 {
	number, buf := int64(1), make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		number += int64(bytes.Count(buf[:n], []byte{'\n'}))
		if errors.Is(err, io.EOF) {
			return number
		}
		if err != nil || ctx.Err() != nil {
			return 0
		}
	}
}

// LineAt returns the line, from 1, that begins at a byte of the decoded stream of an object; key is that of the
// manifest. It is 0, not known, where lineNumber does not know it and for formats that have no lines. It reads the
// object up to that byte.
func (s *Source) LineAt(ctx context.Context, key string, off int64) int64 {
	i := slices.IndexFunc(s.manifest.Objects, func(o Object) bool { return o.Key == key })
	if _, ok := s.format.(lineFormat); !ok || i < 0 {
		return 0
	}
	o := s.manifest.Objects[i]
	obj := pinned{store: s.store, key: s.prefix + o.Key, obj: o}
	switch zipped, err := isGzip(o.Key, s.input.Compression); {
	case err != nil || off > countedBytes:
		return 0
	case !zipped:
		return lineNumber(ctx, obj, off)
	}
	body, err := obj.open(ctx, 0, o.Size)
	if err != nil {
		return 0
	}
	defer body.Close()
	var zip gunzip
	if err := zip.reset(o, body); err != nil {
		return 0
	}
	return countLines(ctx, io.LimitReader(&zip, off))
}
