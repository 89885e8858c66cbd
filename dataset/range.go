package dataset

import (
	"context"
	"iter"
)

// Range reads the good records [from, to) of a shard, numbered from 0. It yields what Blocks yields, without the
// records outside. Those are not parsed, which takes little more time than reading their bytes. Only where bad records
// may be skipped, all records before to are parsed, to tell bad ones from good ones. Skipped records are not reported.
// Bytes are verified as in a whole pass.
func (s *Source) Range(ctx context.Context, shard Shard, from, to int64) iter.Seq2[*Block, error] {
	blind := s.input.OnBadRecord.SkipMax == 0
	return func(yield func(*Block, error) bool) {
		at := int64(0)
		if blind {
			at = from
		}
		r := shardReader{src: s, ctx: ctx, buf: s.newBuffer(shard), skips: s.input.OnBadRecord.SkipMax,
			wanted: wanted{from: from, to: to, bounded: true, blind: blind}}
		r.yield = func(block *Block, err error) bool {
			if err != nil {
				return yield(nil, err)
			}
			part := block.within(&at, from, to)
			return part == nil || yield(part, nil)
		}
		for _, p := range shard.Pieces {
			if r.past() {
				break
			}
			if !r.goOn(r.piece(p)) {
				return
			}
		}
		r.goOn(r.flush())
	}
}

// wanted is which good records of a shard a reader yields.
type wanted struct {
	bounded  bool // not all of them
	from, to int64
	blind    bool // every record is good, so that those before from need not be parsed
	seen     int64
}

// past reports whether all records wanted have been read.
func (w *wanted) past() bool { return w.bounded && w.seen >= w.to }

// outside reports whether the record that begins need not be parsed.
func (w *wanted) outside() bool {
	if !w.bounded || w.seen < w.to && (!w.blind || w.seen >= w.from) {
		return false
	}
	w.seen++
	return true
}

// within returns the records of a block that lie in [from, to), and nil for none. The block begins at record *at, which
// is moved to where it ends.
func (b *Block) within(at *int64, from, to int64) *Block {
	n := int64(len(b.IDs))
	begin, end := max(from-*at, 0), min(to-*at, n)
	*at += n
	if begin >= end {
		return nil
	}
	part := b.Slice(int(begin), int(end))
	part.Rest = int(max(0, min(int64(b.Rest), to-*at)))
	return part
}

// Between yields the records [from, to) of those that blocks hold. It reads all of them: what is verified at the end of
// a pass is verified here too.
func Between(blocks iter.Seq2[*Block, error], from, to int64) iter.Seq2[*Block, error] {
	return func(yield func(*Block, error) bool) {
		at := int64(0)
		for block, err := range blocks {
			if err != nil {
				yield(nil, err)
				return
			}
			if part := block.within(&at, from, to); part != nil && !yield(part, nil) {
				return
			}
		}
	}
}
