package dir

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/gram-compute/gram/objstore"
)

// Every file that was put, put again or deleted waits for Sync, which leaves none. Objects that are gone by then need
// no wait, and their folders may be gone, too.
func TestSyncOfDeferredStore(t *testing.T) {
	s, err := Open(t.TempDir(), Options{Deferred: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	put := func(key string) {
		t.Helper()
		if _, err := s.Put(t.Context(), key, []byte(key)); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"a/b/c", "a/d", "gone/e", "a/b/c"} {
		put(key)
	}
	if err := s.Delete(t.Context(), "gone/e"); err != nil {
		t.Fatal(err)
	}
	if got, want := s.unsynced.take(), []string{"a/b/c", "a/d", "gone/e"}; !slices.Equal(got, want) {
		t.Errorf("waiting: %v, want %v", got, want)
	}
	put("a/b/c") // the same bytes: the Put that wrote them may not have waited either
	put("gone/e")
	if err := s.Delete(t.Context(), "gone/e"); err != nil {
		t.Fatal(err)
	}
	if err := s.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.unsynced.take(); len(got) != 0 {
		t.Errorf("after Sync: %v", got)
	}
	put("f")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var failed *objstore.Error
	if err := s.Sync(ended); !errors.As(err, &failed) || !errors.Is(err, context.Canceled) {
		t.Errorf("Sync of an ended context: %v", err)
	}
}
