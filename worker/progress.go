package worker

import (
	"context"
	"io"
	"iter"
	"sync/atomic"

	"github.com/gram-compute/gram/dataset"
)

// A task's progress is a number that grows as it gets on: with each block of records and each job object. The coordinator
// is told it in heartbeats, and takes away a lease whose number stands still for long. It is 0 while the task has not
// begun: it waits for memory, or for the state that another loads, and others are at work.
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

// Read implements io.Reader.
func (r advancingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n > 0 {
		advance(r.ctx)
	}
	return n, err
}
