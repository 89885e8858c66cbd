package dataset

import (
	"bufio"
	"errors"
	"io"

	"github.com/gram-compute/gram/protocol"
)

// rowStream reads rows of one table in order.
type rowStream struct {
	table
	obj    pinned
	r      *shardReader
	stored io.Closer     // what in reads from
	in     *bufio.Reader // at the first row after opening
	packed bool          // in cannot seek, and its length is not known
	check  func() error  // of the whole stream, at its end
	at     int64         // next row
	last   int64         // row to stop before; -1 is the end
	buf    []byte
	chunk  []byte // rows read and not yet returned, in buf
}

// openRows opens an object and reads its head.
func openRows(r *shardReader, obj pinned, zipped bool, zip *gunzip, head parseHead) (*rowStream, error) {
	stored := newPieceReader(r.ctx, obj, 0, min(obj.obj.Size, 4<<10))
	s := &rowStream{obj: obj, r: r, stored: stored, packed: zipped}
	var in io.Reader = stored
	if zipped {
		if err := zip.reset(obj.obj, stored); err != nil {
			return nil, errors.Join(err, stored.Close())
		}
		in = zip
	}
	if err := s.open(in, head); err != nil {
		return nil, errors.Join(err, stored.Close())
	}
	if !zipped {
		if err := s.checkSize(obj.obj.Size); err != nil {
			return nil, errors.Join(err, stored.Close())
		}
	}
	return s, nil
}

// counted compares a number of rows with that of the manifest, by which the records of later objects are numbered.
func (s *rowStream) counted(rows int64) error {
	if rows == s.obj.obj.Rows {
		return nil
	}
	return protocol.TaskFault(protocol.CodeInputDamaged, "it has %d rows, and had %d when the job was planned", rows,
		s.obj.obj.Rows).In(s.obj.obj.Key).
		WithHint("It was damaged in the store or on the way; submit the job again")
}

// open reads the head of in.
func (s *rowStream) open(in io.Reader, head parseHead) (err error) {
	s.in = bufio.NewReaderSize(in, 4<<10)
	s.table, err = head(s.in)
	var flawed headFlaw
	switch {
	case errors.As(err, &flawed):
		return headFault(s.obj, protocol.CodeBadRecord, "%s", string(flawed))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		var fault *protocol.Fault
		if errors.As(err, &fault) {
			return err
		}
		return headFault(s.obj, protocol.CodeBadRecord, "the object ends within its header")
	case err != nil:
		return err
	case s.width < 1 || s.stride > int64(s.r.src.input.MaxRecordBytes):
		fault := headFault(s.obj, protocol.CodeInputLimit,
			"the header declares rows of %d numbers, %d bytes", s.width, s.stride)
		fault.Hint = "Raise spec.input.max_record_bytes if that is right"
		return fault
	}
	return nil
}

// checkSize compares the declared rows with the object's size.
func (s *rowStream) checkSize(size int64) error {
	switch {
	case s.rows < 0 && (size-s.head)%s.stride == 0:
		s.rows = (size - s.head) / s.stride
	case s.rows < 0:
		last := (size - s.head) % s.stride
		return headFault(s.obj, protocol.CodeBadRecord, "rows have %d bytes, and the last has %d", s.stride, last).
			WithOffset(size - last)
	case s.bytes() != size:
		return headFault(s.obj, protocol.CodeBadRecord,
			"the header declares %d rows of %d bytes after %d, but the object has %d bytes", s.rows, s.stride, s.head,
			size)
	}
	return nil
}

// rowsOf gives the rows whose first byte lies in the piece; last is -1 for all there are.
func (s *rowStream) rowsOf(p Piece) (first, last int64) {
	if s.packed {
		return 0, s.rows
	}
	from := func(at int64) int64 { return (max(at-s.head, 0) + s.stride - 1) / s.stride }
	return from(p.Start), min(from(p.End), s.rows)
}

// seek goes to the row first.
func (s *rowStream) seek(first, last int64) error {
	s.at, s.last = first, last
	if s.packed { // even if no row is wanted: finish looks at the bytes that follow
		_, err := io.CopyN(io.Discard, s.in, first*s.stride)
		return s.explain(err)
	}
	if first == last {
		return nil
	}
	if err := s.stored.Close(); err != nil {
		return StoreFault(s.obj.obj.Key, err)
	}
	stored := newPieceReader(s.r.ctx, s.obj, s.head+first*s.stride, s.head+last*s.stride)
	s.stored = stored
	s.in.Reset(stored)
	return nil
}

// next returns the next row, valid until the call after it; false at the end.
func (s *rowStream) next() ([]byte, bool, error) {
	if len(s.chunk) == 0 {
		if s.at == s.last {
			return nil, false, nil
		}
		if err := s.fill(); err != nil || len(s.chunk) == 0 {
			return nil, false, err
		}
	}
	row := s.chunk[:s.stride]
	s.chunk = s.chunk[s.stride:]
	s.at++
	return row, true, nil
}

// fill reads as many rows as are wanted and fit the buffer.
func (s *rowStream) fill() error {
	want := max(64<<10/s.stride, 1)
	if s.last >= 0 {
		want = min(want, s.last-s.at)
	}
	if int64(len(s.buf)) < want*s.stride {
		s.buf = make([]byte, want*s.stride)
	}
	n, err := io.ReadFull(s.in, s.buf[:want*s.stride])
	if short := int64(n) % s.stride; s.last >= 0 || short != 0 || (err != io.ErrUnexpectedEOF && err != io.EOF) {
		if err != nil {
			s.at += int64(n) / s.stride
			return s.explain(err)
		}
	}
	s.chunk = s.buf[:n]
	return nil
}

// explain tells a stream that ends too early from one that fails.
func (s *rowStream) explain(err error) error {
	var fault *protocol.Fault
	if err == nil || errors.As(err, &fault) || (err != io.EOF && err != io.ErrUnexpectedEOF) {
		return err
	}
	return headFault(s.obj, protocol.CodeBadRecord, "the object ends within row %d", s.at).
		WithOffset(s.head + s.at*s.stride)
}

// finish verifies that a packed stream ends with its last row.
func (s *rowStream) finish() error {
	if s == nil || !s.packed || s.at != s.rows {
		return nil
	}
	_, err := s.in.ReadByte()
	switch {
	case err == nil:
		return headFault(s.obj, protocol.CodeBadRecord, "more bytes follow the %d rows",
			s.rows)
	case err != io.EOF:
		return err
	case s.check != nil:
		return s.check()
	}
	return nil
}

// close ends the read; a failure of it becomes the error where there is no other.
func (s *rowStream) close(err *error) {
	if closed := s.stored.Close(); *err == nil {
		*err = StoreFault(s.obj.obj.Key, closed)
	}
}
