package estimate

import (
	"context"
	"slices"

	"github.com/gram-compute/gram/dataset"
)

// How much of a shard is read to estimate a number of records.
const (
	headBytes  = 1 << 20
	headPieces = 16 // each takes a request or two
)

// count counts the records of a data set where its plan or its format tells them, and else reads the heads of some
// shards: the first, the one in the middle and the last. What the spec calls a bad record is a fault, as in the job.
func count(ctx context.Context, l *listed) (Records, error) {
	switch {
	case l.Manifest.Counted:
		r := Records{Exact: true}
		for _, o := range l.Manifest.Objects {
			r.Count += o.Rows
		}
		return r, nil
	case l.Spec.Format == "document" || l.Spec.Format == "mail": // an object is a record
		r := Records{Exact: true}
		for _, s := range l.Shards {
			r.Count += int64(len(s.Pieces))
		}
		return r, nil
	}
	m := l.Manifest
	m.Objects = slices.Clone(m.Objects)
	for i := range m.Objects {
		m.Objects[i].Digest = "" // what is read in part cannot be verified
	}
	source, err := dataset.NewSource(l.store, dataset.Prefix(l.name), m, l.Spec)
	if err != nil {
		return Records{}, err
	}
	r := Records{}
	total := int64(0)
	for _, s := range l.Shards {
		for _, p := range s.Pieces {
			total += p.End - p.Start
		}
	}
	last := len(l.Shards) - 1
	for _, shard := range slices.Compact([]int{0, last / 2, last}) {
		records, bytes, err := l.head(ctx, source, l.Shards[shard])
		if err != nil {
			return r, err
		}
		r.SampledRecords += records
		r.SampledBytes += bytes
		r.SampledShards++
	}
	r.Exact = r.SampledBytes == total
	r.Count = scaled(r.SampledRecords, total, r.SampledBytes)
	return r, nil
}

// scaled is records*total/bytes, rounded to nearest.
func scaled(records, total, bytes int64) int64 {
	if bytes <= 0 || records == 0 {
		return 0
	}
	if bytes == total {
		return records
	}
	estimate := float64(float64(records)/float64(bytes)*float64(total)) + 0.5
	return int64(min(estimate, 1<<62)) //lint:checked positive, and at most 2^62
}

// head reads the beginning of a shard, about headBytes, and returns how many records lie in how many of its stored
// bytes.
func (l *listed) head(ctx context.Context, source *dataset.Source, shard dataset.Shard) (records, bytes int64,
	err error) {
	for _, p := range shard.Pieces[:min(len(shard.Pieces), headPieces)] {
		n, read, err := l.headOf(ctx, source, p, headBytes-bytes)
		if err != nil {
			return 0, 0, err
		}
		records += n
		if bytes += read; bytes >= headBytes {
			break
		}
	}
	return records, bytes, nil
}

// headOf reads the beginning of a piece. A plain one is made shorter, so that its records are counted exactly. A
// compressed one is read until about as many stored bytes have been fetched: some of them are still in buffers.
func (l *listed) headOf(ctx context.Context, source *dataset.Source, p dataset.Piece, most int64) (records, bytes int64,
	err error) {
	whole := dataset.IsGzip(l.Manifest.Objects[p.Object].Key, l.Spec.Compression)
	if !whole {
		p.End = min(p.End, p.Start+most)
	}
	before := l.store.bytes.Load()
	for block, err := range source.Blocks(ctx, dataset.Shard{Pieces: []dataset.Piece{p}}) {
		if err != nil {
			return 0, 0, err
		}
		records += int64(len(block.IDs))
		if read := l.store.bytes.Load() - before; whole && read >= most && read < p.End-p.Start {
			return records, read, nil
		}
	}
	return records, p.End - p.Start, nil
}
