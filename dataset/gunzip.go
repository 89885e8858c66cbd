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

// gunzip decodes one gzip object (RFC 1952; members follow each other) under the
// bounds above. They go by the stored size and so are a function of the bytes alone.
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
	g.obj, g.in, g.decoded = obj, stickyReader{r: stored}, 0
	g.limit = maxDecodedBytes
	if obj.Size <= maxDecodedBytes/maxRatio {
		g.limit = max(ratioFreeBytes, maxRatio*obj.Size)
	}
	if g.zip != nil {
		g.buf.Reset(&g.in)
		return g.explain(g.zip.Reset(g.buf))
	}
	var err error
	g.buf = bufio.NewReaderSize(&g.in, 64<<10)
	if g.zip, err = gzip.NewReader(g.buf); err != nil {
		g.zip = nil
	}
	return g.explain(err)
}

func (g *gunzip) Read(p []byte) (int, error) {
	n, err := g.zip.Read(p)
	if g.decoded += int64(n); g.decoded > g.limit {
		fault := inputFault(protocol.CodeInputLimit, g.obj.Key, nil,
			fmt.Sprintf("%d stored bytes decompress to more than %d", g.obj.Size, g.limit),
			"If this is real data, store it plain or compress it less")
		fault.Offset = g.decoded
		return 0, fault
	}
	return n, g.explain(err)
}

// explain tells a store that failed from a stream that is damaged.
func (g *gunzip) explain(err error) error {
	switch {
	case err == nil || err == io.EOF: // EOF only after the last member's checksum
		return err
	case g.in.err != nil:
		return g.in.err
	}
	fault := inputFault(protocol.CodeBadRecord, g.obj.Key, err, "the gzip stream is damaged or cut short",
		"Upload the object again; gzip -t tests a file. Damage cannot be skipped, for what follows it is lost")
	fault.Offset = g.decoded
	return fault
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
