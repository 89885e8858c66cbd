package dataset

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/protocol"
)

// The line of a byte is counted from the object's start.
func TestLineNumberByHand(t *testing.T) {
	store := storeOf(t, map[string]string{"f": "a\nb\n\nc"})
	info, err := store.Stat(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	obj := pinned{store: store, key: "f", obj: Object{Key: "f", Size: 6, ETag: info.ETag}}
	for off, want := range map[int64]int64{0: 1, 1: 1, 2: 2, 3: 2, 4: 3, 5: 4} {
		if got := lineNumber(t.Context(), obj, off); got != want {
			t.Errorf("byte %d: line %d, want %d", off, got, want)
		}
	}
	obj.obj.ETag = "another"
	if got := lineNumber(t.Context(), obj, 5); got != 0 {
		t.Errorf("of an object that was replaced: line %d, want 0", got)
	}
}

// At most 1 GiB is read to count lines.
func TestLineNumberIsCountedUpToABound(t *testing.T) {
	store := &datasettest.Store{}
	info, err := store.PutContent("f",
		datasettest.Content{datasettest.Repeat(strings.Repeat("\n", 4096), countedBytes+1)})
	if err != nil {
		t.Fatal(err)
	}
	asked := false
	fail := func(objstore.GetOptions, io.ReadCloser, objstore.Info) (io.ReadCloser, objstore.Info, error) {
		asked = true
		return nil, objstore.Info{}, errors.New("unavailable")
	}
	failing := fakeStore{Store: store, get: fail}
	obj := pinned{store: failing, key: "f", obj: Object{Key: "f", Size: info.Size, ETag: info.ETag}}
	for off, want := range map[int64]bool{countedBytes: true, countedBytes + 1: false} {
		asked = false
		if got := lineNumber(t.Context(), obj, off); got != 0 || asked != want {
			t.Errorf("byte %d: line %d, asked %v; want %v", off, got, asked, want)
		}
	}
}

// The line of a record is that of the decoded stream, in gzip too; an object of other formats has no lines.
func TestLineAt(t *testing.T) {
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	_, err := zip.Write([]byte("a,1\nb,2\nc,3\n"))
	if err = errors.Join(err, zip.Close()); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"f.csv": []byte("a,1\nb,2\nc,3\n"), "f.csv.gz": zipped.Bytes()} {
		store := mem.New("in")
		if _, err := store.Put(t.Context(), name, data); err != nil {
			t.Fatal(err)
		}
		in := protocol.Input{URI: "mem://in/", Format: "csv", Label: protocol.Column{Number: 1}}.WithDefaults()
		manifest, _, err := Plan(t.Context(), store, "", in)
		if err != nil {
			t.Fatal(err)
		}
		source, err := NewSource(store, "", manifest, in)
		if err != nil {
			t.Fatal(err)
		}
		for off, want := range map[int64]int64{0: 1, 4: 2, 8: 3, countedBytes + 1: 0} {
			if got := source.LineAt(t.Context(), name, off); got != want {
				t.Errorf("%s, byte %d: line %d, want %d", name, off, got, want)
			}
		}
		if got := source.LineAt(t.Context(), "other", 4); got != 0 {
			t.Errorf("of another object: line %d", got)
		}
	}
}
