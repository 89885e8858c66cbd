package coordinator

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/bounds"
	"github.com/gram-compute/gram/coordinator/gate"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const patience = 20 * time.Second // far more than any limit below, even on a machine under load

func limited(t *testing.T, l bounds.Limits, more func(*Config)) *Coordinator {
	t.Helper()
	cfg := testConfig(t.TempDir())
	cfg.ListenAddr, cfg.limits = "127.0.0.1:0", l
	if more != nil {
		more(&cfg)
	}
	return startTest(t, cfg)
}

func secure(t *testing.T, c *Coordinator, protocol string) *tls.Conn {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.CAPEM())
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: patience}, "tcp", c.Addr(),
		&tls.Config{RootCAs: roots, NextProtos: []string{protocol}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// awaitHangup reads until the other side ends the connection.
func awaitHangup(t *testing.T, what string, conn net.Conn) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%s: the connection is still open", what)
	}
}

// Peers that say nothing, or not all of it, lose their connection, whatever stage they are at.
func TestSlowPeersAreHungUpOn(t *testing.T) {
	t.Parallel()
	quick := bounds.Limits{Handshake: 200 * time.Millisecond, Body: 200 * time.Millisecond,
		Idle: 200 * time.Millisecond, Write: 200 * time.Millisecond}
	c := limited(t, quick, nil)
	dial := func(address string) net.Conn {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	say := func(conn net.Conn, text string) net.Conn {
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	head := "POST /gram.v1.JobService/List HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer " + c.AdminToken().Reveal() + "\r\n"
	for what, conn := range map[string]net.Conn{
		"silent at the API":          dial(c.Addr()),
		"silent at the raft port":    dial(c.RaftAddr()),
		"half a hello":               say(dial(c.Addr()), "\x16\x03\x01\x02"),
		"half a hello, raft":         say(dial(c.RaftAddr()), "\x16\x03\x01\x02"),
		"silent after the handshake": secure(t, c, "http/1.1"),
		"half a header":              say(secure(t, c, "http/1.1"), head),
		"half a body":                say(secure(t, c, "http/1.1"), head+"Content-Length: 100\r\n\r\n{"),
		"silent in HTTP/2":           say(secure(t, c, "h2"), http2.ClientPreface),
		"half a frame": say(secure(t, c, "h2"), http2.ClientPreface+
			"\x00\x00\x00\x04\x00\x00\x00\x00\x00"+"\x00\x00\x20\x01"),
		"idle after a good HTTP call": say(secure(t, c, "http/1.1"), head+"Content-Length: 2\r\n\r\n{}"),
	} {
		awaitHangup(t, what, conn)
	}
}

// A body that does not come ends its call in HTTP/2, and the connection's other calls go on.
func TestASlowBodyInHTTP2(t *testing.T) {
	t.Parallel()
	c := limited(t, bounds.Limits{Body: 300 * time.Millisecond}, nil)
	conn := secure(t, c, "h2")
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	framer := http2.NewFramer(conn, conn)
	var block strings.Builder
	encoder := hpack.NewEncoder(&block)
	for _, field := range [][2]string{{":method", "POST"}, {":scheme", "https"}, {":authority", "localhost"},
		{":path", "/gram.v1.JobService/List"},
		{"content-type", "application/json"}, {"authorization", "Bearer " + c.AdminToken().Reveal()}} {
		if err := encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}); err != nil {
			t.Fatal(err)
		}
	}
	err := errors.Join(framer.WriteSettings(),
		framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte(block.String()),
			EndHeaders: true}),
		framer.WriteData(1, false, []byte("{")), conn.SetReadDeadline(time.Now().Add(patience)))
	if err != nil {
		t.Fatal(err)
	}
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Fatalf("no answer: %v", err)
		}
		if frame.Header().StreamID == 1 {
			break // an answer or a reset: the call has ended
		}
	}
}

// A stream may say nothing for longer than a piece of an answer may take.
func TestAQuietStreamGoesOn(t *testing.T) {
	t.Parallel()
	cfg, err := testConfig("").withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	cfg.limits.Write = 50 * time.Millisecond
	stream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, piece := range []string{"one ", "two"} {
			_, err := io.WriteString(w, piece)
			if err := errors.Join(err, http.NewResponseController(w).Flush()); err != nil {
				t.Error(err)
			}
			select {
			case <-time.After(6 * cfg.limits.Write):
			case <-r.Context().Done():
				t.Error("the stream was cut")
			}
		}
	})
	server := httptest.NewUnstartedServer(cfg.limits.Deadlines(stream))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	res, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, err := io.ReadAll(res.Body); err != nil || string(text) != "one two" || res.ProtoMajor != 2 {
		t.Errorf("%q over HTTP/%d: %v", text, res.ProtoMajor, err)
	}
}

