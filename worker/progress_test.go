package worker

import (
	"context"
	"io"
	"iter"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/objstore"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// A task that waits for memory tells nothing; once it works, each block tells that it got on.
func TestProgressIsTold(t *testing.T) {
	w := &worker{held: make(map[string]*heldTask)}
	task := &pb.Task{Id: &pb.TaskID{JobId: "a"}, Token: &pb.LeaseToken{Term: 1, Sequence: 2, Epoch: 3}}
	ctx := withProgress(t.Context(), w.hold(task, func(error) {}))
	told := func() uint64 { return w.holding()[0].GetProgress() }
	if told() != 0 {
		t.Errorf("told %d before it began", told())
	}
	advance(ctx)
	var blocks iter.Seq2[*dataset.Block, error] = func(yield func(*dataset.Block, error) bool) {
		for yield(nil, nil) {
		}
	}
	seen := uint64(1)
	for range advancing(ctx, blocks) {
		if seen++; told() != seen {
			t.Fatalf("told %d, want %d", told(), seen)
		}
		if seen == 4 {
			break
		}
	}
	advance(t.Context()) // of no task
	if token := w.holding()[0].GetToken(); token.GetEpoch() != 3 {
		t.Errorf("token %v", token)
	}
}

// slowStore gives a byte at a time.
type slowStore struct{ objstore.Store }

func (s slowStore) Get(ctx context.Context, key string, opt objstore.GetOptions) (io.ReadCloser, objstore.Info, error) {
	body, info, err := s.Store.Get(ctx, key, opt)
	return struct {
		io.Reader
		io.Closer
	}{iotest.OneByteReader(body), body}, info, err
}

// Who loads a large state gets on with every piece of it.
func TestProgressOfALoadedState(t *testing.T) {
	o := newOffice()
	w := &worker{store: o.store, states: stateCache{budget: 1 << 20}}
	ref, err := w.putArrays(t.Context(), made{"a", 0}, jobs.Arrays{})
	if err != nil {
		t.Fatal(err)
	}
	w.store = slowStore{o.store}
	var loader atomic.Uint64
	if _, err := (&job{w: w, id: "a"}).state(withProgress(t.Context(), &loader),
		&pb.Task{Id: &pb.TaskID{JobId: "a", Round: 1}, State: ref}); err != nil {
		t.Fatal(err)
	}
	if n := loader.Load(); n < uint64(ref.GetSize()) {
		t.Errorf("the loader told %d of %d bytes", n, ref.GetSize())
	}
}
