package dataset

import (
	"context"
	"io"
	"sync"

	"github.com/gram-compute/gram/objstore"
)

// aheadChunk is how many bytes a fetch hands over at a time.
const aheadChunk = 256 << 10

// fetches are reads that have begun before somebody needs them. Each is taken by one reader and is the reader's from
// then on, or ends with its context.
type fetches struct {
	mu   sync.Mutex
	open map[fetchKey]*fetch
}

type fetchKey struct {
	key        string
	start, end int64
}

// fetch is one read in the background: what Get returned, and then the body in chunks.
type fetch struct {
	ready  chan struct{} // closed once info and err are set
	info   objstore.Info
	err    error
	chunks chan []byte   // has room for all of them
	failed error         // of the body and its end, once chunks is closed
	stop   func()        // ends the read
	let    func() bool   // lets it outlive the context that it began with
	ended  chan struct{} // closed when nothing of it runs any more
}

// Ahead begins to fetch what Blocks will read of a shard first, unless that is more than room bytes. It returns at
// once. What nobody has read when ctx ends is dropped. Formats other than lines are left to Blocks.
func (s *Source) Ahead(ctx context.Context, shard Shard, room int64) {
	if _, lines := s.format.(lineFormat); !lines || len(shard.Pieces) == 0 {
		return
	}
	piece := shard.Pieces[0]
	obj, _, err := s.object(piece)
	if err != nil {
		return // Blocks says so
	}
	start, end := piece.Start, piece.End
	switch {
	case loads(obj.obj):
		start, end = 0, obj.obj.Size
	case start > 0:
		start-- // as lineFormat.read
	}
	if end-start > room {
		return
	}
	s.ahead.begin(ctx, obj, fetchKey{obj.key, start, end})
}

func (f *fetches) begin(ctx context.Context, obj pinned, at fetchKey) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open[at] != nil || ctx.Err() != nil {
		return
	}
	if f.open == nil {
		f.open = map[fetchKey]*fetch{}
	}
	reading, cancel := context.WithCancel(context.WithoutCancel(ctx))
	one := &fetch{ready: make(chan struct{}), ended: make(chan struct{}), stop: cancel,
		chunks: make(chan []byte, (at.end-at.start)/aheadChunk+1)}
	f.open[at] = one
	one.let = context.AfterFunc(ctx, func() {
		if f.drop(at, one) {
			one.stop()
		}
	})
	go one.run(reading, obj, at)
}

// take removes a fetch for its reader; nil if there is none.
func (f *fetches) take(at fetchKey) *fetch {
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.open[at]
	if one != nil {
		delete(f.open, at)
		one.let()
	}
	return one
}

// drop removes a fetch unless a reader has taken it.
func (f *fetches) drop(at fetchKey, one *fetch) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open[at] != one {
		return false
	}
	delete(f.open, at)
	return true
}

// get is store.Get for a range that a fetch may have begun to read.
func (f *fetches) get(ctx context.Context, p pinned, start, end int64) (io.ReadCloser, objstore.Info, error) {
	if f != nil {
		if one := f.take(fetchKey{p.key, start, end}); one != nil {
			select {
			case <-one.ready:
			case <-ctx.Done():
				one.stop()
				return nil, objstore.Info{}, context.Cause(ctx)
			}
			if one.err == nil {
				return &fetched{ctx: ctx, from: one, left: end - start}, one.info, nil
			}
			one.stop() // and ask once more: the error may have passed
		}
	}
	return p.store.Get(ctx, p.key, objstore.GetOptions{Offset: start, Length: end - start, IfMatch: p.obj.ETag})
}

// run reads the range to its end.
func (f *fetch) run(ctx context.Context, obj pinned, at fetchKey) {
	defer close(f.ended)
	defer close(f.chunks)
	body, info, err := obj.store.Get(ctx, obj.key,
		objstore.GetOptions{Offset: at.start, Length: at.end - at.start, IfMatch: obj.obj.ETag})
	f.info, f.err = info, err
	close(f.ready)
	if err != nil {
		return
	}
	defer func() {
		if closed := body.Close(); f.failed == io.EOF && closed != nil {
			f.failed = closed
		}
	}()
	for left := at.end - at.start; f.failed == nil; {
		chunk := make([]byte, min(left, aheadChunk)+1) // one byte more meets the end
		n, err := io.ReadFull(body, chunk)
		more := int64(n) > left // than was asked for, which is not read
		if n = int(min(int64(n), left)); n > 0 {
			f.chunks <- chunk[:n]
		}
		left -= int64(n)
		if f.failed = err; more || err == io.ErrUnexpectedEOF {
			f.failed = io.EOF
		}
	}
}

// fetched reads what a fetch has, and waits for what it has not yet.
type fetched struct {
	ctx  context.Context
	from *fetch
	rest []byte
	left int64 // bytes that have not been read
}

func (r *fetched) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		select {
		case chunk, ok := <-r.from.chunks:
			if !ok {
				return 0, r.from.failed
			}
			r.rest = chunk
		case <-r.ctx.Done():
			return 0, context.Cause(r.ctx)
		}
	}
	n := copy(p, r.rest)
	r.rest, r.left = r.rest[n:], r.left-int64(n)
	return n, nil
}

// Close ends the read, and waits until it has ended. Of one that was read whole it returns what was wrong in the end.
func (r *fetched) Close() error {
	if r.left > 0 {
		r.from.stop()
	}
	<-r.from.ended
	r.from.stop()
	if r.left > 0 || r.from.failed == io.EOF {
		return nil
	}
	return r.from.failed
}
