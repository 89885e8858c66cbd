package worker

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
)

// read passes a shard's blocks on.
func (n *nodeTask) read(ctx context.Context, from jobs.Source, shard int) iter.Seq2[*dataset.Block, error] {
	return n.noting(from, shard, n.job.read(ctx, from, shard))
}

// readRange passes some records of a shard on. They come out of the whole shard where that is in memory, or may get
// there: the next block in it then comes from memory too.
func (n *nodeTask) readRange(
	ctx context.Context, from jobs.Source, shard int, begin, end int64,
) iter.Seq2[*dataset.Block, error] {
	in, set := n.job.inputs[from], setKey{n.job.cached(), from}
	if n.job.w.cache.serves(set, shard, in.recordBytes(shard)) {
		return dataset.Between(n.read(ctx, from, shard), begin, end)
	}
	return n.noting(from, shard, advancing(ctx, in.source.Range(ctx, in.shards[shard], begin, end)))
}

// noting remembers which shard is read, and the fault of a reader, whose positions are bytes.
func (n *nodeTask) noting(
	from jobs.Source, shard int, blocks iter.Seq2[*dataset.Block, error],
) iter.Seq2[*dataset.Block, error] {
	return func(yield func(*dataset.Block, error) bool) {
		n.at.shards = append(n.at.shards, n.job.inputs[from].shardText(shard))
		for block, err := range blocks {
			if err != nil {
				n.unread = err
			}
			if !yield(block, err) {
				return
			}
		}
	}
}

// located says row where a phase tells of a record by its identity in a format of binary rows: its offset
// is a number of rows then, and no byte.
func (n *nodeTask) located(err error) error {
	var fault, read *protocol.Fault
	if !errors.As(err, &fault) || errors.As(n.unread, &read) && fault == read {
		return err
	}
	row, known := fault.Offset()
	if !known || fault.Line > 0 || !n.job.countsRows(fault.Object) {
		return err
	}
	told := fault.WithoutOffset()
	told.What = fmt.Sprintf("row %d: %s", row, fault.What)
	return told
}

// countsRows reports whether the records of an object are named by their rows.
func (j *job) countsRows(object string) bool {
	for _, in := range j.inputs {
		if slices.ContainsFunc(in.manifest.Objects, func(o dataset.Object) bool { return o.Key == object }) {
			return dataset.CountsRows(in.spec.Format)
		}
	}
	return false
}
