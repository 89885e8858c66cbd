package worker

import (
	"context"
	"iter"
	"strings"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
)

// A worker's memory is this many times what its slots fetch ahead of their work.
const aheadShare = 16

// far reports whether a data set's store is across a network: of files, the kernel reads ahead.
func far(uri string) bool { return strings.HasPrefix(uri, "s3://") }

// fetchNext begins to fetch the shard after the one that the task is about to read, where the task has another leaf and
// the shard is not in memory. A leaf that reads other shards finds nothing, and what is fetched ends with the task.
func (n *nodeTask) fetchNext(ctx context.Context, from jobs.Source, shard int) {
	in, next := n.job.inputs[from], shard+1
	if !in.far || !n.hasLeafAfter(n.at.leaf) || next >= len(in.shards) {
		return
	}
	w := n.job.w
	if w.cache != nil {
		if kept, _ := w.cache.has(setKey{n.job.cached(), from}, next); kept {
			return
		}
	}
	in.source.Ahead(ctx, in.shards[next], w.aheadRoom())
}

// hasLeafAfter reports whether the task has a leaf after the one at index.
func (n *nodeTask) hasLeafAfter(index int) bool {
	id := n.task.GetId()
	end := (uint64(id.GetIndex()) + 1) << id.GetLevel()
	return uint64(index)+1 < min(end, uint64(n.task.GetTreeLeaves()))
}

// aheadRoom is how many bytes one task may fetch ahead.
func (w *worker) aheadRoom() int64 {
	return w.cfg.Memory / aheadShare / int64(max(w.cfg.Slots, 1))
}

// ahead passes blocks on, and begins to fetch the next shard once the first of them is there.
func (n *nodeTask) ahead(
	ctx context.Context, from jobs.Source, shard int, blocks iter.Seq2[*dataset.Block, error],
) iter.Seq2[*dataset.Block, error] {
	if !n.job.inputs[from].far {
		return blocks
	}
	return func(yield func(*dataset.Block, error) bool) {
		begun := false
		for block, err := range blocks {
			if !begun && err == nil {
				begun = true
				n.fetchNext(ctx, from, shard)
			}
			if !yield(block, err) {
				return
			}
		}
	}
}
