package dataset

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
)

// wantRanges holds some ranges of each shard to slices of what a whole pass gives.
func wantRanges(t *testing.T, s *Source, shards []Shard) {
	t.Helper()
	for i, shard := range shards[:min(len(shards), 20)] {
		whole, _, err := readRows(t.Context(), s, []Shard{shard})
		if err != nil {
			t.Fatal(err)
		}
		n := len(whole)
		for _, r := range [][2]int{{0, n}, {0, min(1, n)}, {n / 2, n}, {n / 3, 2 * n / 3}, {max(n-1, 0), n}} {
			rows, err := rangeRows(t.Context(), s, shard, r[0], r[1])
			between := []row{}
			for b, err := range Between(s.Blocks(t.Context(), shard), int64(r[0]), int64(r[1])) {
				if err != nil {
					t.Fatal(err)
				}
				more, err := rowsOf(b)
				if err != nil {
					t.Fatal(err)
				}
				between = append(between, more...)
			}
			if want := whole[r[0]:r[1]]; err != nil || !equalRows(rows, want) || !equalRows(between, want) {
				t.Errorf("records [%d, %d) of shard %d: %v and %v, want %v: %v", r[0], r[1], i, rows, between, want,
					err)
			}
		}
	}
}

func rangeRows(ctx context.Context, s *Source, shard Shard, from, to int) (rows []row, err error) {
	for b, err := range s.Range(ctx, shard, int64(from), int64(to)) {
		if err != nil {
			return rows, err
		}
		if len(b.IDs) == 0 || len(b.Skipped) > 0 {
			return rows, fmt.Errorf("a part of %d records and %d skipped", len(b.IDs), len(b.Skipped))
		}
		more, err := rowsOf(b)
		if err != nil {
			return rows, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// Bad records, blank lines and comments are no records; what lies outside of a range is not parsed where every record
// is good, and else it is up to the range.
func TestRangeByHand(t *testing.T) {
	data := "1,10\n\n2,20\nx,30\n4,40\n5,50\ny,60\n"
	in := formatInput("csv", func(in *protocol.Input) { in.OnBadRecord.SkipMax = 2 })
	s, shards, err := openInput(storeOf(t, map[string]string{"f": data}), in)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := rangeRows(t.Context(), s, shards[0], 1, 3)
	if err != nil || len(rows) != 2 || rows[0].Vector[0] != 2 || rows[1].Vector[0] != 4 {
		t.Errorf("%v, %v", rows, err)
	}
	wantRanges(t, s, shards)
	in.OnBadRecord.SkipMax = 0 // every record counts, since a whole pass over these would have failed
	if s, shards, err = openInput(storeOf(t, map[string]string{"f": data}), in); err != nil {
		t.Fatal(err)
	}
	rows, err = rangeRows(t.Context(), s, shards[0], 3, 5)
	if err != nil || len(rows) != 2 || rows[0].Vector[0] != 4 || rows[1].Vector[0] != 5 {
		t.Errorf("%v, %v", rows, err)
	}
	if _, err = rangeRows(t.Context(), s, shards[0], 2, 3); !isCode(err, protocol.CodeBadRecord) {
		t.Errorf("a bad record within the range: %v", err)
	}
}

// countingStore counts the bytes that are read.
type countingStore struct {
	objstore.Store
	read int
}

func (s *countingStore) Get(ctx context.Context, key string, opt objstore.GetOptions) (io.ReadCloser, objstore.Info,
	error) {
	body, info, err := s.Store.Get(ctx, key, opt)
	return struct {
		io.Reader
		io.Closer
	}{io.TeeReader(body, counter{s}), body}, info, err
}

type counter struct{ *countingStore }

func (c counter) Write(p []byte) (int, error) { c.read += len(p); return len(p), nil }

// A range that ends early reads no further, unless the end verifies it: then it fails as a whole pass does.
func TestRangeIsVerified(t *testing.T) {
	numbers := make([]float32, 800_000)
	var lines strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&lines, "%d,%d\n", i, i*i%1009)
	}
	csv := lines.String()
	for name, c := range map[string]struct {
		in   protocol.Input
		data string
	}{
		"csv":    {formatInput("csv", nil), csv},
		"npy":    {formatInput("npy", nil), string(datasettest.NPY("<f4", "(400000, 2)", numbers))},
		"gzip":   {formatInput("csv", func(in *protocol.Input) { in.Compression = "gzip" }), zipped(csv)},
		"folder": {documentInput("document"), "some text"},
	} {
		key := "f"
		if name == "folder" {
			key = "a/f"
		}
		store := &countingStore{Store: storeOf(t, map[string]string{key: c.data})}
		m, shards, err := Plan(t.Context(), store, "", c.in)
		if err != nil {
			t.Fatal(err)
		}
		for _, digest := range []objstore.Digest{"", md5Of(c.data), md5Of("another")} {
			m.Objects[0].Digest = digest
			s, err := NewSource(store, "", m, c.in)
			if err != nil {
				t.Fatal(err)
			}
			store.read = 0
			rows, err := rangeRows(t.Context(), s, shards[0], 0, 1)
			switch {
			case digest == md5Of("another"):
				if !isCode(err, protocol.CodeInputDamaged) {
					t.Errorf("%s, damaged: %v, %v", name, rows, err)
				}
			case err != nil || len(rows) != 1:
				t.Errorf("%s: %v, %v", name, rows, err)
			case digest == "" && name != "gzip" && store.read > 1<<20:
				t.Errorf("%s: %d bytes read of %d", name, store.read, len(c.data))
			}
		}
	}
	broken := zipped(csv)
	broken = broken[:len(broken)-8] + "\x00\x00\x00\x00" + broken[len(broken)-4:]
	in := formatInput("csv", func(in *protocol.Input) { in.Compression = "gzip" })
	s, shards, err := openInput(storeOf(t, map[string]string{"f": broken}), in)
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := rangeRows(t.Context(), s, shards[0], 0, 1); err == nil {
		t.Errorf("a gzip of another sum: %v", rows)
	}
}
