package listen

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"connectrpc.com/connect"
)

// maxCompressed bounds a compressed request, both as it arrives and decompressed. It is less than maxMessage
// because a peer makes such a message for next to nothing; the largest spec fits.
const maxCompressed = 512 << 10

// boundedGzip decompresses at most maxCompressed bytes of a request. Without it the rest of a message that is too
// long is decompressed to its end, only for its length to be named.
type boundedGzip struct {
	gzip.Reader
	left int
}

func newBoundedGzip() connect.Decompressor { return &boundedGzip{} }

// Reset implements connect.Decompressor.
func (g *boundedGzip) Reset(r io.Reader) error {
	g.left = maxCompressed
	return g.Reader.Reset(r)
}

// Read implements io.Reader.
func (g *boundedGzip) Read(p []byte) (int, error) {
	if g.left == 0 { // it ends here, or is too long
		n, err := g.Reader.Read(make([]byte, 1))
		if n > 0 {
			return 0, tooLongCompressed()
		}
		return 0, err
	}
	n, err := g.Reader.Read(p[:min(len(p), g.left)])
	g.left -= n
	return n, err
}

func tooLongCompressed() error {
	return connect.NewError(connect.CodeResourceExhausted,
		fmt.Errorf("a compressed message may have %d bytes when it is decompressed; send a longer one uncompressed",
			maxCompressed))
}

// compression are the options by which requests are decompressed within bounds and answers compressed.
func compression() connect.HandlerOption {
	return connect.WithHandlerOptions(
		connect.WithCompression("gzip", newBoundedGzip,
			func() connect.Compressor { return fastGzip() }),
		connect.WithCompressMinBytes(compressedFrom),
	)
}

// fastGzip compresses fast rather than well: an answer is waited for.
func fastGzip() *gzip.Writer {
	w, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	return w
}

// compressedCalls bounds how many compressed requests are read at a time: each may take some 2 MiB, for a message that
// costs its caller next to nothing. Gram's own clients compress none.
const compressedCalls = 8

// BoundCompressed refuses a compressed request while compressedCalls others are read, and cuts its body after
// maxCompressed bytes.
func BoundCompressed(next http.Handler) http.Handler {
	turns := make(chan struct{}, compressedCalls)
	refusals := connect.NewErrorWriter()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !compressed(r) {
			next.ServeHTTP(w, r)
			return
		}
		select {
		case turns <- struct{}{}:
		default:
			_ = refusals.Write(w, r, connect.NewError(connect.CodeResourceExhausted,
				errors.New("too many compressed requests at a time; send it uncompressed"))) // the client is gone
			return
		}
		body := &bodyTurn{Reader: http.MaxBytesReader(w, r.Body, maxCompressed), body: r.Body,
			end: sync.OnceFunc(func() { <-turns })}
		defer body.end()
		r.Body = body
		next.ServeHTTP(w, r)
	})
}

// compressed reports whether a request names an encoding of its body, by the header of any protocol.
func compressed(r *http.Request) bool {
	for _, header := range []string{"Content-Encoding", "Connect-Content-Encoding", "Grpc-Encoding"} {
		if encoding := r.Header.Get(header); encoding != "" && encoding != "identity" && r.Body != nil {
			return true
		}
	}
	return false
}

// bodyTurn is a request's body, whose turn ends when it was read: a stream's answer may take hours.
type bodyTurn struct {
	io.Reader
	body io.Closer
	end  func()
}

// Read implements io.Reader.
func (b *bodyTurn) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil {
		b.end()
	}
	return n, err
}

// Close implements io.Closer.
func (b *bodyTurn) Close() error { return b.body.Close() }
