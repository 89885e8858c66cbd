package dataset

import (
	"context"
	"errors"
	"io"
	"math"

	"github.com/gram-compute/gram/protocol"
)

// blockRecords bounds the records, good and bad, of one block.
const blockRecords = 4096

// errStopped ends a read whose consumer wants no more.
var errStopped = errors.New("stopped by the consumer")

// shardReader is one run over one shard. Its buffers serve every piece.
type shardReader struct {
	src   *Source
	ctx   context.Context
	yield func(*Block, error) bool
	skips int64 // bad records that may still pass
	block Block
	buf   []byte
	zip   gunzip
}

func (r *shardReader) piece(p Piece) (err error) {
	obj, zipped, err := r.src.object(p)
	if err != nil {
		return err
	}
	start, end := p.Start, p.End
	if start > 0 {
		start-- // whether a record begins at Start shows in the byte before it
	}
	stored := newPieceReader(r.ctx, obj, start, p.End)
	defer func() {
		if closed := stored.Close(); err == nil {
			err = StoreFault(obj.obj.Key, closed)
		}
	}()
	var in io.Reader = stored
	if zipped {
		if err := r.zip.reset(obj.obj, stored); err != nil {
			return err
		}
		in, end = &r.zip, math.MaxInt64
	}
	return r.stream(obj, p.Start, newLines(in, r.buf, start, end, int(r.src.input.MaxRecordBytes)))
}

// stream reads the records of one piece that begins at byte start.
func (r *shardReader) stream(obj pinned, start int64, in *lines) error {
	defer func() { r.buf = in.buf }()
	cols, err := r.layout(obj, start, in)
	if err != nil {
		return err
	}
	for {
		ln, ok := in.next()
		switch {
		case ok:
			err = r.line(obj, cols, start, ln)
		case in.done():
			return r.flush()
		default:
			if err = r.flush(); err == nil {
				err = in.fill()
			}
		}
		if err != nil {
			return err
		}
	}
}

// layout finds the columns and leaves in at the first record of the piece.
func (r *shardReader) layout(obj pinned, start int64, in *lines) (layout, error) {
	input := r.src.input
	if start > 0 {
		if err := in.dropLine(); err != nil {
			return layout{}, err
		}
	}
	if !input.Header || (start > 0 && input.Label.Name == "" && input.Text.Name == "") {
		return resolve(input.Label, input.Text, nil)
	}
	header := in
	if start > 0 {
		first := newPieceReader(r.ctx, obj, 0, min(obj.obj.Size, 4<<10))
		defer first.Close()
		header = newLines(first, make([]byte, 4<<10), 0, 1, in.max)
	}
	return r.header(obj.obj.Key, header)
}

func (r *shardReader) header(key string, in *lines) (layout, error) {
	ln, ok := in.next()
	for !ok && !in.done() {
		if err := in.fill(); err != nil {
			return layout{}, err
		}
		ln, ok = in.next()
	}
	if !ok {
		return layout{}, nil // nothing at all, so no record either
	}
	if ln.long {
		return layout{}, flaw{reason: tooLong}.fault(key, ln)
	}
	cols, err := resolve(r.src.input.Label, r.src.input.Text, trimLine(ln.text, 0))
	if err != nil {
		fault := inputFault(protocol.CodeSpecInvalid, key, nil, err.Error(), "Correct spec.input.label or spec.input.text, or the header")
		fault.Offset, fault.Line = 0, 1
		return layout{}, fault
	}
	return cols, nil
}

// line takes one line into the block, as a record or as skipped.
func (r *shardReader) line(obj pinned, cols layout, start int64, ln line) error {
	text := trimLine(ln.text, ln.off)
	if len(text) == 0 && !ln.long {
		return nil
	}
	bad := flaw{reason: tooLong}
	var label, body []byte
	if !ln.long {
		label, body, bad = cols.record(text)
	}
	if start > 0 {
		ln.number = 0 // counted from somewhere inside the object
	}
	id := Identity{Object: obj.obj.Key, Offset: ln.off}
	switch {
	case bad.reason == "":
		r.block.Labels = append(r.block.Labels, label)
		r.block.Texts = append(r.block.Texts, body)
		r.block.IDs = append(r.block.IDs, id)
	case r.skips > 0:
		r.skips--
		r.block.Skipped = append(r.block.Skipped, Skip{ID: id, Line: ln.number, Column: bad.column, Reason: bad.reason})
	default:
		return r.badRecord(obj, bad, ln)
	}
	if len(r.block.IDs)+len(r.block.Skipped) == blockRecords {
		return r.flush()
	}
	return nil
}

func (r *shardReader) badRecord(obj pinned, bad flaw, ln line) error {
	if ln.number == 0 {
		ln.number = lineNumber(r.ctx, obj, ln.off)
	}
	return bad.fault(obj.obj.Key, ln)
}

// flush hands over what has been read; the block's slices live until then.
func (r *shardReader) flush() error {
	b := &r.block
	if len(b.IDs) == 0 && len(b.Skipped) == 0 {
		return nil
	}
	if !r.yield(b, nil) {
		return errStopped
	}
	b.Labels, b.Texts, b.IDs, b.Skipped = b.Labels[:0], b.Texts[:0], b.IDs[:0], b.Skipped[:0]
	return nil
}
