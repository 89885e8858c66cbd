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
	text   []byte // into the reader's buffer, until the next fill, with what follows it; nil when long
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
	quoted bool  // an LF between quotes does not end a line
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
	n, inside := l.lineEnd(rest)
	skip := n + 1
	if n < 0 {
		if !l.eof || len(rest) > l.max {
			return line{}, false
		}
		n, skip = len(rest), len(rest)
	}
	ln := line{text: rest[:n:min(n+aheadBytes, cap(rest))], off: l.off, number: l.passed + 1}
	if n > l.max {
		ln.text, ln.long = nil, true
	}
	l.advance(skip)
	l.passed += 1 + inside
	return ln, true
}

// lineEnd finds the LF that ends the line, or -1; inside is the number of those before it.
func (l *lines) lineEnd(rest []byte) (end int, inside int64) {
	n := bytes.IndexByte(rest, '\n')
	if !l.quoted {
		return n, 0
	}
	from, quotes := 0, 0
	for n >= 0 {
		if quotes += bytes.Count(rest[from:from+n], []byte{'"'}); quotes%2 == 0 {
			return from + n, inside
		}
		from += n + 1
		inside++
		n = bytes.IndexByte(rest[from:], '\n')
	}
	return -1, inside
}

// wait returns the next line, filling as often as it takes; false at the end.
func (l *lines) wait() (line, bool, error) {
	for {
		if ln, ok := l.next(); ok || l.done() {
			return ln, ok, nil
		}
		if err := l.fill(); err != nil {
			return line{}, false, err
		}
	}
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
		n := min(2*len(l.buf), l.max+slackBytes)
		l.buf = make([]byte, n, n+aheadBytes)
	}
	l.lo, l.hi = 0, copy(l.buf, rest)
}

// dropLine skips the rest of a line in constant space, and stops early once it is past end. The line must begin before
// end.
func (l *lines) dropLine() error {
	for {
		if n := bytes.IndexByte(l.buf[l.lo:l.hi], '\n'); n >= 0 {
			l.advance(n + 1)
			break
		}
		l.advance(l.hi - l.lo)
		if l.eof || l.off >= l.end {
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

// read fills the free part of the buffer, but only up to end as long as end is ahead: most pieces end with a record and
// need no more. The caller has set lo to 0.
func (l *lines) read() error {
	room := l.buf[l.hi:]
	if ahead := l.end - l.off - int64(l.hi); ahead > 0 {
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
