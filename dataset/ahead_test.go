package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
)

// shardsOfLines are many shards of one object, and of one that is compressed.
func shardsOfLines(t *testing.T) (*Source, []Shard, *datasettest.Store) {
	t.Helper()
	var text strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&text, "a\t%d\n", i)
	}
	store := storeOf(t, map[string]string{"f": text.String(), "g.gz": zipped(text.String()[:5000])})
	in := testInput()
	in.ShardBytes = 50_000
	s, shards, err := open(store, in)
	if err != nil {
		t.Fatal(err)
	}
	return s, shards, store
}

// A shard that was fetched ahead is read from that alone, and is the same.
func TestReadAhead(t *testing.T) {
	s, shards, store := shardsOfLines(t)
	for _, shard := range shards {
		want, err := readAll(t.Context(), s, []Shard{shard})
		if err != nil {
			t.Fatal(err)
		}
		gets := atomic.Int32{}
		s.store = fakeStore{Store: store, get: func(
			opt objstore.GetOptions, body io.ReadCloser, info objstore.Info,
		) (io.ReadCloser, objstore.Info, error) {
			if opt.Length > firstTail || opt.Length < 100 {
				t.Errorf("a read of %d bytes", opt.Length)
			}
			gets.Add(1)
			return body, info, nil
		}}
		s.Ahead(t.Context(), shard, 1<<20)
		s.Ahead(t.Context(), shard, 1<<20) // has begun
		got, err := readAll(t.Context(), s, []Shard{shard})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%v: %v", shard, err)
		}
		if n := gets.Load(); n > 2 { // the piece, and what follows it
			t.Errorf("%v: %d reads", shard, n)
		}
		if s.store = store; len(s.ahead.open) != 0 {
			t.Errorf("%v: the fetch is still there", shard)
		}
	}
	s.Ahead(t.Context(), shards[0], 100)
	if len(s.ahead.open) != 0 {
		t.Error("more than there is room for was fetched")
	}
}

// What nobody reads ends with its context.
func TestReadAheadEnds(t *testing.T) {
	s, shards, _ := shardsOfLines(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.Ahead(ctx, shards[1], 1<<20)
	var one *fetch
	for _, one = range s.ahead.open {
	}
	cancel()
	<-one.ended
	if _, err := readAll(t.Context(), s, shards[1:2]); err != nil {
		t.Error(err)
	}
	s.Ahead(ctx, shards[1], 1<<20)
	if len(s.ahead.open) != 0 {
		t.Error("a fetch has begun after its context ended")
	}
}

// Faults of a fetch are those of a read; one that Get returned is tried again.
func TestReadAheadFaults(t *testing.T) {
	s, shards, store := shardsOfLines(t)
	short := io.ErrUnexpectedEOF
	for name, c := range map[string]struct {
		body func(io.ReadCloser) io.ReadCloser
		code protocol.Code
	}{
		"short": {func(b io.ReadCloser) io.ReadCloser { return limited{io.LimitReader(b, 999), nil} },
			protocol.CodeStore},
		"changed": {func(b io.ReadCloser) io.ReadCloser {
			return limited{io.LimitReader(b, 999), objstore.ErrChanged}
		}, protocol.CodeInputChanged},
		"at the end": {func(b io.ReadCloser) io.ReadCloser { return limited{b, objstore.ErrChanged} },
			protocol.CodeInputChanged},
		"longer": {func(b io.ReadCloser) io.ReadCloser {
			return limited{io.MultiReader(b, strings.NewReader(strings.Repeat("x", 1<<20))), nil}
		}, ""},
	} {
		s.store = fakeStore{Store: store, get: func(
			_ objstore.GetOptions, body io.ReadCloser, info objstore.Info,
		) (io.ReadCloser, objstore.Info, error) {
			return c.body(body), info, nil
		}}
		s.Ahead(t.Context(), shards[0], 1<<20)
		_, err := readAll(t.Context(), s, shards[:1])
		if c.code != "" && !isCode(err, c.code) || c.code == "" && err != nil {
			t.Errorf("%s: %v, want %q", name, err, c.code)
		}
	}
	calls := atomic.Int32{}
	s.store = fakeStore{Store: store, get: func(
		_ objstore.GetOptions, body io.ReadCloser, info objstore.Info,
	) (io.ReadCloser, objstore.Info, error) {
		if calls.Add(1) == 1 {
			return nil, objstore.Info{}, errors.Join(objstore.ErrUnavailable, short)
		}
		return body, info, nil
	}}
	s.Ahead(t.Context(), shards[0], 1<<20)
	if _, err := readAll(t.Context(), s, shards[:1]); err != nil || calls.Load() < 2 {
		t.Errorf("after an error: %v, %d reads", err, calls.Load())
	}
}

// ctxStore gives bodies that end with the context of their Get, and tells when they are read.
type ctxStore struct {
	objstore.Store

	read chan struct{} // a body waits for it before each read
}

func (s ctxStore) Get(
	ctx context.Context, key string, opt objstore.GetOptions,
) (io.ReadCloser, objstore.Info, error) {
	body, info, err := s.Store.Get(ctx, key, opt)
	return ctxBody{body, ctx, s.read}, info, err
}

type ctxBody struct {
	io.ReadCloser

	ctx  context.Context
	read chan struct{}
}

func (b ctxBody) Read(p []byte) (int, error) {
	select {
	case <-b.read:
		return b.ReadCloser.Read(p)
	case <-b.ctx.Done():
		return 0, context.Cause(b.ctx)
	}
}

// A task that takes what another one began to fetch does not end with that one.
func TestReadAheadOfATaskThatEnds(t *testing.T) {
	s, shards, store := shardsOfLines(t)
	want, err := readAll(t.Context(), s, shards[:1])
	if err != nil {
		t.Fatal(err)
	}
	slow := ctxStore{store, make(chan struct{})}
	s.store = slow
	other, end := context.WithCancel(t.Context())
	s.Ahead(other, shards[0], 1<<20)
	at := fetchKey{"f", 0, shards[0].Pieces[0].End}
	body, _, err := s.ahead.get(t.Context(), pinned{store: slow, key: "f"}, at.start, at.end)
	if err != nil || len(s.ahead.open) != 0 {
		t.Fatal("nothing was fetched", err)
	}
	end()
	close(slow.read)
	if data, err := io.ReadAll(body); err != nil || int64(len(data)) != at.end {
		t.Errorf("%d bytes of %d, %v", len(data), at.end, err)
	}
	if err := body.Close(); err != nil {
		t.Error(err)
	}
	if got, err := readAll(t.Context(), s, shards[:1]); err != nil || !reflect.DeepEqual(got, want) {
		t.Error(err)
	}
}

// limited ends in an error.
type limited struct {
	io.Reader
	err error
}

func (l limited) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if err == io.EOF && l.err != nil {
		err = l.err
	}
	return n, err
}

func (l limited) Close() error { return nil }
