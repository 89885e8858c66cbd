package coordinator

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"

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
		fmt.Errorf("a compressed message may have %d bytes when it is decompressed; send a longer one uncompressed", maxCompressed))
}

// compression are the options by which requests are decompressed within bounds and answers compressed.
func compression() connect.HandlerOption {
	return connect.WithHandlerOptions(
		connect.WithCompression("gzip", newBoundedGzip, func() connect.Compressor { return gzip.NewWriter(io.Discard) }),
		connect.WithCompressMinBytes(compressedFrom),
	)
}

// boundCompressed cuts the body of a compressed request after maxCompressed bytes.
func boundCompressed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, header := range []string{"Content-Encoding", "Connect-Content-Encoding", "Grpc-Encoding"} {
			if encoding := r.Header.Get(header); encoding != "" && encoding != "identity" && r.Body != nil {
				r.Body = http.MaxBytesReader(w, r.Body, maxCompressed)
				break
			}
		}
		next.ServeHTTP(w, r)
	})
}
