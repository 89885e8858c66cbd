package coordinator

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/bounds"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// resetter opens calls in HTTP/2 and takes each back at once.
type resetter struct {
	t       *testing.T
	framer  *http2.Framer
	encoder *hpack.Encoder
	block   bytes.Buffer
	stream  uint32
}

func newResetter(t *testing.T, conn io.ReadWriter) *resetter {
	r := &resetter{t: t, framer: http2.NewFramer(conn, conn), stream: 1}
	r.encoder = hpack.NewEncoder(&r.block)
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	if err := r.framer.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	return r
}

// open sends the header of one call and takes the call back.
func (r *resetter) open(authorization string) error {
	r.block.Reset()
	for _, field := range [][2]string{{":method", "POST"}, {":scheme", "https"}, {":authority", "localhost"},
		{":path", "/gram.v1.JobService/List"}, {"content-type", "application/json"}, {"authorization", authorization}} {
		if err := r.encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}); err != nil {
			r.t.Fatal(err)
		}
	}
	err := r.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: r.stream, BlockFragment: r.block.Bytes(),
		EndHeaders: true})
	if err == nil {
		err = r.framer.WriteRSTStream(r.stream, http2.ErrCodeCancel)
	}
	r.stream += 2
	return err
}

// settled returns when the server has read all that was sent: it has answered a ping. It reports whether the
// connection is still open.
func (r *resetter) settled() bool {
	if r.framer.WritePing(false, [8]byte{}) != nil {
		return false
	}
	for {
		frame, err := r.framer.ReadFrame()
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				r.t.Error("no answer to a ping, and no hangup")
			}
			return false
		}
		if ping, ok := frame.(*http2.PingFrame); ok && ping.IsAck() {
			return true
		}
	}
}

// A peer that opens calls only to take them back is hung up on, whether or not it shows a token, also where it
// never has many open at once.
func TestRapidResetsAreHungUpOn(t *testing.T) {
	t.Parallel()
	c := limited(t, bounds.Limits{}, func(cfg *Config) { cfg.CallRate = 100 })
	for name, authorization := range map[string]string{"without a token": "",
		"with a token": "Bearer " + c.AdminToken().Reveal()} {
		conn := secure(t, c, "h2")
		if err := conn.SetDeadline(time.Now().Add(3 * patience)); err != nil {
			t.Fatal(err)
		}
		r, open := newResetter(t, conn), true
		for batch := 0; batch < 200 && open; batch++ { // 20,000 calls
			for range 100 {
				open = open && r.open(authorization) == nil
			}
			open = open && r.settled()
		}
		if open {
			t.Errorf("%s: %d calls were opened and taken back, and the connection is still open", name, r.stream/2)
		}
	}
}

// What a client that behaves wastes now and then costs it nothing.
func TestAFewRefusedCallsAreNoOffense(t *testing.T) {
	t.Parallel()
	c := limited(t, bounds.Limits{}, nil)
	client := clientShowing(t, c)
	for range 100 {
		if code := ask(t, client, "https://"+c.Addr()+"/gram.v1.JobService/List",
			"Bearer "+strings.Repeat("x", 40)); code != http.StatusUnauthorized {
			t.Fatalf("a wrong token: %d", code)
		}
	}
	if code := ask(t, client, "https://"+c.Addr()+"/gram.v1.JobService/List",
		"Bearer "+c.AdminToken().Reveal()); code != http.StatusOK {
		t.Errorf("a right one afterwards: %d", code)
	}
}
