package dataset

import (
	"bufio"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"

	"github.com/gram-compute/gram/protocol"
)

// Bounds of decompression. Text compresses to a third or a tenth; deflate can
// promise up to 1032, which only made-up data reaches.
const (
	maxRatio        = 200
	ratioFreeBytes  = 1 << 20 // decoded bytes before the ratio counts
	maxDecodedBytes = 1 << 40 // per object
)

// decodedLimit bounds what the given number of stored bytes may decode to.
func decodedLimit(stored int64) int64 {
	if stored > maxDecodedBytes/maxRatio {
		return maxDecodedBytes
	}
	return max(ratioFreeBytes, maxRatio*stored)
}

// gunzip decodes one gzip object (RFC 1952) under the bounds above. They go by the stored
// size and so are a function of the bytes alone.
//
// It walks the members itself: left to it, the library takes a later member that is cut
// inside the file name of its header for the regular end.
type gunzip struct {
	obj     Object
	in      stickyReader
	buf     *bufio.Reader
	zip     *gzip.Reader
	decoded int64
	limit   int64
}

// reset starts on an object; the buffers of the last one are used again.
func (g *gunzip) reset(obj Object, stored io.Reader) error {
	g.obj, g.in, g.decoded, g.limit = obj, stickyReader{r: stored}, 0, decodedLimit(obj.Size)
	if g.zip == nil {
		g.buf, g.zip = bufio.NewReaderSize(&g.in, 64<<10), new(gzip.Reader)
	}
	g.buf.Reset(&g.in)
	return g.nextMember()
}

func (g *gunzip) nextMember() error {
	err := g.zip.Reset(g.buf)
	if err == io.EOF { // there are bytes, but not a header
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return g.explain(err)
	}
	g.zip.Multistream(false)
	return nil
}

func (g *gunzip) Read(p []byte) (int, error) {
	for {
		n, err := g.zip.Read(p)
		if g.decoded += int64(n); g.decoded > g.limit {
			return 0, g.tooMuch()
		}
		if n > 0 && err == io.EOF {
			err = nil
		}
		if err != io.EOF {
			return n, g.explain(err)
		}
		if _, err := g.buf.Peek(1); err != nil {
			return 0, g.explain(err) // io.EOF: the last member's checksum was right
		}
		if err := g.nextMember(); err != nil {
			return 0, err
		}
	}
}

func (g *gunzip) tooMuch() error {
	return inputFault(protocol.CodeInputLimit, g.obj.Key, nil,
		fmt.Sprintf("%d stored bytes decompress to more than %d", g.obj.Size, g.limit),
		"If this is real data, store it plain or compress it less").WithOffset(g.limit)
}

// explain tells a store that failed from a stream that is damaged.
func (g *gunzip) explain(err error) error {
	switch {
	case err == nil || err == io.EOF:
		return err
	case g.in.err != nil:
		return g.in.err
	}
	return inputFault(protocol.CodeBadRecord, g.obj.Key, err, "the gzip stream is damaged or cut short",
		"Upload the object again; gzip -t tests a file. Damage cannot be skipped, for what follows it is lost").
		WithOffset(g.decoded)
}

// stickyReader remembers how its source failed, for decoders change errors.
type stickyReader struct {
	r   io.Reader
	err error // other than io.EOF
}

func (s *stickyReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}
