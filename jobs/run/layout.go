package run

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"sort"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
)

// What a state keeps of the records of the shards: I64, a number for each shard.
var recordsArrays = [2]string{jobs.Input: notesPrefix + "records", jobs.Queries: notesPrefix + "records.queries"}

// maxBlocks bounds the logical blocks of a data set; a round has room for as many leaves.
const maxBlocks = 1 << 20

// layout is how the records of data sets lie in their shards.
type layout struct {
	each  jobs.BlockRecords
	begin [2][]int64 // of data sets in blocks: the ordinal of the first record of each shard, and how many there are
}

// layoutOf lays out what the first round counted. Counts of other shards than those of the plan are a fault.
func layoutOf(each jobs.BlockRecords, plan jobs.Plan, c counts) (*layout, error) {
	l := &layout{each: each}
	for from, shards := range shardsOf(plan) {
		if each[from] == 0 {
			continue
		}
		records := make([]int64, 0, shards)
		for ; len(c) > 0 && c[0].Source == jobs.Source(from) && c[0].Shard == len(records); c = c[1:] {
			records = append(records, c[0].records)
		}
		if err := l.lay(jobs.Source(from), shards, records); err != nil {
			return nil, err
		}
	}
	if len(c) > 0 {
		return nil, jobs.Malformed("the records of shard %d of %s were counted, which is out of place", c[0].Shard,
			c[0].Source)
	}
	return l, l.checkBlocks()
}

func shardsOf(plan jobs.Plan) [2]int {
	return [2]int{jobs.Input: plan.Shards, jobs.Queries: plan.QueryShards}
}

// lay lays the records of shards in turn.
func (l *layout) lay(from jobs.Source, shards int, records []int64) error {
	if len(records) != shards {
		return jobs.Malformed("the records of %d shards of %s are known, of %d", len(records), from, shards)
	}
	begin := make([]int64, 1, len(records)+1)
	for shard, n := range records {
		if n < 0 || n > math.MaxInt64/2-begin[shard] {
			return jobs.Malformed("shard %d of %s has %d records", shard, from, n)
		}
		begin = append(begin, begin[shard]+n)
	}
	l.begin[from] = begin
	return nil
}

// checkBlocks refuses more blocks than a round has room for.
func (l *layout) checkBlocks() error {
	for _, from := range []jobs.Source{jobs.Input, jobs.Queries} {
		if l.each[from] != 0 && l.blocks(from) > maxBlocks {
			return protocol.InputFault(protocol.CodeInputLimit,
				"%d records of %s are %d blocks of %d; there may be %d blocks", l.records(from), from, l.blocks(from),
				l.size(from), maxBlocks).WithHint("Raise spec.params.block_records.")
		}
	}
	return nil
}

func (l *layout) records(from jobs.Source) int64 {
	if begin := l.begin[from]; len(begin) > 0 {
		return begin[len(begin)-1]
	}
	return 0
}

// size is how many records a logical block has.
func (l *layout) size(from jobs.Source) int64 { return jobs.SizeOf(l.each[from], l.records(from)) }

// blocks is the number of logical blocks, all full but the last.
func (l *layout) blocks(from jobs.Source) int64 {
	if l.each[from] == 0 {
		return 0
	}
	size := l.size(from)
	return (l.records(from) + size - 1) / size
}

// plan returns a plan with the numbers of blocks.
func (l *layout) plan(p jobs.Plan) jobs.Plan {
	p.Blocks, p.QueryBlocks = int(l.blocks(jobs.Input)), int(l.blocks(jobs.Queries))
	return p
}

