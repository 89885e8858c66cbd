package dataset_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/dataset/text"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/protocol"
)

const glosses = "../testdata/wordnet30-glosses.tsv.gz"

// glossShards puts the glosses into a store, as they are or unpacked, and plans them.
func glossShards(tb testing.TB, unpack bool) (*dataset.Source, []dataset.Shard, int64) {
	tb.Helper()
	stored, err := os.ReadFile(glosses)
	if err != nil {
		tb.Fatal(err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(stored))
	if err != nil {
		tb.Fatal(err)
	}
	plain, err := io.ReadAll(zip)
	if err != nil {
		tb.Fatal(err)
	}
	key, data := "glosses.tsv.gz", stored
	if unpack {
		key, data = "glosses.tsv", plain
	}
	store := mem.New("bench")
	if _, err := store.Put(context.Background(), key, data); err != nil {
		tb.Fatal(err)
	}
	in := protocol.Input{URI: "mem://bench/" + key, Format: "tsv", Label: protocol.Column{Number: 1},
		Text:        protocol.Column{Number: 3},
		Compression: "auto", ShardBytes: 4 << 20, MaxRecordBytes: protocol.DefaultMaxRecordBytes}
	m, err := dataset.List(context.Background(), store, "mem://bench/"+key, key)
	if err != nil {
		tb.Fatal(err)
	}
	shards, err := dataset.Cut(m, 4<<20, in.Compression)
	if err != nil {
		tb.Fatal(err)
	}
	source, err := dataset.NewSource(store, dataset.Prefix(key), m, in)
	if err != nil {
		tb.Fatal(err)
	}
	return source, shards, int64(len(plain))
}

// scan reads everything, giving every text to each.
func scan(tb testing.TB, source *dataset.Source, shards []dataset.Shard, each func(text []byte)) (records int) {
	tb.Helper()
	for _, shard := range shards {
		for b, err := range source.Blocks(context.Background(), shard) {
			if err != nil {
				tb.Fatal(err)
			}
			records += len(b.Texts)
			for _, t := range b.Texts {
				each(t)
			}
		}
	}
	return records
}

// The counts were taken from the file by other means: awk for the texts, Python's
// re.findall(r"[^\W_]+", text.lower()) for the terms.
func TestGlossesAreAllRead(t *testing.T) {
	tokenizer, err := text.New(text.DefaultParams())
	if err != nil {
		t.Fatal(err)
	}
	for _, unpack := range []bool{false, true} {
		source, shards, _ := glossShards(t, unpack)
		size, terms, termBytes, vocabulary := 0, 0, 0, map[string]struct{}{}
		records := scan(t, source, shards, func(gloss []byte) {
			size += len(gloss)
			tokenizer.Tokens(nil, gloss, func(term []byte) {
				terms++
				termBytes += len(term)
				vocabulary[string(term)] = struct{}{}
			})
		})
		got := [5]int{records, size, terms, termBytes, len(vocabulary)}
		if want := [5]int{117_659, 8_845_632, 1479784, 7270947, 55397}; got != want {
			t.Errorf("unpacked %v: records, bytes, terms, their bytes, vocabulary are %v, want %v", unpack, got, want)
		}
	}
}

func BenchmarkReadTSV(b *testing.B)  { benchmarkRead(b, true) }
func BenchmarkReadGzip(b *testing.B) { benchmarkRead(b, false) }

// benchmarkRead counts decoded bytes.
func benchmarkRead(b *testing.B, unpack bool) {
	source, shards, size := glossShards(b, unpack)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		scan(b, source, shards, func([]byte) {})
	}
}

func BenchmarkReadTSVAndTokenize(b *testing.B) {
	source, shards, size := glossShards(b, true)
	tokenizer, err := text.New(text.DefaultParams())
	if err != nil {
		b.Fatal(err)
	}
	var scratch []byte
	terms := 0
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		scan(b, source, shards, func(t []byte) { scratch = tokenizer.Tokens(scratch, t, func([]byte) { terms++ }) })
	}
	b.ReportMetric(float64(terms)/b.Elapsed().Seconds(), "terms/s")
}
