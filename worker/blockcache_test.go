package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"sync"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"pgregory.net/rapid"
)

// reader reads a shard of blocks whose memory it uses again, as a source does, and counts the reads.
type reader struct {
	mu     sync.Mutex
	reads  int
	blocks int
	broken error // after the last block
}

func (r *reader) read(shard int) iter.Seq2[*dataset.Block, error] {
	return func(yield func(*dataset.Block, error) bool) {
		r.mu.Lock()
		r.reads++
		r.mu.Unlock()
		for i := range r.blocks {
			block := blockOf(100*shard + i)
			more := yield(block, nil)
			clear(block.Texts[0])
			clear(block.Dense.Values)
			if !more {
				return
			}
		}
		if r.broken != nil {
			yield(nil, r.broken)
		}
	}
}

func blockOf(n int) *dataset.Block {
	return &dataset.Block{
		IDs: []dataset.Identity{{Object: "x", Offset: int64(n)}}, Texts: [][]byte{fmt.Appendf(nil, "text %04d", n)},
		Labels:  [][]byte{{}},
		Weights: []float32{float32(n)}, Dense: dataset.Dense{Width: 2, Values: []float32{1, float32(n)}},
		Sparse:  dataset.Sparse{Width: 9, Indptr: []int{0, 1}, Indices: []int32{3}, Values: []float32{float32(-n)}},
		Skipped: []dataset.Skip{{Line: int64(n), Reason: "too long"}},
		Rest:    n,
	}
}

// wantShard reads a shard through the cache and checks it against what it must be.
func wantShard(t rapid.TB, c *blockCache, set setKey, shard int, r *reader) {
	t.Helper()
	i, reads := 0, r.reads
	for block, err := range c.blocks(context.Background(), set, shard, r.read(shard)) {
		if err != nil {
			t.Fatal(err)
		}
		want, plain := blockOf(100*shard+i), *block
		want.Lasting = r.reads == reads // what was kept lasts
		if plain.Memo = (dataset.Memo{}); !reflect.DeepEqual(&plain, want) {
			t.Fatalf("shard %d, block %d: %+v, want %+v", shard, i, block, want)
		}
		i++
	}
	if i != r.blocks {
		t.Fatalf("shard %d has %d blocks, want %d", shard, i, r.blocks)
	}
}

var oneBlock = blockBytes(blockOf(0))

func TestBlockBytesCountsAllOfABlock(t *testing.T) {
	// IDs 24, label 24, text 24+9, weight 4, dense 8, sparse 16+4+4, skip 64+8 and the block itself.
	if want := int64(reflect.TypeFor[dataset.Block]().Size()) + 24 + 24 + 33 + 4 + 8 + 24 + int64(
		reflect.TypeFor[dataset.Skip]().Size()) + 8; oneBlock != want {
		t.Errorf("%d, want %d", oneBlock, want)
	}
	seventh := blockOf(7)
	seventh.Lasting = true
	if got := copyBlock(blockOf(7)); !reflect.DeepEqual(got, seventh) {
		t.Errorf("%+v", got)
	}
	if got := copyBlock(&dataset.Block{}); !reflect.DeepEqual(got, &dataset.Block{Lasting: true}) {
		t.Errorf("nil did not stay nil: %+v", got)
	}
}

func TestSecondRoundDoesNotRead(t *testing.T) {
	c, r := newBlockCache(100*oneBlock), &reader{blocks: 3}
	for range 3 {
		for shard := range 5 {
			wantShard(t, c, setKey{"a", jobs.Input}, shard, r)
		}
	}
	if r.reads != 5 || c.used != 15*oneBlock {
		t.Errorf("%d reads of 5 shards, %d bytes in use", r.reads, c.used)
	}
	c.drop("a")
	if c.used != 0 || len(c.sets) != 0 {
		t.Errorf("%d bytes in use after the job was dropped", c.used)
	}
}

