package dataset

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/protocol"
)

// naive reads a whole file at once, as the format is defined, and sorts its lines into
// records and bad ones.
func naive(key string, data []byte, in protocol.Input) (r reading) {
	off := 0
	for number, raw := range bytes.SplitAfter(data, []byte("\n")) {
		id := Identity{Object: key, Offset: int64(off)}
		off += len(raw)
		row := strings.TrimSuffix(string(raw), "\n")
		long := len(row) > int(in.MaxRecordBytes)
		row = strings.TrimSuffix(row, "\r")
		if number == 0 {
			row = strings.TrimPrefix(row, "\ufeff")
		}
		if (row == "" && !long) || (number == 0 && in.Header) {
			continue
		}
		fields := strings.Split(row, "\t")
		bad := long || strings.Contains(row, "\r") || strings.HasPrefix(row, "\ufeff") ||
			len(fields) < max(in.Label.Number, in.Text.Number)
		if !bad {
			label, text := fields[in.Label.Number-1], fields[in.Text.Number-1]
			both := label + "\x01" + text
			if bad = label == "" || !utf8.ValidString(label) || !utf8.ValidString(text) ||
				strings.Contains(both, "\x00"); !bad {
				r.Records = append(r.Records, record{id, label, text})
			}
		}
		if bad {
			r.Skipped = append(r.Skipped, Skip{ID: id})
		}
	}
	return r
}

func anyFile() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"a", "b\t", "\t", "\t", "\n", "\n", "\r\n", "\r", "\x00", "\xff", "é", "\ufeff",
			"word word", "class\ttext\n"}),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 4), func(b []byte) string { return string(b) }),
	)
	return rapid.Map(rapid.SliceOfN(piece, 0, 40), func(s []string) string { return strings.Join(s, "") })
}

func anyInput(t *rapid.T) protocol.Input {
	in := testInput()
	columns := rapid.SampledFrom([][2]int{{1, 2}, {2, 1}, {1, 3}, {3, 2}}).Draw(t, "columns")
	in.Label.Number, in.Text.Number = columns[0], columns[1]
	in.Header = rapid.Bool().Draw(t, "header")
	in.ShardBytes = protocol.ByteSize(rapid.IntRange(1, 120).Draw(t, "shard_bytes"))
	in.MaxRecordBytes = protocol.ByteSize(rapid.SampledFrom([]int{1, 5, 12, 40, 1 << 20}).Draw(t, "max_record_bytes"))
	in.OnBadRecord.SkipMax = math.MaxInt64
	return in
}

// refusedHeader reports a header that is a fault; TestRefusedByHand has those.
func refusedHeader(line string) bool {
	return strings.Contains(strings.TrimSuffix(line, "\r"), "\r") || strings.HasPrefix(line, "\ufeff\ufeff")
}

// However the files are cut, packed and delivered, the shards in order give what a naive reader
// of the whole files gives: every record once, in order, under the same identity.
func TestShardsTogetherAreTheFiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput(t)
		store := &datasettest.Store{Seed: rapid.Uint64().Draw(t, "reads")}
		var want reading
		for i, file := range rapid.SliceOfN(anyFile(), 1, 4).Draw(t, "files") {
			key, data := string(rune('a'+i)), file
			if header := bytes.IndexByte([]byte(file), '\n'); in.Header &&
				(header < 0 || header > int(in.MaxRecordBytes) || refusedHeader(file[:header])) {
				data = "h\n" + file // a header beyond the bound is a fault; TestHeader... has that
			}
			if rapid.Bool().Draw(t, "gzip") {
				key += ".gz"
			}
			one := naive(strings.TrimSuffix(key, ".gz"), []byte(data), in) // compression is no part of an identity
			for i := range one.Skipped {
				one.Skipped[i].ID.Object = key
			}
			want.Records, want.Skipped = append(want.Records, one.Records...), append(want.Skipped, one.Skipped...)
			if strings.HasSuffix(key, ".gz") {
				data = zipped(data)
			}
			if _, err := store.Put(t.Context(), key, []byte(data)); err != nil {
				t.Fatal(err)
			}
		}
		s, shards, err := open(store, in)
		if isCode(err, protocol.CodeInputEmpty) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		s.buffer = rapid.SampledFrom([]int{1, 2, 7, 64, bufferBytes}).Draw(t, "buffer")
		got, err := readAll(t.Context(), s, shards)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got.Skipped { // naive does not say why
			got.Skipped[i] = Skip{ID: got.Skipped[i].ID}
		}
		if !slices.Equal(got.Records, want.Records) || !slices.Equal(got.Skipped, want.Skipped) {
			t.Fatalf("got %+v\nwant %+v\nshards %v", got, want, shards)
		}
	})
}

// The bytes decide where a block ends; how the store chops them does not.
func TestBlocksDoNotDependOnReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, file := anyInput(t), anyFile().Draw(t, "file")
		in.Header = false
		buffer := rapid.IntRange(1, 40).Draw(t, "buffer")
		lengths := func(seed uint64) (n []int) {
			store := &datasettest.Store{Seed: seed}
			if _, err := store.Put(t.Context(), "f", []byte("a\tb\n"+file)); err != nil {
				t.Fatal(err)
			}
			s, shards, err := open(store, in)
			if err != nil {
				t.Fatal(err)
			}
			s.buffer = buffer
			for _, shard := range shards {
				for b, err := range s.Blocks(t.Context(), shard) {
					if err != nil {
						t.Fatal(err)
					}
					n = append(n, len(b.IDs), len(b.Skipped))
				}
			}
			return n
		}
		if a, b := lengths(1), lengths(rapid.Uint64().Draw(t, "reads")); !slices.Equal(a, b) {
			t.Fatalf("blocks of %v and %v", a, b)
		}
	})
}
