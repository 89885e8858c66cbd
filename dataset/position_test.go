package dataset

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/objstore"
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
