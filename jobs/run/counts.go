package run

import (
	"context"
	"fmt"
	"maps"

	"github.com/gram-compute/gram/jobs"
)

// Logical blocks need to know how many records each shard has. The leaves of the first round of an algorithm over
// blocks count them, and the counts travel beside the partials, as skips do. Each shard of a data set that is read in
// blocks is one leaf's to count: a shard of the input that of its own leaf, a shard of the queries that of the leaf
// whose number is its own modulo the shards of the input. A whole pass that the phase makes over such a shard counts
// its records by the way. Where the phase makes none the leaf makes one of its own, and the report says so.
const countsArray = notesPrefix + "counts" // I64 [shards, 4]: source, shard, records, own pass; ascending

// shardCount is how many good records a shard has.
type shardCount struct {
	place
	records int64
	ownPass bool // made to count them, and for nothing else
}

// counts are those of some shards, ascending.
type counts []shardCount

// plus joins the counts of two nodes.
func (c counts) plus(right counts) (sum counts, err error) {
	for len(c) > 0 || len(right) > 0 {
		switch {
		case len(right) == 0 || len(c) > 0 && c[0].compare(right[0].place) < 0:
			sum, c = append(sum, c[0]), c[1:]
		case len(c) == 0 || c[0].compare(right[0].place) > 0:
			sum, right = append(sum, right[0]), right[1:]
		default:
			return nil, jobs.Malformed("the records of shard %d of %s were counted twice", c[0].Shard, c[0].Source)
		}
	}
	return sum, nil
}

// attach returns partial with the array that tells c.
func (c counts) attach(partial jobs.Arrays) jobs.Arrays {
	if len(c) == 0 {
		return partial
	}
	rows := make([]int64, 0, 4*len(c))
	for _, s := range c {
		own := int64(0)
		if s.ownPass {
			own = 1
		}
		rows = append(rows, int64(s.Source), int64(s.Shard), s.records, own)
	}
	partial = maps.Clone(partial)
	jobs.Put(partial, countsArray, rows, len(c), 4)
	return partial
}

// detachCounts is the inverse of attach.
func detachCounts(partial jobs.Arrays) (jobs.Arrays, counts, error) {
	if _, ok := partial[countsArray]; !ok {
		return partial, nil, nil
	}
	rows, err := jobs.Get[int64](partial, countsArray, -1, 4)
	if err != nil {
		return nil, nil, err
	}
	var c counts
	for ; len(rows) > 0; rows = rows[4:] {
		s := shardCount{place{jobs.Source(rows[0]), int(rows[1])}, rows[2], rows[3] == 1}
		if !s.Source.Known() || s.Shard < 0 || s.records < 0 || rows[3]>>1 != 0 ||
			len(c) > 0 && c[len(c)-1].compare(s.place) >= 0 {
			return nil, nil, jobs.Malformed("array %q does not count the records of shards in order", countsArray)
		}
		c = append(c, s)
	}
	partial = maps.Clone(partial)
	delete(partial, countsArray)
	return partial, c, nil
}

// counter counts the records of the shards that are a leaf's to count.
type counter struct {
	places  []place // ascending
	found   map[place]int64
	ownPass map[place]bool
}

// newCounter is nil, which counts nothing, unless a data set is read in blocks.
func newCounter(each jobs.BlockRecords, leaf jobs.Leaf) *counter {
	c := &counter{found: map[place]int64{}, ownPass: map[place]bool{}}
	if each[jobs.Input] != 0 {
		c.places = append(c.places, place{jobs.Input, leaf.Index})
	}
	if each[jobs.Queries] != 0 {
		for shard := leaf.Index; shard < leaf.Plan.QueryShards; shard += leaf.Plan.Shards {
			c.places = append(c.places, place{jobs.Queries, shard})
		}
	}
	if len(c.places) == 0 {
		return nil
	}
	return c
}

// note takes the number of records of a whole pass.
func (c *counter) note(at place, records int64) {
	if c != nil {
		c.found[at] = records
	}
}

// rest passes over the shards that the phase made no whole pass over.
func (c *counter) rest(ctx context.Context, leaf jobs.Leaf) error {
	if c == nil {
		return nil
	}
	for _, at := range c.places {
		if _, counted := c.found[at]; counted {
			continue
		}
		c.ownPass[at] = true
		blocks := leaf.Blocks(ctx)
		if at.Source != jobs.Input {
			blocks = leaf.Read(ctx, at.Source, at.Shard)
		}
		for _, err := range blocks { // the watch around it notes how many there were
			if err != nil {
				return err
			}
		}
		if _, counted := c.found[at]; !counted {
			return fmt.Errorf("jobs: the records of shard %d of %s were read and not counted", at.Shard, at.Source)
		}
	}
	return nil
}

// counts are what was counted.
func (c *counter) counts() (all counts) {
	if c == nil {
		return nil
	}
	for _, at := range c.places {
		all = append(all, shardCount{at, c.found[at], c.ownPass[at]})
	}
	return all
}
