package objstore_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/dir"
	"github.com/gram-compute/gram/objstore/faulty"
	"github.com/gram-compute/gram/objstore/mem"
)

// ownerStores are stores of each kind that needs no server.
func ownerStores(t *testing.T) map[string]objstore.Store {
	t.Helper()
	folder, err := dir.Open(t.TempDir(), dir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	return map[string]objstore.Store{"mem": mem.New("m"), "dir": folder}
}

// A store is the first cluster's, again and again; another's claim is refused and names it, unless it was begun with
// a backup.
func TestOwn(t *testing.T) {
	for name, s := range ownerStores(t) {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			if err := objstore.CheckOwner(ctx, s, "a"); !errors.Is(err, objstore.ErrNotFound) {
				t.Errorf("nobody's: %v", err)
			}
			for range 2 {
				if err := objstore.Own(ctx, s, "a"); err != nil {
					t.Fatal(err)
				}
			}
			for what, call := range map[string]func() error{
				"another":                 func() error { return objstore.Own(ctx, s, "b") },
				"with a backup of others": func() error { return objstore.TakeOver(ctx, s, "b", "c") },
				"checked":                 func() error { return objstore.CheckOwner(ctx, s, "b") },
			} {
				if err := call(); !errors.Is(err, objstore.ErrOwned) ||
					err.Error() != fmt.Sprintf(
						"own %s/cluster/id: the store belongs to another cluster: it says a, this is b", s) {
					t.Errorf("%s: %v", what, err)
				}
			}
			for _, id := range []string{"b", "b", "c"} { // two attempts to restore the same backup
				if err := objstore.TakeOver(ctx, s, id, "a"); err != nil {
					t.Errorf("%s takes over: %v", id, err)
				}
			}
			for id, want := range map[string]error{"a": objstore.ErrOwned, "b": objstore.ErrOwned, "c": nil} {
				if err := objstore.Own(ctx, s, id); !errors.Is(err, want) {
					t.Errorf("%s afterwards: %v", id, err)
				}
			}
			if _, err := s.Put(ctx, objstore.OwnerKey, []byte("\n")); err != nil {
				t.Fatal(err)
			}
			if err := objstore.Own(ctx, s, "c"); !errors.Is(err, objstore.ErrOwned) {
				t.Errorf("an empty object: %v", err)
			}
		})
	}
}

// Of many clusters that claim a store at once one gets it, also when its reply is lost.
func TestOwnRace(t *testing.T) {
	for name, inner := range ownerStores(t) {
		t.Run(name, func(t *testing.T) {
			s := faulty.Wrap(inner, faulty.Rule{Op: faulty.Put, Times: 1, LostReply: true})
			var won atomic.Int32
			var all sync.WaitGroup
			for i := range 16 {
				all.Go(func() {
					id := fmt.Sprint("cluster-", i)
					err := objstore.Own(context.Background(), s, id)
					if errors.Is(err, objstore.ErrUnavailable) {
						err = objstore.Own(context.Background(), s, id) // as a start does again
					}
					switch {
					case err == nil:
						won.Add(1)
					case !errors.Is(err, objstore.ErrOwned):
						t.Error(err)
					}
				})
			}
			all.Wait()
			if won.Load() != 1 {
				t.Errorf("%d clusters own the store", won.Load())
			}
		})
	}
}

// Replace takes the place of what is there, and of what came meanwhile only from the version it knows.
func TestReplace(t *testing.T) {
	for name, s := range ownerStores(t) {
		t.Run(name, func(t *testing.T) {
			for _, data := range []string{"first", "first", "second", ""} {
				info, err := objstore.Replace(t.Context(), s, "a/k", []byte(data))
				if err != nil || info.Size != int64(len(data)) {
					t.Fatalf("%+v, %v", info, err)
				}
				if got, _, err := objstore.ReadAll(t.Context(), s, "a/k", objstore.GetOptions{}, 100); err != nil ||
					string(got) != data {
					t.Errorf("%q, %v; want %q", got, err, data)
				}
			}
		})
	}
}
