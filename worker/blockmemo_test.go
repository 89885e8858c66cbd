package worker

import (
	"context"
	"sync"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"pgregory.net/rapid"
)

// wantMemos reads a shard, checks that its memos are those of its blocks, and keeps what is not there yet.
func wantMemos(t rapid.TB, c *blockCache, set setKey, shard int, r *reader, bytes int64) {
	t.Helper()
	i := 0
	for block, err := range c.blocks(context.Background(), set, shard, r.read(shard)) {
		if err != nil {
			t.Fatal(err)
		}
		value, first := block.Memo.Value()
		switch {
		case value == nil && block.Memo.Reserve(bytes):
			block.Memo.Keep(100*shard+i, bytes)
		case value != nil && (value != 100*shard+i || first != 0):
			t.Fatalf("shard %d, block %d has the memo %v from record %d", shard, i, value, first)
		}
		i++
	}
}

func memosOf(c *blockCache, set setKey, shard int, r *reader) (found int) {
	for block := range c.blocks(context.Background(), set, shard, r.read(shard)) {
		if value, _ := block.Memo.Value(); value != nil {
			found++
		}
	}
	return found
}

// What a pass keeps beside the blocks of a shard is there for the next ones, and counts as memory of the shard.
func TestMemosStayWithTheirShard(t *testing.T) {
	c, r, set := newBlockCache(4*oneBlock+150), &reader{blocks: 2}, setKey{"a", jobs.Input}
	wantMemos(t, c, set, 0, r, 50)
	if found := memosOf(c, set, 0, r); found != 2 || c.used != 2*oneBlock+100 {
		t.Errorf("%d memos of 2 blocks, %d bytes in use", found, c.used)
	}
	wantMemos(t, c, set, 1, r, 50) // takes one block, and no room is left for a memo beside the other
	wantMemos(t, c, set, 0, r, 50)
	if found := memosOf(c, set, 1, r); found != 1 || c.used != 4*oneBlock+150 {
		t.Errorf("%d memos of 2 blocks where one fits, %d bytes in use", found, c.used)
	}
	c.drop("a")
	if c.used != 0 {
		t.Errorf("%d bytes in use after the job was dropped", c.used)
	}
	if found := memosOf(c, set, 0, r); found != 0 {
		t.Errorf("%d memos after the job was dropped", found)
	}
}

// A shard whose blocks do not fit has no memos, and keeps no memory for them.
func TestMemosOfAShardThatDoesNotFit(t *testing.T) {
	c, r, set := newBlockCache(3*oneBlock-1), &reader{blocks: 3}, setKey{"a", jobs.Input}
	for range 2 {
		wantMemos(t, c, set, 0, r, 10)
		if c.used != 0 {
			t.Fatalf("%d bytes in use", c.used)
		}
	}
	var none *blockCache
	wantMemos(t, none, set, 0, r, 10)
}

// What is reserved of a shard that is gone by then stays free, whether it is given back or kept.
func TestMemoOfADroppedShard(t *testing.T) {
	c, r, set := newBlockCache(100*oneBlock), &reader{blocks: 1}, setKey{"a", jobs.Input}
	var memo dataset.Memo
	for block := range c.blocks(t.Context(), set, 0, r.read(0)) {
		memo = block.Memo
	}
	if !memo.Reserve(10) || !memo.Reserve(20) || c.used != oneBlock+30 {
		t.Fatalf("%d bytes in use", c.used)
	}
	if memo.Release(20); c.used != oneBlock+10 {
		t.Errorf("%d bytes in use after 20 were given back", c.used)
	}
	c.drop("a")
	memo.Keep("late", 10)
	memo.Release(10)
	if memo.Reserve(1) || c.used != 0 {
		t.Errorf("%d bytes in use of a shard that was dropped", c.used)
	}
}

func TestMemosAtTheSameTime(t *testing.T) {
	c, r := newBlockCache(9*oneBlock), &reader{blocks: 2}
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for n := range 200 {
				wantMemos(t, c, setKey{"a", jobs.Input}, n%3, r, oneBlock/4)
				if n%50 == 49 {
					c.drop("a")
				}
			}
		})
	}
	readers.Wait()
	if c.drop("a"); c.used != 0 {
		t.Errorf("%d bytes in use after the job was dropped", c.used)
	}
}
