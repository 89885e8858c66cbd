package coordinator

import (
	"cmp"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// limits bound what a peer may keep of a port.
type limits struct {
	handshake  time.Duration // of TLS, and of a request's header
	body       time.Duration // of a request
	write      time.Duration // of one piece of an answer, until the peer has taken it
	idle       time.Duration // between requests
	total      int           // connections
	perAddress int           // connections of one IP address
	strangers  int           // of one IP address to the raft port, that have not shown a certificate
	refresh    time.Duration // between looks at the certificate's files
	wasted     int           // calls of one connection that are for nothing, in a burst
}

func (l limits) withDefaults(c Config) limits {
	return limits{
		handshake: cmp.Or(l.handshake, 10*time.Second), body: cmp.Or(l.body, time.Minute), write: cmp.Or(l.write, time.Minute),
		idle: cmp.Or(l.idle, 2*time.Minute), refresh: cmp.Or(l.refresh, 10*time.Second),
		total: cmp.Or(c.MaxConnections, 20000), perAddress: cmp.Or(c.MaxConnectionsPerAddress, 4000), strangers: cmp.Or(l.strangers, 16),
		wasted: cmp.Or(l.wasted, 500),
	}
}

// maxHeader bounds a request's header.
const maxHeader = 16 << 10

// maxUnread bounds what an HTTP/2 connection may send before the call reads it: net/http's own 1 MiB, of 60 peers at a
// time, takes more memory than all else.
const maxUnread = 128 << 10

// server serves within the limits. A call itself may take as long as it likes.
func (l limits) server(handler http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           l.deadlines(handler),
		ReadHeaderTimeout: l.handshake,
		IdleTimeout:       l.idle,
		MaxHeaderBytes:    maxHeader,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: 250, MaxReceiveBufferPerConnection: maxUnread, MaxReceiveBufferPerStream: maxUnread,
			SendPingTimeout: l.body, PingTimeout: l.handshake, WriteByteTimeout: l.write,
		},
		ErrorLog: log.New(slogWriter{logger}, "", 0),
	}
}

// boundedListener closes connections beyond its limits as soon as they are accepted.
type boundedListener struct {
	net.Listener
	limits limits

	mu   sync.Mutex
	open map[string]int // by IP address
	all  int
}

func newBoundedListener(l net.Listener, bounds limits) *boundedListener {
	return &boundedListener{Listener: l, limits: bounds, open: map[string]int{}}
}

// Accept implements net.Listener.
func (l *boundedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if from := addressOf(conn); l.take(from) {
			return &boundedConn{Conn: conn, leave: sync.OnceFunc(func() { l.leave(from) })}, nil
		}
		conn.Close() // told by that alone: an answer would cost more than the question
	}
}

func (l *boundedListener) take(from string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= l.limits.total || l.open[from] >= l.limits.perAddress {
		return false
	}
	l.open[from]++
	l.all++
	return true
}

func (l *boundedListener) leave(from string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	if l.open[from]--; l.open[from] == 0 {
		delete(l.open, from)
	}
}

type boundedConn struct {
	net.Conn
	leave func()
}

// Close implements net.Conn.
func (c *boundedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// addressOf is the peer's IP address.
func addressOf(conn net.Conn) string {
	host, _, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err != nil {
		return conn.RemoteAddr().String()
	}
	return host
}