// Of a data set that does not fit, what fits stays: rounds that go around it would drop
// every shard before its turn otherwise.
func TestWhatFitsStays(t *testing.T) {
	c, r := newBlockCache(3*oneBlock), &reader{blocks: 1}
	for range 10 {
		for shard := range 9 {
			wantShard(t, c, setKey{"a", jobs.Input}, shard, r)
		}
	}
	if want := 9 + 9*6; r.reads != want {
		t.Errorf("%d reads, want %d: 3 of 9 shards fit", r.reads, want)
	}
}

func TestIdleDataSetsMakeRoom(t *testing.T) {
	c, r := newBlockCache(2*oneBlock), &reader{blocks: 1}
	old, next := setKey{"a", jobs.Input}, setKey{"b", jobs.Input}
	wantShard(t, c, old, 0, r)
	wantShard(t, c, old, 1, r)
	for range idleReads - 1 {
		wantShard(t, c, next, 0, r)
	}
	if c.sets[old] == nil || len(c.sets[next].shards) != 0 {
		t.Error("a data set in use was dropped")
	}
	wantShard(t, c, next, 0, r)
	if c.sets[old] != nil || len(c.sets[next].shards) != 1 {
		t.Error("an idle data set makes no room")
	}
}

func TestPartsOfShardsAreNotKept(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		reader *reader
		stop   bool
		budget int64
	}{
		"stopped": {&reader{blocks: 3}, true, 100 * oneBlock},
		"broken":  {&reader{blocks: 3, broken: broken}, false, 100 * oneBlock},
		"too big": {&reader{blocks: 3}, false, 3*oneBlock - 1},
	} {
		cache := newBlockCache(c.budget)
		n := 0
		for _, err := range cache.blocks(t.Context(), setKey{"a", jobs.Input}, 0, c.reader.read(0)) {
			if n++; c.stop || err != nil {
				break
			}
		}
		if cache.used != 0 || len(cache.sets[setKey{"a", jobs.Input}].shards) != 0 {
			t.Errorf("%s: %d bytes kept", name, cache.used)
		}
	}
	var none *blockCache
	r := &reader{blocks: 2}
	wantShard(t, none, setKey{}, 0, r)
	none.drop("a")
}

// A shard is best read as a whole where it is kept, or fits; a data set of which no shard does is in use all the same.
func TestServes(t *testing.T) {
	c, r := newBlockCache(3*oneBlock), &reader{blocks: 2}
	a, b := setKey{"a", jobs.Input}, setKey{"b", jobs.Input}
	if !c.serves(a, 0, 3*oneBlock) || c.serves(a, 0, 3*oneBlock+1) || c.used != 0 {
		t.Errorf("%d bytes in use", c.used)
	}
	wantShard(t, c, a, 0, r)
	if !c.serves(a, 0, 9*oneBlock) || !c.serves(b, 0, oneBlock) || c.serves(b, 0, 2*oneBlock) {
		t.Error("a shard that is kept is not served, or one without room is")
	}
	for range idleReads {
		c.serves(b, 0, 2*oneBlock)
	}
	if !c.serves(b, 0, 2*oneBlock) || c.used != 0 {
		t.Errorf("an idle data set makes no room: %d bytes in use", c.used)
	}
	c = newBlockCache(3*oneBlock - 1)
	r.blocks = 3
	if wantShard(t, c, a, 0, r); c.serves(a, 0, 1) || !c.serves(a, 1, 1) {
		t.Error("a shard that did not fit is tried in vain again")
	}
	var none *blockCache
	if none.serves(a, 0, 1) {
		t.Error("a cache that is not there serves")
	}
}

func TestCancelledReplay(t *testing.T) {
	c, r := newBlockCache(100*oneBlock), &reader{blocks: 3}
	wantShard(t, c, setKey{"a", jobs.Input}, 0, r)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for block, err := range c.blocks(ctx, setKey{"a", jobs.Input}, 0, r.read(0)) {
		if block != nil || !errors.Is(err, context.Canceled) {
			t.Error(block, err)
		}
	}
}

