package worker

import (
	"context"
	"io"
	"iter"
	"sync/atomic"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/objstore"
)

// A task's progress is a number that grows as it gets on: with each block of records and each job object. The
// coordinator is told it in heartbeats, and takes away a lease whose number stands still for long. It is 0 while the
// task has not begun: it waits for memory, or for the state that another loads, and others are at work.
type progressKey struct{}

func withProgress(ctx context.Context, progress *atomic.Uint64) context.Context {
	return context.WithValue(ctx, progressKey{}, progress)
}

// unwatched is a context in which nothing counts as progress: what is done there comes before a wait.
func unwatched(ctx context.Context) context.Context {
	return context.WithValue(ctx, progressKey{}, nil)
}

// advance notes that the task of this context got on.
func advance(ctx context.Context) {
	if progress, ok := ctx.Value(progressKey{}).(*atomic.Uint64); ok {
		progress.Add(1)
	}
}

// advancing notes each block as progress.
func advancing(ctx context.Context, blocks iter.Seq2[*dataset.Block, error]) iter.Seq2[*dataset.Block, error] {
	return func(yield func(*dataset.Block, error) bool) {
		for block, err := range blocks {
			advance(ctx)
			if !yield(block, err) {
				return
			}
		}
	}
}

// advancingReader notes each piece of an object as progress: a large one from a slow store takes long.
type advancingReader struct {
	ctx context.Context
	io.Reader
}

// advancingStore notes each call as progress, and each object that is listed: a plan does nothing else.
type advancingStore struct{ objstore.Store }

// Get implements objstore.Store.
func (s advancingStore) Get(ctx context.Context, key string, opt objstore.GetOptions) (io.ReadCloser, objstore.Info,
	error) {
	advance(ctx)
	body, info, err := s.Store.Get(ctx, key, opt)
	if err != nil {
		return nil, info, err
	}
	return struct {
		io.Reader
		io.Closer
	}{advancingReader{ctx, body}, body}, info, nil
}

// Stat implements objstore.Store.
func (s advancingStore) Stat(ctx context.Context, key string) (objstore.Info, error) {
	advance(ctx)
	return s.Store.Stat(ctx, key)
}

// List implements objstore.Store.
func (s advancingStore) List(ctx context.Context, prefix string) iter.Seq2[objstore.Info, error] {
	return func(yield func(objstore.Info, error) bool) {
		advance(ctx)
		for info, err := range s.Store.List(ctx, prefix) {
			advance(ctx)
			if !yield(info, err) {
				return
			}
		}
	}
}

// Read implements io.Reader.
func (r advancingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n > 0 {
		advance(r.ctx)
	}
	return n, err
}
