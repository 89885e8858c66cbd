package worker

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/worker/scratch"
)

// tally is a memo that may go to disk.
type tally struct{ counts []int64 }

func (t *tally) Fields(f *jobs.Fields) { jobs.List(f, "counts", &t.counts) }
func (t *tally) Empty() jobs.Spillable { return new(tally) }
func (t *tally) equals(value any) bool {
	got, ok := value.(*tally)
	return ok && slices.Equal(got.counts, t.counts)
}
func tallyOf(counts ...int64) *tally       { return &tally{counts} }
func (c *blockCache) files() int64         { return c.scratch.Used() }
func (c *blockCache) leaf(n int) jobs.Memo { return c.memo("a job", "vocabulary", 0, n, 0) }

// spilling returns a cache without room for memos, its scratch directory and its log. A shard of the job is known.
func spilling(t *testing.T, limit int64) (c *blockCache, dir string, log *bytes.Buffer) {
	t.Helper()
	dir, log = t.TempDir(), new(bytes.Buffer)
	to, err := scratch.Open(dir, limit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := to.Close(); err != nil {
			t.Error(err)
		}
	})
	c = newBlockCache(oneBlock).spillTo(to, slog.New(slog.NewTextHandler(log, nil)))
	wantShard(t, c, setKey{"a job", jobs.Input}, 0, &reader{blocks: 1})
	return c, dir, log
}

func TestMemosWithoutRoomGoToDisk(t *testing.T) {
	c, _, log := spilling(t, 1<<20)
	first, second := tallyOf(1, 2, 3), tallyOf(4)
	c.leaf(3).Keep(first, 100)
	c.leaf(4).Keep(tallyOf(9), 100)
	size := c.files()
	c.leaf(4).Keep(second, 100) // in place of the other, of the same size
	c.leaf(5).Keep("not spillable", 100)
	if c.used != oneBlock || size == 0 || c.files() != size {
		t.Errorf("%d bytes of memory used, %d of disk, then %d", c.used, size, c.files())
	}
	if got := c.leaf(3).Take(); !first.equals(got) {
		t.Errorf("took %v, want %v", got, first)
	}
	if got := c.leaf(4).Take(); !second.equals(got) || c.leaf(4).Take() != nil || c.leaf(5).Take() != nil {
		t.Errorf("took %v, want %v, once", got, second)
	}
	if c.files() != 0 || log.Len() > 0 {
		t.Errorf("%d bytes are left, and the log has %q", c.files(), log)
	}
}

// Files go with their job, and when the worker has nothing to do.
func TestFilesOfMemosEnd(t *testing.T) {
	for name, end := range map[string]func(c *blockCache){
		"the job is dropped": func(c *blockCache) { c.drop("a job") },
		"nothing to do":      (*blockCache).removeFiles,
	} {
		c, dir, _ := spilling(t, 1<<20)
		for leaf := range 3 {
			c.leaf(leaf).Keep(tallyOf(int64(leaf)), 100)
		}
		end(c)
		left, err := filepath.Glob(filepath.Join(dir, "*", "*"))
		if err != nil || len(left) > 0 || c.files() != 0 || c.leaf(1).Take() != nil {
			t.Errorf("%s, and %v is left (%v)", name, left, err)
		}
		if c.leaf(1).Keep(tallyOf(1), 100); name == "the job is dropped" && c.files() != 0 {
			t.Errorf("kept for a job that was dropped")
		}
	}
	var none *blockCache
	none.removeFiles()
}

// Whatever happens to a file, what it had is made again: nothing is taken, the log says why, and no file is left.
func TestDamagedFilesOfMemos(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"removed": os.Remove,
		"cut":     func(path string) error { return os.Truncate(path, 9) },
		"a flipped bit": func(path string) error {
			data, err := os.ReadFile(path)
			data[len(data)-1] ^= 1
			return errors.Join(err, os.WriteFile(path, data, 0o600))
		},
	} {
		c, dir, log := spilling(t, 1<<20)
		c.leaf(7).Keep(tallyOf(1, 2, 3), 100)
		files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%v (%v)", files, err)
		}
		if err := damage(files[0]); err != nil {
			t.Fatal(err)
		}
		if got := c.leaf(7).Take(); got != nil || c.files() != 0 {
			t.Errorf("%s: took %v, %d bytes are left", name, got, c.files())
		}
		if !strings.Contains(log.String(), "read again") || !strings.Contains(log.String(), "leaf=7") {
			t.Errorf("%s: the log has %q", name, log)
		}
	}
}

// A directory that takes no more is said once, until it takes something again.
func TestAFullScratchDirectory(t *testing.T) {
	c, _, log := spilling(t, int64(len(jobs.ArraysOf(tallyOf(1)).Encode())))
	for leaf := range 4 {
		c.leaf(leaf).Keep(tallyOf(int64(leaf)), 100)
	}
	if c.leaf(1).Take() != nil || strings.Count(log.String(), "cannot be written") != 1 {
		t.Errorf("the log has %q", log)
	}
	if got := c.leaf(0).Take(); !tallyOf(0).equals(got) {
		t.Errorf("took %v of what was written before", got)
	}
	c.leaf(0).Keep(tallyOf(0), 100)
	c.leaf(1).Keep(tallyOf(1), 100)
	if strings.Count(log.String(), "cannot be written") != 2 {
		t.Errorf("the log has %q", log)
	}
}

// A phase that passes over its records has no copies made of them; what an earlier one kept is read.
func TestPassing(t *testing.T) {
	c, r, set := newBlockCache(100*oneBlock), &reader{blocks: 2}, setKey{"a job", jobs.Input}
	read := func(shard int) (n int) {
		for block, err := range c.passing(t.Context(), set, shard, r.read(shard)) {
			if err != nil || string(block.Texts[0]) != string(blockOf(100*shard + n).Texts[0]) {
				t.Fatalf("block %d: %v, %v", n, block, err)
			}
			n++
		}
		return n
	}
	for range 2 {
		if n := read(0); n != 2 {
			t.Errorf("%d blocks", n)
		}
	}
	if r.reads != 2 || c.used != 0 {
		t.Errorf("%d reads, %d bytes in use", r.reads, c.used)
	}
	if c.leaf(0).Keep(tallyOf(1), 10); c.leaf(0).Take() == nil {
		t.Error("nothing is remembered of records that were passed over")
	}
	wantShard(t, c, set, 0, r)
	if reads := r.reads; read(0) != 2 || r.reads != reads {
		t.Error("copies were not read")
	}
	if c = nil; read(0) != 2 {
		t.Error("without a cache")
	}
}