// A client that takes nothing of a long answer does not keep the call.
func TestAnAnswerThatNobodyTakes(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		piece := make([]byte, 1<<20)
		for {
			if _, err := w.Write(piece); err != nil {
				ended <- err
				return
			}
		}
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := testConfig("").withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	cfg.limits.Write = 200 * time.Millisecond
	server := cfg.limits.Server(handler, cfg.Logger)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the call ended with %v", err)
		}
	case <-time.After(patience):
		t.Error("the call goes on")
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	c := limited(t, bounds.Limits{Strangers: 2}, func(cfg *Config) { cfg.MaxConnectionsPerAddress = 3 })
	var open []net.Conn
	for range 3 {
		open = append(open, secure(t, c, "http/1.1"))
	}
	fourth, err := net.Dial("tcp", c.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer fourth.Close()
	awaitHangup(t, "a fourth connection", fourth)
	open[0].Close()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.CAPEM())
	deadline := time.Now().Add(patience)
	for { // until the server has noticed
		conn, err := tls.Dial("tcp", c.Addr(), &tls.Config{RootCAs: roots})
		if err == nil {
			conn.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no connection is taken after another has ended: %v", err)
		}
	}

	for range 2 { // strangers that keep the raft port waiting
		conn, err := net.Dial("tcp", c.RaftAddr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	third, err := net.Dial("tcp", c.RaftAddr())
	if err != nil {
		t.Fatal(err)
	}
	defer third.Close()
	// before the others' handshakes time out
	if err := third.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := third.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a third stranger at the raft port: %v", err)
	}
}

// Sizes: a message of more than 4 MiB and a header of more than 16 KiB are refused.
func TestSizesAreBounded(t *testing.T) {
	t.Parallel()
	c := limited(t, bounds.Limits{}, nil)
	client := clientShowing(t, c)
	big := fmt.Sprintf(`{"id":"x","specJson":"%s"}`, strings.Repeat("a", 4<<20))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+c.Addr()+
		"/gram.v1.JobService/Submit", strings.NewReader(big))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.AdminToken().Reveal())
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || res.StatusCode != http.StatusTooManyRequests ||
		!strings.Contains(string(text), "resource_exhausted") || res.Header.Get("Retry-After") != "" {
		t.Errorf("a big message: %s %s %v", res.Status, text, err)
	}
	conn := secure(t, c, "http/1.1")
	if _, err := fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: %s\r\n\r\n",
		strings.Repeat("a", bounds.MaxHeader+8<<10)); err != nil {
		t.Fatal(err)
	}
	status, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.Contains(status, "431") {
		t.Errorf("a long header: %q %v", status, err)
	}
}

// A token that calls too often is told to wait, and may cancel all the same.
func TestTooManyCalls(t *testing.T) {
	t.Parallel()
	c := limited(t, bounds.Limits{}, func(cfg *Config) { cfg.CallRate = 0.001 })
	submitTest(t, c, "a")
	client, header := clientShowing(t, c), "Bearer "+makeToken(t, c, gate.ScopeSubmit, 0).Reveal()
	if code := ask(t, client, "https://"+c.Addr()+"/gram.v1.JobService/List", header); code != http.StatusOK {
		t.Errorf("the first call: %d", code)
	}
	if code := ask(t, client, "https://"+c.Addr()+"/gram.v1.JobService/List",
		header); code != http.StatusTooManyRequests {
		t.Errorf("the second call: %d", code)
	}
	if code := ask(t, client, "https://"+c.Addr()+"/gram.v1.JobService/Cancel", header); code != http.StatusNotFound {
		t.Errorf("to cancel: %d", code) // there is no job ""
	}
}

// answers sends a request a number of times and returns how many were answered before the other side hung up.
func answers(t *testing.T, conn net.Conn, request string, times int) (answered int) {
	t.Helper()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	from := bufio.NewReader(conn)
	for range times {
		if _, err := io.WriteString(conn, request); err != nil {
			break
		}
		res, err := http.ReadResponse(from, nil)
		if err != nil {
			break
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			break
		}
		answered++
	}
	return answered
}
