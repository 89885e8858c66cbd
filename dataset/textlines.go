package dataset

import (
	"bytes"
	"errors"
	"io"
	"math"

	"github.com/gram-compute/gram/kernelops/decimal"
	"github.com/gram-compute/gram/protocol"
)

// lineParser makes records of the lines of one object. A line ends with LF or CRLF; the last
// one may end with the object. Blank lines are passed over. A byte order mark at the start of
// an object is not content.
type lineParser interface {
	// head says how much of the object's head must be seen before a record is read.
	head() int
	// header takes the header line, where the input has one.
	header(text []byte) error
	// first takes the first record ahead of record, where head is firstRecord. Its flaw is final.
	first(text []byte) flaw
	// content strips everything that is not data, such as a comment; an empty result marks the line as blank.
	content(text []byte) []byte
	// record appends a record's fields to b. On a flaw it may leave some of them.
	record(b *Block, text []byte) flaw
	// columns names the vector's columns, and says what is taken off them; name is nil where there is no
	// vector. It is called before the first record is. Its flaw is final.
	columns() (name func(col int) string, offsets []Offset, bad flaw)
}

// What a lineParser must see of an object's head.
const (
	noLine = iota
	headerLine
	firstRecord // and the header line, where the input has one
)

// newParser makes the parser of an object. read is nil, or reads its numbers.
type newParser func(input *protocol.Input, read decimal.Read) lineParser

// lineFormat reads formats whose records are lines.
type lineFormat struct {
	input  *protocol.Input
	parser newParser
}

func (f lineFormat) whole() bool { return f.input.Multiline }

// linePiece is one run over one piece.
type linePiece struct {
	*shardReader
	obj    pinned
	start  int64
	lines  *lines
	parser lineParser
	ready  bool // the parser has seen the head
	begun  bool // the block's columns are watched
	zipped bool
}

func (f lineFormat) read(r *shardReader, obj pinned, piece Piece, zipped bool) (err error) {
	start, end := piece.Start, piece.End
	if start > 0 {
		start-- // whether a record begins at Start shows in the byte before it
	}
	stored := newPieceReader(r.ctx, obj, start, piece.End)
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
	p := &linePiece{shardReader: r, obj: obj, start: piece.Start, zipped: zipped, parser: f.parser(f.input, r.src.read),
		lines: newLines(in, r.buf, start, end, int(f.input.MaxRecordBytes))}
	p.lines.quoted = f.input.Multiline
	defer func() { r.buf = p.lines.buf }()
	if err := p.begin(); err != nil {
		return err
	}
	return p.all()
}

// all reads the records up to the piece's end, or to the last that is wanted; but the end of a gzip stream verifies it.
func (p *linePiece) all() error {
	for {
		if p.past() && !p.zipped {
			return p.flush()
		}
		ln, ok := p.lines.next()
		var err error
		switch {
		case ok:
			err = p.line(ln)
		case p.lines.done():
			return p.flush()
		default:
			if err = p.flush(); err == nil {
				err = p.lines.fill()
			}
		}
		if err != nil {
			return err
		}
	}
}

// begin shows the parser the object's head and leaves lines at the first record of the piece.
func (p *linePiece) begin() error {
	header, head := p.src.input.Header, p.parser.head()
	p.ready = head < firstRecord
	if p.start == 0 {
		if header {
			return p.header(p.lines)
		}
		return nil
	}
	if err := p.lines.dropLine(); err != nil || head == noLine {
		return err
	}
	return p.lookBack(header, head)
}

// lookBack reads the head of an object whose piece begins further on.
func (p *linePiece) lookBack(header bool, head int) (err error) {
	obj, err := p.src.withHead(p.ctx, p.obj)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil { // its bytes may have changed on the way
			p.src.head.Store(nil)
		}
	}()
	stored := newPieceReader(p.ctx, obj, 0, min(obj.obj.Size, headBytes))
	defer stored.Close()
	end := int64(1)
	if head == firstRecord {
		end = p.obj.obj.Size
	}
	top := newLines(stored, make([]byte, 4<<10), 0, end, p.lines.max)
	if header {
		if err := p.header(top); err != nil {
			return err
		}
	}
	for !p.ready {
		ln, ok, err := top.wait()
		if err != nil || !ok {
			return err
		}
		if err := p.see(ln); err != nil {
			return err
		}
	}
	return nil
}

