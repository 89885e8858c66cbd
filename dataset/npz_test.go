package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
)

// npzDeclaring is an npz of one array X, stored, whose directory declares the sizes that packed and plain return. They
// get the array's offset and the object's size; nil leaves the true size.
func npzDeclaring(packed, plain func(offset, size int) int) string {
	x := datasettest.NPY("<f4", "(1, 1)", []float32{1})
	data := datasettest.NPZ(false, datasettest.Array{Name: "X", NPY: x})
	offset, entry := bytes.Index(data, x), bytes.LastIndex(data, []byte("PK\x01\x02"))
	if packed != nil {
		binary.LittleEndian.PutUint32(data[entry+20:], uint32(packed(offset, len(data))))
	}
	if plain != nil {
		binary.LittleEndian.PutUint32(data[entry+24:], uint32(plain(offset, len(data))))
	}
	return string(data)
}

// An array's place and sizes, as the directory declares them, are checked against the object.
func TestDeclaredSizesOfAnArray(t *testing.T) {
	is := func(n int) func(int, int) int { return func(int, int) int { return n } }
	beyond := func(n int) func(int, int) int { return func(offset, size int) int { return size - offset + n } }
	in := formatInput("npz", func(in *protocol.Input) { in.Features = []protocol.Column{{Name: "X"}} })
	for _, c := range []struct {
		name string
		data string
		code protocol.Code
		want string
	}{
		{"as it is", npzDeclaring(nil, nil), "", ""},
		{"up to the object's end", npzDeclaring(beyond(0), nil), protocol.CodeBadRecord,
			"more bytes follow the 1 rows"},
		{"a byte beyond", npzDeclaring(beyond(1), nil), protocol.CodeBadRecord, "lies beyond the object"},
		{"far beyond", npzDeclaring(is(1<<32-2), nil), protocol.CodeBadRecord, "lies beyond the object"},
		{"no bytes", npzDeclaring(is(0), nil), protocol.CodeBadRecord, "lies beyond the object"},
		{"1 MiB unpacked", npzDeclaring(nil, is(ratioFreeBytes)), protocol.CodeBadRecord,
			"the object has 1048576 bytes"},
		{"a byte more", npzDeclaring(nil, is(ratioFreeBytes+1)), protocol.CodeInputLimit,
			"has 1048577 bytes packed into 132"},
	} {
		rows, _, err := readFile(t, in, map[string]string{"f": c.data})
		if c.code == "" && (err != nil || len(rows) != 1) || c.code != "" && !isFault(err, c.code, c.want) {
			t.Errorf("%s: %v, %v; want %s that says %q", c.name, rows, err, c.code, c.want)
		}
	}
}

func TestTrimNPY(t *testing.T) {
	for name, want := range map[string]string{"X.npy": "X", ".npy": "", "a.b.npy": "a.b"} {
		if got, ok := trimNPY(name); got != want || !ok {
			t.Errorf("%q: %q, %v", name, got, ok)
		}
	}
	for _, name := range []string{"", "npy", "X.np", "X.npz"} {
		if got, ok := trimNPY(name); ok {
			t.Errorf("%q: %q", name, got)
		}
	}
}

// A zip's directory is read within the object's bounds, and at most 16 MiB of it.
func TestDirectoryIsReadInBounds(t *testing.T) {
	store := storeOf(t, map[string]string{"f": "0123456789"})
	info, err := store.Stat(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	reads := 0
	count := func(
		_ objstore.GetOptions, body io.ReadCloser, info objstore.Info,
	) (io.ReadCloser, objstore.Info, error) {
		reads++
		return body, info, nil
	}
	counted := fakeStore{Store: store, get: count}
	obj := pinned{store: counted, key: "f", obj: Object{Key: "f", Size: 10, ETag: info.ETag}}
	for _, c := range []struct {
		off, before int64
		length      int
		want        string
		err         string
		reads       int
	}{
		{0, 0, 10, "0123456789", "", 1}, {3, 0, 4, "3456", "", 1}, {9, 0, 1, "9", "", 1}, {7, 0, 5, "789", "EOF", 1},
		{10, 0, 1, "", "EOF", 0}, {11, 0, 1, "", "EOF", 0}, {-1, 0, 1, "", "EOF", 0},
		{2, maxNPZDirectory - 5, 5, "23456", "", 1}, {2, maxNPZDirectory - 4, 5, "", "more than 16777216 bytes", 0},
	} {
		reads = 0
		at, buf := &objectAt{ctx: t.Context(), obj: obj, read: c.before}, make([]byte, c.length)
		n, err := at.ReadAt(buf, c.off)
		right := err == nil
		if c.err != "" {
			right = err != nil && strings.Contains(err.Error(), c.err) && errors.Is(err, io.EOF) == (c.err == "EOF")
		}
		if string(buf[:n]) != c.want || !right || reads != c.reads {
			t.Errorf("%+v: %q, %v after %d reads", c, buf[:n], err, reads)
		}
	}
}