// detachLayout takes the records of the shards off a state. It is nil where the state has none: before the first round
// has ended.
func detachLayout(state jobs.Arrays, each jobs.BlockRecords, plan jobs.Plan) (jobs.Arrays, *layout, error) {
	if _, ok := state[recordsArrays[jobs.Input]]; !ok || !each.Any() {
		return state, nil, nil
	}
	l, plain := &layout{each: each}, maps.Clone(state)
	for from, shards := range shardsOf(plan) {
		if each[from] == 0 {
			continue
		}
		records, err := jobs.Get[int64](state, recordsArrays[from], -1)
		if err == nil {
			err = l.lay(jobs.Source(from), shards, records)
		}
		if err != nil {
			return nil, nil, err
		}
		delete(plain, recordsArrays[from])
	}
	return plain, l, l.checkBlocks()
}

// attach returns a state with the records of the shards.
func (l *layout) attach(state jobs.Arrays) jobs.Arrays {
	state = maps.Clone(state)
	for from, begin := range l.begin {
		if len(begin) == 0 {
			continue
		}
		records := make([]int64, len(begin)-1)
		for i := range records {
			records[i] = begin[i+1] - begin[i]
		}
		jobs.Put(state, recordsArrays[from], records)
	}
	return state
}

// first is the ordinal of the first record of a shard.
func (l *layout) first(from jobs.Source, shard int) int64 { return l.begin[from][shard] }

// reader reads logical blocks out of the shards that read reads and check accepts. What is skipped in them was counted
// when their records were, and is not counted again.
func (l *layout) reader(read jobs.RangeReader, check func(jobs.Source, *dataset.Block) error) jobs.PartReader {
	return func(ctx context.Context, from jobs.Source, block int) iter.Seq2[jobs.Part, error] {
		return func(yield func(jobs.Part, error) bool) {
			if !from.Known() || block < 0 || int64(block) >= l.blocks(from) {
				yield(jobs.Part{}, fmt.Errorf("jobs: there is no block %d of %s; it has %d", block, from,
					l.blocks(from)))
				return
			}
			at := int64(block) * l.size(from)
			end := min(at+l.size(from), l.records(from))
			r := partReader{from: from, check: check, yield: yield}
			firsts := l.begin[from]
			for shard := sort.Search(len(firsts)-1, func(s int) bool { return firsts[s+1] > at }); at < end; shard++ {
				first, last := firsts[shard], min(firsts[shard+1], end)
				if last > at && !r.shard(read(ctx, from, shard, at-first, last-first), shard, at, last) {
					return
				}
				at = last
			}
		}
	}
}

// partReader yields records of a data set.
type partReader struct {
	from  jobs.Source
	check func(jobs.Source, *dataset.Block) error
	yield func(jobs.Part, error) bool
}

// shard yields the records [at, last), which are blocks of a shard, and reports whether more may follow.
func (r *partReader) shard(blocks iter.Seq2[*dataset.Block, error], shard int, at, last int64) bool {
	for block, err := range blocks {
		if err == nil {
			err = r.check(r.from, block)
		}
		if err != nil {
			r.yield(jobs.Part{}, err)
			return false
		}
		if !r.yield(jobs.Part{Block: block, First: at}, nil) {
			return false
		}
		at += int64(len(block.IDs))
	}
	if at != last {
		r.yield(jobs.Part{}, jobs.Malformed("shard %d of %s ends before record %d of the data set; when its records were "+
			"counted, it had record %d", shard, r.from, at, last-1))
		return false
	}
	return true
}

// metrics tell how the data sets were cut, and what it took to know.
func (l *layout) metrics(phase string, c counts) ([]jobs.Metric, error) {
	var facts jobs.Facts
	for from, name := range [2]string{jobs.Input: "blocks", jobs.Queries: "blocks.queries"} {
		if l.each[from] != 0 {
			facts.Add(name+".count", l.blocks(jobs.Source(from)))
			facts.Add(name+".records", l.records(jobs.Source(from)))
		}
	}
	passes := 0
	for _, s := range c {
		if s.ownPass {
			passes++
		}
	}
	if passes > 0 {
		facts.Add("blocks.own_pass", fmt.Sprintf("%d shards were read once more, to count their records for "+
			"params.block_records: phase %q does not read them", passes, phase))
	}
	return facts.Metrics()
}