// Whatever is read, dropped and nested: every read gives the shard, and the copies stay in the budget.
func TestBlockCacheProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := newBlockCache(rapid.Int64Range(0, 20).Draw(rt, "budget") * oneBlock)
		r := &reader{blocks: rapid.IntRange(0, 3).Draw(rt, "blocks")}
		for range rapid.IntRange(1, 100).Draw(rt, "steps") {
			set := setKey{rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "job"),
				jobs.Source(rapid.IntRange(0, 1).Draw(rt, "source"))}
			shard := rapid.IntRange(0, 4).Draw(rt, "shard")
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0:
				c.drop(set.job)
			case 2, 3:
				wantMemos(rt, c, set, shard, r, rapid.Int64Range(0, 2*oneBlock).Draw(rt, "bytes"))
			case 1: // read a shard within another pass over it
				for range c.blocks(context.Background(), set, shard, r.read(shard)) {
					wantShard(rt, c, set, shard, r)
				}
			default:
				wantShard(rt, c, set, shard, r)
			}
			held := int64(0)
			for _, s := range c.sets {
				for _, kept := range s.shards {
					held += kept.bytes
				}
			}
			if c.used != held || c.used > c.budget {
				rt.Fatalf("%d bytes in use, %d held, budget %d", c.used, held, c.budget)
			}
		}
	})
}

// Readers at the same time share shards, of which one may find no room for its copies.
func TestReadersAtTheSameTime(t *testing.T) {
	c, r := newBlockCache(7*oneBlock), &reader{blocks: 2}
	var readers sync.WaitGroup
	for i := range 4 {
		readers.Go(func() {
			for n := range 200 {
				shard := (n + i) % 5
				j := 0
				for block, err := range c.blocks(t.Context(), setKey{"a", jobs.Input}, shard, r.read(shard)) {
					if err != nil || !bytes.Equal(block.Texts[0], blockOf(100*shard + j).Texts[0]) {
						t.Errorf("shard %d: %s, %v", shard, block.Texts[0], err)
					}
					j++
				}
				if n == 100 && i == 0 {
					c.drop("a")
				}
			}
		})
	}
	readers.Wait()
	if c.used > c.budget {
		t.Errorf("%d bytes in use, budget %d", c.used, c.budget)
	}
}

// What leaves keep takes room as blocks do, is taken out once, and goes with its job.
func TestMemos(t *testing.T) {
	c, r := newBlockCache(oneBlock+300), &reader{blocks: 1}
	set := setKey{"a job", jobs.Input}
	m, other := c.memo("a job", "lloyd", 0, 3, 0), c.memo("a job", "lloyd", 0, 4, 0)
	m.Keep("early", 10) // of a job of which nothing was read
	if m.Take() != nil || c.used != 0 {
		t.Errorf("kept beside no blocks; %d bytes used", c.used)
	}
	wantShard(t, c, set, 0, r)
	blocks := c.used
	m.Keep("first", 100)
	m.Keep("second", 200)
	other.Keep("too large", 1000)
	if c.used != blocks+200 || other.Take() != nil {
		t.Errorf("%d bytes used, want %d", c.used, blocks+200)
	}
	if got := m.Take(); got != "second" || m.Take() != nil || c.used != blocks {
		t.Errorf("took %v; %d bytes used, want %d", got, c.used, blocks)
	}
	m.Keep("of a state that was taken back", 100)
	if got := c.memo("a job", "lloyd", 0, 3, 1).Take(); got != nil || c.used != blocks {
		t.Errorf("took %v after a change; %d bytes used, want %d", got, c.used, blocks)
	}
	m.Keep("third", 100)
	c.drop("a job")
	if m.Take() != nil || c.used != 0 {
		t.Errorf("a job that was dropped left %d bytes", c.used)
	}
	if newBlockCache(0).memo("a job", "lloyd", 0, 3, 0) != nil {
		t.Error("no room, and a place to keep things")
	}
}
