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

// lastRead is the block that a data set was last read in.
type lastRead struct {
	from  jobs.Source
	block *dataset.Block
}

// read passes a shard's blocks on.
func (n *nodeTask) read(ctx context.Context, from jobs.Source, shard int) iter.Seq2[*dataset.Block, error] {
	return n.noting(from, shard, n.ahead(ctx, from, shard, n.job.read(ctx, n.task.GetPhase(), from, shard)))
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
			} else {
				n.last = append(slices.DeleteFunc(n.last, func(r lastRead) bool { return r.from == from }),
					lastRead{from, block})
			}
			if !yield(block, err) {
				return
			}
		}
	}
}

// located adds to a phase's fault about a record where the record is: a phase knows it by its identity alone. It is
// taken to be of the data set last read, where several name their records in that way; of a merge or a step, of the
// first.
func (n *nodeTask) located(ctx context.Context, err error) error {
	var fault, read *protocol.Fault
	if !errors.As(err, &fault) || errors.As(n.unread, &read) && fault == read {
		return err
	}
	id, named := dataset.OfRecord(fault.Record)
	if !named {
		id = dataset.ByPlace(fault.Object, 0)
	}
	candidates := slices.Clone(n.last)
	slices.Reverse(candidates)
	for from := range n.job.inputs {
		candidates = append(candidates, lastRead{jobs.Source(from), &dataset.Block{}})
	}
	for _, last := range candidates {
		in := n.job.inputs[last.from]
		if told := in.locate(fault, id, last.block); told != nil {
			return in.lined(ctx, in.named(ctx, told))
		}
	}
	for _, last := range candidates {
		in := n.job.inputs[last.from]
		if told := in.lined(ctx, fault); told != fault {
			return in.named(ctx, told)
		}
	}
	return n.job.named(ctx, err)
}

// lined returns the fault with the line of its record, or the fault itself where that is not known.
func (in *input) lined(ctx context.Context, fault *protocol.Fault) *protocol.Fault {
	at, known := fault.Offset()
	if !known || fault.Line > 0 || fault.Object == "" || in.source == nil {
		return fault
	}
	if line := in.source.LineAt(ctx, fault.Object, at); line > 0 {
		return fault.At(line, fault.Column)
	}
	return fault
}

// named returns the fault with the name that the header gives the column of the vectors that it is about, where there
// is one.
func (in *input) named(ctx context.Context, fault *protocol.Fault) *protocol.Fault {
	column := fault.VectorColumn()
	if column == 0 {
		return fault
	}
	listed := dataset.Listed{Store: in.store, Name: in.name, Manifest: in.manifest, Input: in.spec}
	names, err := listed.VectorNames(ctx)
	if err != nil || column > len(names) || names[column-1] == "" {
		return fault
	}
	return fault.WithColumnName(names[column-1])
}

// named is that of spec.input, for a fault that no record has.
func (j *job) named(ctx context.Context, err error) error {
	fault, ok := errors.AsType[*protocol.Fault](err)
	if !ok || fault.VectorColumn() == 0 {
		return err
	}
	return j.inputs[jobs.Input].named(ctx, fault)
}

// locate returns the fault with the place of its record, or nil where that is not known. An id is looked for in a
// block.
func (in *input) locate(fault *protocol.Fault, id dataset.Identity, block *dataset.Block) *protocol.Fault {
	if id.Way() == dataset.ID {
		i := slices.Index(block.IDs, id)
		switch {
		case i < 0 || block.Places == nil:
			return nil
		case dataset.CountsRows(in.spec.Format):
			return ofRow(fault, block.Places[i].Object, block.Places[i].Offset)
		}
		return fault.In(block.Places[i].Object).WithOffset(block.Places[i].Offset)
	}
	if id.Way() != dataset.WayOf(&in.spec) {
		return nil
	}
	if id.Way() == dataset.Row {
		if object, row, ok := in.manifest.RowOf(id.Offset); ok {
			return ofRow(fault.Of(protocol.Record{}), object, row)
		}
	} else if key, ok := in.manifest.KeyOf(id.Object, in.spec.Compression); ok && key != id.Object {
		return fault.In(key)
	}
	return nil
}

func ofRow(fault *protocol.Fault, object string, row int64) *protocol.Fault {
	told := *fault
	told.What = fmt.Sprintf("row %d: %s", row, fault.What)
	return told.In(object)
}
