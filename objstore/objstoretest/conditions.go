package objstoretest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gram-compute/gram/objstore"
)

// testPutNew: an object is made once and not replaced, by several writers at once too.
func testPutNew(t *testing.T, s suite) {
	created := objstore.PutOptions{New: true}
	first, err := s.PutIf(t.Context(), "a/new", []byte("first"), created)
	if err != nil || first.Key != "a/new" || first.Size != 5 || first.ETag == "" {
		t.Fatalf("%+v, %v", first, err)
	}
	for _, data := range []string{"first", "other", ""} {
		_, err := s.PutIf(t.Context(), "a/new", []byte(data), created)
		wantErr(t, "made again as "+data, err, objstore.ErrExists)
	}
	got, info := mustGet(t, s, "a/new", objstore.GetOptions{})
	wantBytes(t, "after refused writes", got, []byte("first"))
	if info.ETag != first.ETag {
		t.Errorf("the ETag is %s, was %s", info.ETag, first.ETag)
	}
	if again, err := objstore.PutNew(t.Context(), s, "a/new", []byte("first")); err != nil ||
		again.ETag != first.ETag || again.Size != 5 {
		t.Errorf("the same bytes put anew: %+v, %v", again, err)
	}
	for _, data := range []string{"other", "longer than that", "f", ""} {
		_, err = objstore.PutNew(t.Context(), s, "a/new", []byte(data))
		wantErr(t, "other bytes put anew", err, objstore.ErrExists)
	}
	if err := s.Delete(t.Context(), "a/new"); err != nil {
		t.Fatal(err)
	}
	if _, err := objstore.PutNew(t.Context(), s, "a/new", []byte("other")); err != nil {
		t.Errorf("made after it was deleted: %v", err)
	}
	put(t, s, "b/c", []byte("x"))
	if _, err := s.PutIf(t.Context(), "b", []byte("x"), created); !s.parentsUnnoticed &&
		!errors.Is(err, objstore.ErrInvalidKey) {
		t.Errorf("a parent made new: %v", err)
	}
}

// testPutNewRace: of 16 writers of different bytes one succeeds, and its bytes are there.
func testPutNewRace(t *testing.T, s suite) {
	var won atomic.Int32
	var winner atomic.Value
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			data := fmt.Sprint("writer ", i)
			_, err := s.PutIf(t.Context(), "race/k", []byte(data), objstore.PutOptions{New: true})
			switch {
			case err == nil:
				won.Add(1)
				winner.Store(data)
			case !errors.Is(err, objstore.ErrExists):
				t.Errorf("%s: %v", data, err)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 {
		t.Fatalf("%d writers made the object", won.Load())
	}
	got, _ := mustGet(t, s, "race/k", objstore.GetOptions{})
	wantBytes(t, "the winner's", got, []byte(winner.Load().(string)))
	if left := keys(list(t, s, "")); len(left) != 1 {
		t.Errorf("the others left %v", left)
	}
}

// testPutIfMatch: an object is replaced only from the version that the writer knows.
func testPutIfMatch(t *testing.T, s suite) {
	_, err := s.PutIf(t.Context(), "k", []byte("x"), objstore.PutOptions{IfMatch: "0123456789abcdef0123456789abcdef"})
	if !errors.Is(err, objstore.ErrNotFound) && !errors.Is(err, objstore.ErrChanged) {
		t.Errorf("replace what is not there: %v", err)
	}
	first := put(t, s, "k", []byte("first"))
	second, err := s.PutIf(t.Context(), "k", []byte("second"), objstore.PutOptions{IfMatch: first.ETag})
	if err != nil || second.ETag == first.ETag {
		t.Fatalf("replace the first: %+v, %v", second, err)
	}
	_, err = s.PutIf(t.Context(), "k", []byte("third"), objstore.PutOptions{IfMatch: first.ETag})
	wantErr(t, "replace the first again", err, objstore.ErrChanged)
	got, info := mustGet(t, s, "k", objstore.GetOptions{})
	wantBytes(t, "after a refused write", got, []byte("second"))
	if info.ETag != second.ETag {
		t.Errorf("the ETag is %s, not %s", info.ETag, second.ETag)
	}
}
