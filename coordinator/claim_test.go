package coordinator

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/faulty"
	"github.com/gram-compute/gram/objstore/mem"
)

func ownerOf(t *testing.T, s objstore.Store) string {
	t.Helper()
	text, _, err := objstore.ReadAll(t.Context(), s, objstore.OwnerKey, objstore.GetOptions{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text))[0]
}

// A second cluster on a store is refused, before it has a log, and told whose the store is; the first starts again
// and again.
func TestTwoClustersOneStore(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t.TempDir())
	first := startTest(t, cfg)
	id := first.clusterID()
	if got := ownerOf(t, cfg.Store); got != id || id == "" {
		t.Errorf("the store says %s, the cluster is %s", got, id)
	}
	other := cfg
	other.DataDir = t.TempDir()
	for range 2 {
		c, err := Start(t.Context(), other)
		if err == nil {
			stopTest(t, c)
		}
		if !errors.Is(err, objstore.ErrOwned) || !strings.Contains(err.Error(), id) ||
			!strings.Contains(err.Error(), "another --store") {
			t.Errorf("a second cluster: %v", err)
		}
	}
	stopTest(t, first)
	stopTest(t, startTest(t, cfg))
	other.Store = mem.New("another")
	stopTest(t, startTest(t, other)) // the directory is as good as before
}

// A store that an earlier version's cluster used gets its id at the next start; one that does not answer then gets it
// later, and one that turns out to be another's ends the member.
func TestOwnerIsAskedLater(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t.TempDir())
	first := startTest(t, cfg)
	id := first.clusterID()
	stopTest(t, first)
	if err := cfg.Store.Delete(t.Context(), objstore.OwnerKey); err != nil {
		t.Fatal(err)
	}
	whole := cfg.Store
	for _, whose := range []string{"nobody", "another"} {
		if whose == "another" {
			if _, err := whole.Put(t.Context(), objstore.OwnerKey, []byte("another\n")); err != nil {
				t.Fatal(err)
			}
		}
		cfg.Store = faulty.Wrap(whole,
			faulty.Rule{Op: faulty.Get, Key: objstore.OwnerKey, Times: 1, Err: objstore.ErrUnavailable})
		c := startTest(t, cfg)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		if whose == "another" {
			select {
			case err := <-c.Failed():
				if !errors.Is(err, objstore.ErrOwned) {
					t.Errorf("failed with %v", err)
				}
			case <-ctx.Done():
				t.Error("a member goes on with another cluster's store")
			}
		} else {
			for ctx.Err() == nil && objstore.CheckOwner(ctx, whole, id) != nil {
				runtime.Gosched()
			}
			if got := ownerOf(t, whole); got != id {
				t.Errorf("the store says %s, the cluster is %s", got, id)
			}
		}
		cancel()
		stopTest(t, c)
	}
}

// A cluster that begins with a backup takes the store over, twice if need be; the one it came from does not start on
// it again, and a stranger's backup is refused.
func TestRestoreTakesTheStoreOver(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t.TempDir())
	first := startTest(t, cfg)
	old := first.clusterID()
	submitTest(t, first, "a")
	file := filepath.Join(t.TempDir(), "backup")
	view, _ := first.fsm.View()
	out, err := os.Create(file)
	if err == nil {
		err = errors.Join(view.Encode(out), out.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	stopTest(t, first)
	for range 2 {
		again := cfg
		again.DataDir, again.Restore = t.TempDir(), file
		c := startTest(t, again)
		if got := ownerOf(t, cfg.Store); got != c.clusterID() || got == old {
			t.Errorf("the store says %s, the restored cluster is %s", got, c.clusterID())
		}
		stopTest(t, c)
		again.Restore = ""
		stopTest(t, startTest(t, again))
	}
	if c, err := Start(t.Context(), cfg); !errors.Is(err, objstore.ErrOwned) {
		t.Errorf("the cluster that the backup is of: %v", err)
		if err == nil {
			stopTest(t, c)
		}
	}
	strange := cfg
	strange.DataDir, strange.Restore, strange.Store = t.TempDir(), file, mem.New("strange")
	if err := objstore.Own(t.Context(), strange.Store, "stranger"); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), strange); !errors.Is(err, ErrRestore) || !errors.Is(err, objstore.ErrOwned) {
		t.Errorf("into a stranger's store: %v", err)
	}
	if _, err := os.Stat(filepath.Join(strange.DataDir, node.ClaimFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was refused left a claim: %v", err)
	}
}
