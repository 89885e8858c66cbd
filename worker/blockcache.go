package worker

import (
	"context"
	"iter"
	"log/slog"
	"sync"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/worker/scratch"
)

// blockCache keeps decoded blocks of shards in memory, so that rounds after the first
// neither read nor parse. What it holds are copies of what a pass over the store gave: no result
// depends on what is found here. A nil cache holds nothing.
//
// Rounds read a data set's shards in turn, where an LRU of shards that do not all fit
// would always drop the one wanted next. So a shard stays as long as its data set is read at all, and
// what does not fit beside it is read from the store; a data set that nobody has read for
// a while makes room as a whole.
type blockCache struct {
	mu     sync.Mutex
	budget int64 // bytes
	used   int64 // bytes, of copies in the making too
	reads  uint64
	sets   map[setKey]*cachedSet

	scratch *scratch.Dir // for memos that do not fit; nil for none
	logger  *slog.Logger
	failing bool // the last write to scratch failed
}

type setKey struct {
	job  string
	from jobs.Source
}

// cachedSet is what is kept of one data set of one job.
type cachedSet struct {
	read   uint64 // number of its last read
	shards map[int]*copied
	tried  map[int]int64 // of shards that did not fit: bytes for which there was no room
	memos  map[memoKey]memo
}

// copied is a shard's blocks, which nobody may write to.
type copied struct {
	blocks  []*dataset.Block
	bytes   int64
	dropped bool // and its bytes are given back
}

// memoRoom is the memory for what phases keep beside the blocks of a shard. It is that of the shard.
type memoRoom struct {
	cache *blockCache
	set   setKey
	of    *copied
}

// Reserve takes memory for as long as the shard is kept.
func (r memoRoom) Reserve(bytes int64) bool {
	r.cache.mu.Lock()
	defer r.cache.mu.Unlock()
	if r.of.dropped || !r.cache.makeRoom(r.set, bytes) {
		return false
	}
	r.of.bytes += bytes
	return true
}

// Release gives memory back before that.
func (r memoRoom) Release(bytes int64) {
	r.cache.mu.Lock()
	defer r.cache.mu.Unlock()
	if !r.of.dropped {
		r.of.bytes -= bytes
		r.cache.used -= bytes
	}
}

// idleReads is how many reads of other data sets make one idle.
const idleReads = 32

func newBlockCache(budget int64) *blockCache {
	return &blockCache{budget: budget, sets: make(map[setKey]*cachedSet), logger: slog.New(slog.DiscardHandler)}
}

// spillTo lets memos that do not fit go to files.
func (c *blockCache) spillTo(dir *scratch.Dir, logger *slog.Logger) *blockCache {
	c.scratch, c.logger = dir, logger
	return c
}

// blocks passes on the blocks of a shard: those kept, or else those of read, of which it
// keeps copies if they fit.
func (c *blockCache) blocks(ctx context.Context, set setKey, shard int,
	read iter.Seq2[*dataset.Block, error]) iter.Seq2[*dataset.Block, error] {
	if c == nil || c.budget <= 0 {
		return read
	}
	return func(yield func(*dataset.Block, error) bool) {
		if kept := c.lookup(set, shard); kept != nil {
			kept.replay(ctx, yield)
			return
		}
		copies := &copied{}
		defer func() { c.release(copies) }()
		for block, err := range read {
			if copies != nil && (err != nil || !c.add(set, copies, block)) {
				if err == nil {
					c.outgrown(set, shard, copies.bytes+blockBytes(block))
				}
				c.release(copies)
				copies = nil
			}
			if !yield(copies.sharing(block), err) {
				return
			}
		}
		if copies != nil && c.keep(set, shard, copies) {
			copies = nil
		}
	}
}

// passing is blocks for a reader after which nobody reads the shard: it keeps no copies.
func (c *blockCache) passing(ctx context.Context, set setKey, shard int,
	read iter.Seq2[*dataset.Block, error]) iter.Seq2[*dataset.Block, error] {
	if c == nil || c.budget <= 0 {
		return read
	}
	return func(yield func(*dataset.Block, error) bool) {
		if kept := c.lookup(set, shard); kept != nil {
			kept.replay(ctx, yield)
			return
		}
		read(yield)
	}
}

