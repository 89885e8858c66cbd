package coordinator

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/logstore"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/hashicorp/raft"
)

// snapshots returns the folders of a data directory's snapshots, oldest first.
func snapshotsIn(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "raft", "snapshots", "*-*-*"))
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(found, func(a, b string) int { return int(indexOf(t, a)) - int(indexOf(t, b)) })
	return found
}

func indexOf(t *testing.T, snapshot string) (index uint64) {
	t.Helper()
	var term uint64
	if _, err := fmt.Sscanf(filepath.Base(snapshot), "%d-%d-", &term, &index); err != nil {
		t.Fatal(err)
	}
	return index
}

// flipBit flips one bit of a file, which bit drawn by rng.
func flipBit(t *testing.T, file string, rng *rand.Rand) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text[rng.IntN(len(text))] ^= 1 << rng.IntN(8)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// withSnapshots is a stopped member with jobs and two snapshots; cut says whether the log between them is gone.
func withSnapshots(t *testing.T, cut bool) Config {
	t.Helper()
	cfg := testConfig(t.TempDir())
	c := startTest(t, cfg)
	for i := range 3 {
		submitTest(t, c, fmt.Sprint("job", i))
		if i == 2 {
			break
		}
		settings := c.member.Raft.ReloadableConfig()
		if settings.TrailingLogs = 1000; cut {
			settings.TrailingLogs = 1
		}
		if err := errors.Join(c.member.Raft.ReloadConfig(settings), c.member.Raft.Snapshot().Error()); err != nil {
			t.Fatal(err)
		}
	}
	stopTest(t, c)
	return cfg
}

func copyDir(t *testing.T, cfg Config) Config {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(cfg.DataDir)); err != nil {
		t.Fatal(err)
	}
	cfg.DataDir = dir
	return cfg
}

// hasJobs reports whether a member that started knows all that was acknowledged.
func hasJobs(t *testing.T, c *Coordinator) {
	t.Helper()
	view, _ := c.fsm.View()
	for i := range 3 {
		if _, ok := view.Job(fmt.Sprint("job", i)); !ok {
			t.Errorf("job%d is forgotten", i)
		}
	}
}

// One flipped bit in the newest snapshot: where the log still reaches the one before, that one is used, and nothing
// is lost; where it does not, the member says so and does not start.
func TestDamagedSnapshot(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]bool{"the log reaches the older one": false, "the log is cut": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := withSnapshots(t, cut)
			rng := rand.New(rand.NewPCG(1, 2))
			for n := range 12 {
				cfg := copyDir(t, whole)
				kept := snapshotsIn(t, cfg.DataDir)
				newest := kept[len(kept)-1]
				part := []string{"state.bin", "meta.json", "meta.sum"}[n%3]
				flipBit(t, filepath.Join(newest, part), rng)
				c, err := Start(t.Context(), cfg)
				if cut {
					if !errors.Is(err, node.ErrDamaged) || !strings.Contains(err.Error(), filepath.Base(newest)) ||
						!strings.Contains(err.Error(), "gram cluster rebuild") || strings.Contains(err.Error(), "\n") {
						t.Errorf("%s: %v", part, err)
					}
					if err == nil {
						stopTest(t, c)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s: %v", part, err)
					continue
				}
				hasJobs(t, c)
				stopTest(t, c)
				if _, err := os.Stat(filepath.Join(cfg.DataDir, "raft", logstore.AsideFolder,
					filepath.Base(newest))); err != nil {
					t.Errorf("%s: the damaged one is not put aside: %v", part, err)
				}
			}
		})
	}
}

// harmEntry flips a bit of an entry's data, as it lies in the file.
func harmEntry(t *testing.T, file string, index uint64) {
	t.Helper()
	bolt, err := logstore.Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	var entry raft.Log
	err = bolt.GetLog(index, &entry)
	if len(entry.Data) > 0 {
		entry.Data[len(entry.Data)/2] ^= 4
	} else {
		entry.Term ^= 4
	}
	if err := errors.Join(err, bolt.StoreLog(&entry), bolt.Close()); err != nil {
		t.Fatal(err)
	}
}

func firstEntry(t *testing.T, file string) uint64 {
	t.Helper()
	bolt, err := logstore.Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	first, err := bolt.FirstIndex()
	if err := errors.Join(err, bolt.Close()); err != nil {
		t.Fatal(err)
	}
	return first
}

// A damaged entry that a snapshot covers is cut off; one that none covers keeps the member from starting.
func TestDamagedEntry(t *testing.T) {
	t.Parallel()
	whole := withSnapshots(t, false)
	kept := snapshotsIn(t, whole.DataDir)
	covered := indexOf(t, kept[len(kept)-1])
	for entry, starts := range map[uint64]bool{2: true, covered: true, covered + 1: false} {
		cfg := copyDir(t, whole)
		harmEntry(t, filepath.Join(cfg.DataDir, "raft", "log.db"), entry)
		c, err := Start(t.Context(), cfg)
		switch {
		case !starts &&
			(!errors.Is(err, node.ErrDamaged) ||
				!strings.Contains(err.Error(), fmt.Sprintf("entry %d of the log", entry))):
			t.Errorf("entry %d: %v", entry, err)
		case starts && err != nil:
			t.Errorf("entry %d: %v", entry, err)
		case starts:
			hasJobs(t, c)
			stopTest(t, c)
			if first := firstEntry(t, filepath.Join(cfg.DataDir, "raft", "log.db")); first <= entry {
				t.Errorf("entry %d: the log begins at %d", entry, first)
			}
		}
		if err == nil {
			stopTest(t, c)
		}
	}
}

// rotting is a log in which an entry that was whole at the start is damaged when it is read again.
type rotting struct {
	node.DurableStore
	rotten *atomic.Bool
}

func (r rotting) GetLog(index uint64, entry *raft.Log) error {
	if r.rotten.Load() {
		return fmt.Errorf("%w: entry %d of the log does not have its checksum", logstore.ErrDamaged, index)
	}
	return r.DurableStore.GetLog(index, entry)
}

// An entry that is damaged while the member runs ends it with one line, not with raft's panic; the others go on.
func TestEntryDamagedLater(t *testing.T) {
	t.Parallel()
	q := startQuorum(t, 2)
	var rotten atomic.Bool
	cfg := q.config("c3", t.TempDir())
	cfg.wrapLog = func(log node.DurableStore) node.DurableStore { return rotting{log, &rotten} }
	odd, err := q.startWith(cfg)
	if err != nil {
		t.Fatal(err)
	}
	q.awaitVotes(3)
	rotten.Store(true)
	q.submit("a")
	select {
	case err := <-odd.Failed():
		if !errors.Is(err, node.ErrDamaged) || !strings.Contains(err.Error(), "gram cluster rebuild") {
			t.Errorf("failed with %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("a member whose log is damaged goes on")
	}
	q.stop("c3")
	q.submit("b")
}
