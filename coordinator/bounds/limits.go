package bounds

import (
	"cmp"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Limits bound what a peer may keep of a port.
type Limits struct {
	Handshake  time.Duration // of TLS, and of a request's header
	Body       time.Duration // of a request
	Write      time.Duration // of one piece of an answer, until the peer has taken it
	Idle       time.Duration // between requests
	Total      int           // connections
	PerAddress int           // connections of one IP address
	Strangers  int           // of one IP address to the raft port, that have not shown a certificate
	Refresh    time.Duration // between looks at the certificate's files
	Wasted     int           // calls of one connection that are for nothing, in a burst
}

// WithDefaults fills in what is 0.
func (l Limits) WithDefaults() Limits {
	return Limits{
		Handshake: cmp.Or(l.Handshake, 10*time.Second), Body: cmp.Or(l.Body, time.Minute),
		Write: cmp.Or(l.Write, time.Minute),
		Idle:  cmp.Or(l.Idle, 2*time.Minute), Refresh: cmp.Or(l.Refresh, 10*time.Second),
		Total: cmp.Or(l.Total, 20000), PerAddress: cmp.Or(l.PerAddress, 4000), Strangers: cmp.Or(l.Strangers, 16),
		Wasted: cmp.Or(l.Wasted, 500),
	}
}

// MaxHeader bounds a request's header.
const MaxHeader = 16 << 10

// maxUnread bounds what an HTTP/2 connection may send before the call reads it: net/http's own 1 MiB, of 60 peers at a
// time, takes more memory than all else.
const maxUnread = 128 << 10

// Server serves within the limits. A call itself may take as long as it likes.
func (l Limits) Server(handler http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           l.Deadlines(handler),
		ReadHeaderTimeout: l.Handshake,
		IdleTimeout:       l.Idle,
		MaxHeaderBytes:    MaxHeader,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: 250, MaxReceiveBufferPerConnection: maxUnread, MaxReceiveBufferPerStream: maxUnread,
			SendPingTimeout: l.Body, PingTimeout: l.Handshake, WriteByteTimeout: l.Write,
		},
		ErrorLog: log.New(LogWriter{Log: logger}, "", 0),
	}
}

// boundedListener closes connections beyond its limits as soon as they are accepted.
type boundedListener struct {
	net.Listener
	limits Limits

	mu   sync.Mutex
	open map[string]int // by IP address
	all  int
}

// Bound closes what comes to a listener beyond the limits.
func Bound(l net.Listener, bounds Limits) *boundedListener {
	return &boundedListener{Listener: l, limits: bounds, open: map[string]int{}}
}

// Accept implements net.Listener.
func (l *boundedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if from := AddressOf(conn); l.take(from) {
			return &boundedConn{Conn: conn, leave: sync.OnceFunc(func() { l.leave(from) })}, nil
		}
		conn.Close() // told by that alone: an answer would cost more than the question
	}
}

func (l *boundedListener) take(from string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= l.limits.Total || l.open[from] >= l.limits.PerAddress {
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

// AddressOf is the peer's IP address.
func AddressOf(conn net.Conn) string {
	host, _, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err != nil {
		return conn.RemoteAddr().String()
	}
	return host
}