// sharing returns a block with the memo of its copy, which is the last one; the block itself where there is no copy.
func (k *copied) sharing(block *dataset.Block) *dataset.Block {
	if k == nil || block == nil {
		return block
	}
	header := *block
	header.Memo = k.blocks[len(k.blocks)-1].Memo
	return &header
}

// replay hands out copies of the headers: blocks themselves are shared by every reader.
func (k *copied) replay(ctx context.Context, yield func(*dataset.Block, error) bool) {
	for _, block := range k.blocks {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		header := *block
		if !yield(&header, nil) {
			return
		}
	}
}

// serves reports whether the records of a shard are best read as the whole shard: because it is kept, or because copies
// of about that size fit. Otherwise this counts as a read of the data set.
func (c *blockCache) serves(set setKey, shard int, size int64) bool {
	if c == nil || c.budget <= 0 {
		return false
	}
	kept, tried := c.has(set, shard)
	if kept {
		return true
	}
	if size = max(size, tried); c.reserve(set, size) {
		c.release(&copied{bytes: size})
		return true
	}
	c.lookup(set, shard)
	return false
}

// has reports whether a shard is kept, or for how many bytes of it there was no room.
func (c *blockCache) has(set setKey, shard int) (kept bool, tried int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sets[set]
	if s == nil {
		return false, 0
	}
	return s.shards[shard] != nil, s.tried[shard]
}

// outgrown notes that copies of a shard did not fit: estimates may be too small, and nobody should try in vain again.
func (c *blockCache) outgrown(set setKey, shard int, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.sets[set]; s != nil {
		s.tried[shard] = bytes
	}
}

func (c *blockCache) lookup(set setKey, shard int) *copied {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads++
	s := c.sets[set]
	if s == nil {
		s = &cachedSet{shards: make(map[int]*copied), tried: make(map[int]int64), memos: make(map[memoKey]memo)}
		c.sets[set] = s
	}
	s.read = c.reads
	return s.shards[shard]
}

// add copies a block, if there is room for it.
func (c *blockCache) add(set setKey, to *copied, block *dataset.Block) bool {
	if !(memoRoom{c, set, to}).Reserve(blockBytes(block)) {
		return false
	}
	copied := copyBlock(block)
	copied.Memo = dataset.NewMemo(memoRoom{c, set, to})
	to.blocks = append(to.blocks, copied)
	return true
}

// reserve makes room, at the cost of idle data sets only.
func (c *blockCache) reserve(set setKey, size int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.makeRoom(set, size)
}

// makeRoom is reserve for those who hold the lock.
func (c *blockCache) makeRoom(set setKey, size int64) bool {
	for c.used+size > c.budget {
		idle, found := setKey{}, false
		for key, s := range c.sets {
			if key != set && c.reads-s.read >= idleReads && (!found || s.read < c.sets[idle].read) {
				idle, found = key, true
			}
		}
		if !found {
			return false
		}
		c.dropSet(idle)
	}
	c.used += size
	return true
}

// release gives back the room of copies that were not kept.
func (c *blockCache) release(copies *copied) {
	if copies == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used -= copies.bytes
	copies.dropped = true
}

// keep takes a whole shard in, unless another reader was first.
func (c *blockCache) keep(set setKey, shard int, copies *copied) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sets[set]
	if s == nil || s.shards[shard] != nil {
		return false
	}
	s.shards[shard] = copies
	return true
}

// drop forgets a job.
func (c *blockCache) drop(job string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, from := range []jobs.Source{jobs.Input, jobs.Queries} {
		c.dropSet(setKey{job, from})
	}
}

func (c *blockCache) dropSet(key setKey) {
	if s := c.sets[key]; s != nil {
		for _, shard := range s.shards {
			c.used -= shard.bytes
			shard.dropped = true
		}
		for _, m := range s.memos {
			c.used -= m.bytes
			c.removeFile(m.file)
		}
		delete(c.sets, key)
	}
}
