package dataset

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
)

// What goes wrong between plan and read is told apart: the input changed, or the store is unwell.
func TestReadFaultsOfTheStore(t *testing.T) {
	type answer = func(objstore.GetOptions, io.ReadCloser, objstore.Info) (io.ReadCloser, objstore.Info, error)
	fail := func(err error) answer {
		return func(objstore.GetOptions, io.ReadCloser, objstore.Info) (io.ReadCloser, objstore.Info, error) {
			return nil, objstore.Info{}, err
		}
	}
	for _, c := range []struct {
		name string
		get  answer
		code protocol.Code
	}{
		{"unavailable", fail(objstore.ErrUnavailable), protocol.CodeStore},
		{"denied", fail(objstore.ErrDenied), protocol.CodeStoreDenied},
		{"gone", fail(objstore.ErrNotFound), protocol.CodeInputChanged},
		{"If-Match ignored", func(_ objstore.GetOptions, body io.ReadCloser, info objstore.Info) (io.ReadCloser,
			objstore.Info, error) {
			info.ETag = "another"
			return body, info, nil
		}, protocol.CodeInputChanged},
		{"ends early", func(_ objstore.GetOptions, body io.ReadCloser, info objstore.Info) (io.ReadCloser,
			objstore.Info, error) {
			return io.NopCloser(io.LimitReader(body, 5)), info, nil
		}, protocol.CodeStore},
		{"reset", func(_ objstore.GetOptions, body io.ReadCloser, info objstore.Info) (io.ReadCloser, objstore.Info,
			error) {
			return io.NopCloser(iotest.TimeoutReader(iotest.OneByteReader(body))), info, nil
		}, protocol.CodeStore},
	} {
		for key, data := range map[string]string{"f": "a\tx\nb\tz\nc\tz\n", "f.gz": zipped("a\tx\nb\tz\n")} {
			store := storeOf(t, map[string]string{key: data})
			s, shards, err := open(store, testInput())
			if err != nil {
				t.Fatal(err)
			}
			s.store = fakeStore{Store: store, get: c.get}
			if _, err := readAll(t.Context(), s, shards); !isCode(err, c.code) || !strings.Contains(err.Error(), key) {
				t.Errorf("%s: %v, want %s naming %s", c.name, err, c.code, key)
			}
		}
	}
}

func TestObjectReplacedAfterThePlan(t *testing.T) {
	store := storeOf(t, map[string]string{"f": "a\tx\n"})
	s, shards, err := open(store, testInput())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Put(t.Context(), "f", []byte("a\ty\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := readAll(t.Context(), s, shards); !isCode(err, protocol.CodeInputChanged) {
		t.Errorf("%v, want INPUT_CHANGED", err)
	}
	if err := store.Delete(t.Context(), "f"); err != nil {
		t.Fatal(err)
	}
	if _, err := readAll(t.Context(), s, shards); !isCode(err, protocol.CodeInputChanged) {
		t.Errorf("%v, want INPUT_CHANGED", err)
	}
}

// tracked counts what is opened and not closed, the bytes asked for and read, and the
// reads that did not pin an ETag.
type tracked struct {
	open, asked, read, unpinned atomic.Int64
}

type trackedBody struct {
	io.ReadCloser
	t *tracked
}

func (b trackedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.t.read.Add(int64(n))
	return n, err
}

func (b trackedBody) Close() error {
	b.t.open.Add(-1)
	return b.ReadCloser.Close()
}

func (t *tracked) get(opt objstore.GetOptions, body io.ReadCloser, info objstore.Info) (io.ReadCloser, objstore.Info,
	error) {
	t.open.Add(1)
	t.asked.Add(opt.Length)
	if opt.IfMatch != info.ETag {
		t.unpinned.Add(1)
	}
	return trackedBody{body, t}, info, nil
}

func TestEveryReadIsPinnedAndClosed(t *testing.T) {
	in := testInput()
	in.ShardBytes, in.Header = 100, true
	in.Label, in.Text = protocol.Column{Name: "l"}, protocol.Column{Name: "t"}
	data := "l\tt\n" + strings.Repeat("a\tsome text\n", 1000) // longer than the read of a header
	for name, files := range map[string]map[string]string{
		"good":        {"f": data, "g.gz": zipped(data)},
		"bad":         {"f": data + "bad\n"},
		"damaged":     {"f.gz": zipped(data)[:30]},
		"bad header":  {"f": "x" + data},
		"no gzip":     {"f.gz": data},
		"long header": {"f": strings.Repeat("x", 3<<20)},
	} {
		store := storeOf(t, files)
		s, shards, err := open(store, in)
		if err != nil {
			t.Fatal(err)
		}
		var all, first tracked
		s.store = fakeStore{Store: store, get: all.get}
		_, _ = readAll(t.Context(), s, shards) // good or not is not asked here
		s.store = fakeStore{Store: store, get: first.get}
		for range s.Blocks(t.Context(), shards[0]) {
			break
		}
		if all.open.Load() != 0 || first.open.Load() != 0 || all.read.Load() == 0 {
			t.Errorf("%s: %d bodies open after a whole reading, %d after a stopped one", name, all.open.Load(),
				first.open.Load())
		}
		if n := all.unpinned.Load(); n != 0 {
			t.Errorf("%s: %d reads without the planned ETag", name, n)
		}
	}
}

func TestReadEndsWithTheContext(t *testing.T) {
	store := storeOf(t, map[string]string{"f": strings.Repeat("a\tx\n", 100_000)})
	s, shards, err := open(store, testInput())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	blocks := 0
	for _, err = range s.Blocks(ctx, shards[0]) {
		if err == nil {
			blocks++
			cancel()
		}
	}
	cancel()
	if !errors.Is(err, context.Canceled) || blocks > bufferBytes/4/blockRecords+1 {
		t.Errorf("%v after %d blocks, want the context's end once the buffer is used up", err, blocks)
	}
}

// A piece is read once and hardly beyond its end, records of many buffers included.
func TestReadsLittleMoreThanThePiece(t *testing.T) {
	in := testInput()
	in.ShardBytes, in.MaxRecordBytes = 1<<20, 8<<20
	huge := bytes.Repeat([]byte("word "), 1<<20) // 5 MiB
	in.Header, in.Label = true, protocol.Column{Name: "class"}
	data := "class\ttext\n" + strings.Repeat("a\tshort\n", 10_000) + "b\t" + string(huge) +
		"\n" + strings.Repeat("c\tshort\n", 200_000)
	store := storeOf(t, map[string]string{"f": data})
	s, shards, err := open(store, in)
	if err != nil {
		t.Fatal(err)
	}
	var all tracked
	s.store = fakeStore{Store: store, get: all.get}
	got, err := readAll(t.Context(), s, shards)
	in.Label = protocol.Column{Number: 1}
	want := naive("f", []byte(data), in)
	if err != nil || len(got.Records) != len(want.Records) || len(got.Records[10_000].Text) != len(huge) {
		t.Fatalf("%d records, %v; want %d", len(got.Records), err, len(want.Records))
	}
	for i, r := range got.Records {
		if r != want.Records[i] {
			t.Fatalf("record %d: %v, want %v", i, r.ID, want.Records[i].ID)
		}
	}
	const header = 4 << 10
	beyond := int64(len(shards))*(1+firstTail+header) + int64(len(huge)) + lastTail
	if asked := all.asked.Load(); asked > int64(len(data))+beyond {
		t.Errorf("%d bytes asked for, %d are there, at most %d more are allowed", asked, len(data), beyond)
	}
}
