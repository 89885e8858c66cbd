package dataset

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/protocol"
)

func fuzzSeeds(f *testing.F, add func(data []byte)) {
	for _, c := range datasettest.Hostile(1, 1<<10) {
		add(c.Content.Bytes())
	}
	add([]byte("a\tx\ty\r\n\xef\xbb\xbf\tz\n\n\r\n\x00"))
	add([]byte(zipped("a\tx\ty\n") + zipped("b\tx\tz")))
}

// FuzzTSV checks the reader against the naive one: cut and buffered at will, nothing may change.
func FuzzTSV(f *testing.F) {
	fuzzSeeds(f, func(data []byte) { f.Add(data, uint16(7), uint16(30), uint16(5), false) })
	f.Fuzz(func(t *testing.T, data []byte, shard, record, buffer uint16, header bool) {
		in := testInput()
		in.ShardBytes, in.MaxRecordBytes = protocol.ByteSize(shard)+1, protocol.ByteSize(record)+1
		in.Header, in.Text.Number, in.OnBadRecord.SkipMax = header, 3, math.MaxInt64
		if header {
			data = append([]byte("h\n"), data...)
		}
		store := &datasettest.Store{Seed: uint64(len(data))}
		if _, err := store.Put(t.Context(), "f", data); err != nil {
			t.Fatal(err)
		}
		s, shards, err := open(store, in)
		if len(data) == 0 && isCode(err, protocol.CodeInputEmpty) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		s.buffer = int(buffer) + 1
		got, err := readAll(t.Context(), s, shards)
		if err != nil {
			t.Fatal(err)
		}
		want := naive("f", data, in)
		for i := range got.Skipped {
			got.Skipped[i] = Skip{ID: got.Skipped[i].ID}
		}
		if !slices.Equal(got.Records, want.Records) || !slices.Equal(got.Skipped, want.Skipped) {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
	})
}

// FuzzGzip takes any bytes for gzip and checks the reader against the standard library's
// decoder and the naive reader.
func FuzzGzip(f *testing.F) {
	fuzzSeeds(f, func(data []byte) { f.Add(data) })
	f.Add([]byte("\x1f\x8b\b0000000")) // cut inside the header's name
	f.Fuzz(func(t *testing.T, data []byte) {
		in := testInput()
		in.Compression, in.OnBadRecord.SkipMax = "gzip", math.MaxInt64
		store := &datasettest.Store{Seed: uint64(len(data))}
		if _, err := store.Put(t.Context(), "f", data); err != nil {
			t.Fatal(err)
		}
		got, err := readStore(store, in)
		plain, wantErr := gunzipStandard(data)
		var fault *protocol.Fault
		if err != nil {
			if !errors.As(err, &fault) || fault.Class != protocol.ClassInput || wantErr == nil {
				t.Fatalf("%v, but the standard library says %v", err, wantErr)
			}
			return
		}
		if wantErr != nil {
			t.Fatalf("read, but the standard library says %v", wantErr)
		}
		if want := naive("f", plain, in); !slices.Equal(got.Records, want.Records) ||
			len(got.Skipped) != len(want.Skipped) {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
	})
}

// gunzipStandard decodes with compress/gzip under the reader's limit.
func gunzipStandard(data []byte) ([]byte, error) {
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	limit := max(ratioFreeBytes, maxRatio*int64(len(data)))
	plain, err := io.ReadAll(io.LimitReader(zip, limit+1))
	if err == nil && int64(len(plain)) > limit {
		err = errors.New("beyond the limit")
	}
	return plain, err
}