func (p *linePiece) header(in *lines) error {
	ln, ok, err := in.wait()
	if err != nil || !ok { // nothing at all, so no record either
		return err
	}
	if ln.long {
		return flaw{reason: tooLong}.fault(p.obj.obj.Key, ln)
	}
	text, _ := trimLine(ln.text, 0)
	err = errors.New("the header: " + secondMark)
	if !hasMark(text) {
		err = p.parser.header(text)
	}
	if err != nil {
		return inputFault(protocol.CodeSpecInvalid, p.obj.obj.Key, nil, err.Error(),
			"Correct the columns of spec.input, or the header").WithOffset(0).At(1, 0)
	}
	return nil
}

// see shows the parser the first record, unless ln is blank.
func (p *linePiece) see(ln line) error {
	text, marks := trimLine(ln.text, ln.off)
	text = p.parser.content(text)
	if len(text) == 0 && !ln.long {
		return nil
	}
	bad := flaw{reason: tooLong}
	switch {
	case ln.long:
	case hasMark(text):
		bad = flaw{reason: secondMark, column: 1}
	default:
		bad = p.parser.first(text).shifted(marks)
	}
	p.ready = true
	if bad.reason != "" {
		bad.final = true
		return bad.fault(p.obj.obj.Key, ln)
	}
	return nil
}

// line takes one line into the block, as a record or as skipped.
func (p *linePiece) line(ln line) error {
	if !p.ready {
		if err := p.see(ln); err != nil {
			return err
		}
	}
	text, marks := trimLine(ln.text, ln.off)
	text = p.parser.content(text)
	if len(text) == 0 && !ln.long {
		return nil
	}
	if p.outside() {
		return nil
	}
	if !p.begun {
		if err := p.watchColumns(ln); err != nil {
			return err
		}
	}
	bad := flaw{reason: tooLong, final: p.lines.quoted}
	switch {
	case ln.long:
	case hasMark(text):
		bad = flaw{reason: secondMark, column: 1}
	default:
		bad = p.parser.record(&p.block, text).shifted(marks)
	}
	bad = p.block.watch.judge(bad)
	if p.start > 0 {
		ln.number = 0 // counted from somewhere inside the object
	}
	if bad.reason == "" {
		return p.keep(ln.off)
	}
	if p.skips == 0 || bad.final {
		return p.badRecord(bad, ln)
	}
	return p.skip(Skip{ID: ByPlace(p.obj.obj.Key, ln.off), Line: ln.number, Column: bad.column, Reason: bad.reason})
}

// watchColumns tells the block what its columns are.
func (p *linePiece) watchColumns(ln line) error {
	name, offsets, bad := p.parser.columns()
	if bad.reason != "" {
		return bad.fault(p.obj.obj.Key, ln)
	}
	p.begun, p.block.Subtracted = true, offsets
	p.block.watch.begin(name, offsets)
	return nil
}

func (p *linePiece) badRecord(bad flaw, ln line) error {
	if ln.number == 0 {
		ln.number = lineNumber(p.ctx, p.obj, ln.off)
	}
	return bad.fault(p.obj.obj.Key, ln)
}

// trimLine takes off what is not content: a CR before the LF and a byte order mark at the
// start of the object. marks are the bytes taken off in front.
func trimLine(text []byte, off int64) (content []byte, marks int) {
	if n := len(text); n > 0 && text[n-1] == '\r' {
		text = text[:n-1]
	}
	return trimMark(text, off)
}

// trimMark takes off a byte order mark at the start of the object.
func trimMark(text []byte, off int64) (content []byte, marks int) {
	if off == 0 && bytes.HasPrefix(text, []byte(byteOrder)) {
		marks = len(byteOrder)
	}
	return text[marks:], marks
}

// hasMark reports a byte order mark that trimMark left: files that were joined have one in the middle.
func hasMark(text []byte) bool {
	return bytes.HasPrefix(text, []byte(byteOrder))
}
