package coordinator

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/bounds"
)

// watch begins a call of Watch on a connection of its own, and returns once its first message has come.
func watch(t *testing.T, ctx context.Context, c *Coordinator, protocol string) (conn net.Conn) {
	t.Helper()
	secured := secure(t, c, protocol)
	transport := &http.Transport{
		ForceAttemptHTTP2: protocol == "h2",
		DialTLSContext:    func(context.Context, string, string) (net.Conn, error) { return secured, nil },
	}
	t.Cleanup(transport.CloseIdleConnections)
	const message = `{"id":"a"}`
	body := string(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message)))) + message
	url := "https://" + c.Addr() + "/gram.v1.JobService/Watch"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/connect+json")
	req.Header.Set("Authorization", "Bearer "+c.AdminToken().Reveal())
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	head := make([]byte, 5)
	_, err = io.ReadFull(res.Body, head)
	if err == nil {
		_, err = io.CopyN(io.Discard, res.Body, int64(binary.BigEndian.Uint32(head[1:])))
	}
	if err := errors.Join(err, ctx.Err()); err != nil || head[0] != 0 {
		t.Fatalf("%s: the first message: %v, %v", protocol, head, err)
	}
	return secured.NetConn()
}

// ended counts the calls of Watch that have ended, by whatever code.
func ended(t *testing.T, c *Coordinator) (calls int) {
	t.Helper()
	for name, value := range gathered(t, c) {
		if strings.HasPrefix(name, "gram_calls_total{") && strings.Contains(name, "/Watch") {
			calls += int(value)
		}
	}
	return calls
}

// A call that waits ends when its client takes it back, and when the client's connection breaks: nobody is left to
// tell. The job does not change meanwhile, so only the call's context can end it.
func TestACallEndsWithItsClient(t *testing.T) {
	t.Parallel()
	c := limited(t, bounds.Limits{}, nil)
	submitTest(t, c, "a")
	for i, way := range []struct {
		name, protocol string
		reset          bool
	}{
		{"a stream that is reset", "h2", true},
		{"a connection that breaks", "h2", false},
		{"a connection that breaks, HTTP/1.1", "http/1.1", false},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		conn := watch(t, ctx, c, way.protocol)
		if n := ended(t, c); n != i {
			t.Fatalf("%s: %d calls have ended before", way.name, n)
		}
		if way.reset {
			cancel() // sends RST_STREAM
		} else if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(patience); ended(t, c) == i; <-time.After(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: the call goes on", way.name)
			}
		}
	}
}
