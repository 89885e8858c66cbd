package dataset

import (
	"bytes"
	"io"
)

// bufferBytes is the reader's first buffer. It grows only for a record that does
// not fit, up to max_record_bytes and slackBytes.
const (
	bufferBytes = 256 << 10
	slackBytes  = 64 << 10
)

// line is one line without its LF; number counts from 1 at the start of the stream.
type line struct {
	text   []byte // into the reader's buffer, until the next fill; nil when long
	off    int64  // of its first byte in the decoded stream
	number int64
	long   bool // more than max bytes; they have been dropped
}

// lines cuts a stream into lines within one buffer. It returns the lines that begin
// before end and reads past end only to finish the last of them. Reads are filled
// up, so how the source chops its bytes changes nothing.
type lines struct {
	r      io.Reader
	buf    []byte
	lo, hi int   // the unread bytes are buf[lo:hi]
	off    int64 // of buf[lo] in the decoded stream
	end    int64
	max    int   // bytes of one line
	passed int64 // lines before buf[lo]
	eof    bool
	long   *line // a long line dropped by fill, for the next call of next
}

// newLines starts at byte off of the stream that r continues; buf, which must not be
// empty, is used and grown.
func newLines(r io.Reader, buf []byte, off, end int64, max int) *lines {
	return &lines{r: r, buf: buf, off: off, end: end, max: max}
}

// next returns the next line that is whole in the buffer; without one it is time to
// fill, unless done says otherwise.
func (l *lines) next() (line, bool) {
	if l.long != nil {
		long := *l.long
		l.long = nil
		return long, true
	}
	if l.done() {
		return line{}, false
	}
	rest := l.buf[l.lo:l.hi]
	n := bytes.IndexByte(rest, '\n')
	skip := n + 1
	if n < 0 {
		if !l.eof || len(rest) > l.max {
			return line{}, false
		}
		n, skip = len(rest), len(rest)
	}
	ln := line{text: rest[:n:n], off: l.off, number: l.passed + 1}
	if n > l.max {
		ln.text, ln.long = nil, true
	}
	l.advance(skip)
	l.passed++
	return ln, true
}

// done reports whether no further line begins before end.
func (l *lines) done() bool {
	return l.long == nil && (l.off >= l.end || (l.eof && l.lo == l.hi))
}

func (l *lines) advance(n int) {
	l.lo += n
	l.off += int64(n)
}

// fill makes room and reads; lines returned so far become invalid.
func (l *lines) fill() error {
	if l.hi-l.lo > l.max {
		l.long = &line{off: l.off, number: l.passed + 1, long: true}
		return l.dropLine()
	}
	l.makeRoom()
	return l.read()
}

func (l *lines) makeRoom() {
	rest := l.buf[l.lo:l.hi]
	if len(rest) == len(l.buf) {
		l.buf = make([]byte, min(2*len(l.buf), l.max+slackBytes))
	}
	l.lo, l.hi = 0, copy(l.buf, rest)
}

// dropLine passes over the rest of a line, as far as it matters, in constant space.
func (l *lines) dropLine() error {
	for l.off < l.end {
		if n := bytes.IndexByte(l.buf[l.lo:l.hi], '\n'); n >= 0 {
			l.advance(n + 1)
			break
		}
		l.advance(l.hi - l.lo)
		if l.eof {
			break
		}
		l.lo, l.hi = 0, 0
		if err := l.read(); err != nil {
			return err
		}
	}
	l.passed++
	return nil
}

// read fills the free part of the buffer, but only up to end as long as end is
// ahead: most pieces end with a record and need no more.
func (l *lines) read() error {
	room := l.buf[l.hi:]
	if ahead := l.end - l.off - int64(l.hi-l.lo); ahead > 0 {
		room = room[:min(int64(len(room)), ahead)]
	} else {
		room = room[:min(len(room), firstTail)]
	}
	for len(room) > 0 {
		n, err := l.r.Read(room)
		l.hi += n
		room = room[n:]
		if err == io.EOF {
			l.eof = true
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}
