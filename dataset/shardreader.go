package dataset

import (
	"context"
	"errors"
)

// Bounds of one block: records, good and bad, and values of its vectors (one record excepted).
const (
	blockRecords = 4096
	blockValues  = 1 << 18
	settledBy    = 2 * sampled // good records that settle which columns are watched
)

// errStopped ends a read whose consumer wants no more.
var errStopped = errors.New("stopped by the consumer")

// shardReader is one run over one shard. Its buffers serve every piece.
type shardReader struct {
	src   *Source
	ctx   context.Context
	yield func(*Block, error) bool
	skips int64 // bad records that may still pass
	block Block
	named naming
	held  int // bytes of the block's documents
	buf   []byte
	zip   gunzip
	wanted
}

// goOn ends the sequence with an error, unless it is nil, and reports whether more may follow. It yields the records
// before the error first, so that what the consumer finds wrong with one of them comes before it.
func (r *shardReader) goOn(err error) bool {
	if err == nil || errors.Is(err, errStopped) {
		return err == nil
	}
	r.block.cut(len(r.block.IDs)) // drops what was appended for an incomplete record
	if r.flush() == nil {
		r.yield(nil, err)
	}
	return false
}

func (r *shardReader) piece(p Piece) error {
	if _, one := r.src.format.(documentFormat); one && r.outside() {
		return nil
	}
	obj, zipped, err := r.src.object(p)
	if err != nil {
		return err
	}
	verify, err := r.src.prepare(r.ctx, &obj, p)
	if err != nil {
		return err
	}
	r.named, r.block.watch.missing = r.src.naming(p.Object), r.src.missing
	return verify(r.src.format.read(r, obj, p, zipped))
}

// naming is how the records of one object are named.
type naming struct {
	way    Way
	object string // as places call it
	key    string
	first  int64 // row of the object in the data set, where rows are counted
}

func (s *Source) naming(object int) naming {
	n := naming{way: s.way, key: s.manifest.Objects[object].Key}
	n.object = placeName(n.key, s.input.Compression)
	if s.first != nil {
		n.first = s.first[object]
	}
	return n
}

// keep ends a record whose fields have been appended to the block. at is its offset or, where rows are counted, its row
// in the object.
func (r *shardReader) keep(at int64) error {
	b := &r.block
	r.seen++
	switch r.named.way {
	case ID:
		b.IDs = append(b.IDs, ByID(string(b.id)))
		b.Places = append(b.Places, ByPlace(r.named.key, at))
	case Row:
		b.IDs = append(b.IDs, ByRow(r.named.first+at))
	default:
		b.IDs = append(b.IDs, ByPlace(r.named.object, at))
	}
	if b.watch.fresh && len(b.IDs) == settledBy {
		b.watch.settle(b)
	}
	if n := len(b.Sparse.Values); b.Sparse.Width > 0 {
		b.Sparse.Indptr = append(b.Sparse.Indptr, n)
		if n >= blockValues {
			return r.flush()
		}
	}
	if len(b.Dense.Values)+b.Dense.Width > blockValues || len(b.Categories.Values)+b.Categories.Width > blockValues {
		return r.flush()
	}
	return r.flushFull()
}

// skip drops what has been appended of a record.
func (r *shardReader) skip(s Skip) error {
	r.skips--
	r.block.cut(len(r.block.IDs))
	r.block.Skipped = append(r.block.Skipped, s)
	return r.flushFull()
}

func (r *shardReader) flushFull() error {
	if len(r.block.IDs)+len(r.block.Skipped) >= blockRecords {
		return r.flush()
	}
	return nil
}

// flush hands over what has been read; the block's slices live until then.
func (r *shardReader) flush() error {
	b := &r.block
	if len(b.IDs) == 0 && len(b.Skipped) == 0 {
		return nil
	}
	b.Notes = b.watch.notes(b)
	if !r.yield(b, nil) {
		return errStopped
	}
	b.cut(0)
	r.held = 0
	b.Skipped = b.Skipped[:0]
	return nil
}

// cut keeps the first n records.
func (b *Block) cut(n int) {
	b.IDs = b.IDs[:n]
	b.Places = b.Places[:min(n, len(b.Places))]
	b.Labels = b.Labels[:min(n, len(b.Labels))]
	b.Texts = b.Texts[:min(n, len(b.Texts))]
	b.Weights = b.Weights[:min(n, len(b.Weights))]
	b.Groups = b.Groups[:min(n, len(b.Groups))]
	b.Dense.Values = b.Dense.Values[:n*b.Dense.Width]
	b.Categories.Values = b.Categories.Values[:n*b.Categories.Width]
	if b.Sparse.Width > 0 {
		b.Sparse.Indptr = b.Sparse.Indptr[:n+1]
		b.Sparse.Indices = b.Sparse.Indices[:b.Sparse.Indptr[n]]
		b.Sparse.Values = b.Sparse.Values[:b.Sparse.Indptr[n]]
	}
}
