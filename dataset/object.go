package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gram-compute/gram/objstore"
)

// pinned is one input object as the manifest saw it; it reads those bytes or fails.
type pinned struct {
	store objstore.Store
	key   string // in the store
	obj   Object
	data  []byte      // of the whole object, where it was loaded and verified
	sum   *runningSum // of an object that is verified while it is read
	ahead *fetches    // reads that have begun; nil where there are none
	head  []byte      // the first bytes, where they are known
}

// open reads the stored bytes [start, end), which must not be empty. The reader
// gives exactly that many or a fault.
func (p pinned) open(ctx context.Context, start, end int64) (io.ReadCloser, error) {
	if p.data != nil {
		return io.NopCloser(bytes.NewReader(p.data[start:end])), nil
	}
	if start == 0 && end <= int64(len(p.head)) {
		return io.NopCloser(bytes.NewReader(p.head[:end])), nil
	}
	return p.openStored(ctx, start, end)
}

// openStored is open, past what has been loaded.
func (p pinned) openStored(ctx context.Context, start, end int64) (io.ReadCloser, error) {
	body, info, err := p.ahead.get(ctx, p, start, end)
	if err != nil {
		return nil, StoreFault(p.obj.Key, err)
	}
	if info.ETag != p.obj.ETag { // a store that ignores If-Match
		err := fmt.Errorf("%w: ETag %s, planned %s", objstore.ErrChanged, info.ETag, p.obj.ETag)
		return nil, StoreFault(p.obj.Key, errors.Join(err, body.Close()))
	}
	return &exactReader{body: body, left: end - start, object: p.obj.Key, sum: p.sum, at: start}, nil
}

// exactReader passes on a known number of bytes: fewer are a fault, more are not read.
type exactReader struct {
	body   io.ReadCloser
	left   int64
	object string
	sum    *runningSum // nil where nothing is verified
	at     int64       // the next byte's place in the object
}

func (r *exactReader) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n, err := r.body.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	if r.sum != nil {
		r.sum.add(r.at, p[:n])
		r.at += int64(n)
	}
	switch {
	case r.left == 0 || err == nil:
		return n, nil
	case err == io.EOF:
		err = fmt.Errorf("the store ended the object %d bytes early: %w", r.left, io.ErrUnexpectedEOF)
	}
	return n, StoreFault(r.object, err)
}

func (r *exactReader) Close() error { return r.body.Close() }

// Sizes of the reads beyond a piece's end, that finish its last record.
const (
	firstTail = 64 << 10
	lastTail  = 1 << 20
)

// pieceReader reads an object from one byte to its end in ranges, opening each only
// when it is needed: first up to the piece's end, then short tails.
type pieceReader struct {
	ctx  context.Context
	obj  pinned
	next int64 // first byte of the next range
	end  int64 // its end
	tail int64 // length of the range after it
	body io.ReadCloser
}

func newPieceReader(ctx context.Context, obj pinned, start, end int64) *pieceReader {
	return &pieceReader{ctx: ctx, obj: obj, next: start, end: end, tail: firstTail}
}

func (r *pieceReader) Read(p []byte) (int, error) {
	for {
		if err := r.ctx.Err(); err != nil {
			return 0, err
		}
		if r.body == nil {
			if r.next == r.obj.obj.Size {
				return 0, io.EOF
			}
			if err := r.openNext(); err != nil {
				return 0, err
			}
		}
		n, err := r.body.Read(p)
		if err != io.EOF {
			return n, err
		}
		if err := r.Close(); err != nil {
			return n, StoreFault(r.obj.obj.Key, err)
		}
		if n > 0 {
			return n, nil
		}
	}
}

func (r *pieceReader) openNext() (err error) {
	r.body, err = r.obj.open(r.ctx, r.next, r.end)
	if err != nil {
		r.body = nil // not an interface around nil
		return err
	}
	size := r.obj.obj.Size
	r.next, r.end = r.end, r.end+min(r.tail, size-r.end)
	r.tail = min(2*r.tail, lastTail)
	return nil
}

// Close ends the range being read, if any.
func (r *pieceReader) Close() error {
	if r.body == nil {
		return nil
	}
	body := r.body
	r.body = nil
	return body.Close()
}
