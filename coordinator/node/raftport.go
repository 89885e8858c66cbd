package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/gram-compute/gram/coordinator/bounds"
	"github.com/gram-compute/gram/coordinator/pki"
	"github.com/hashicorp/raft"
)

const (
	// raftProtocol and the cluster's id are what peers agree on in the handshake (ALPN)
	// before they speak raft: a member of another cluster, such as one that lost its disk
	// and began anew, is nobody's peer.
	raftProtocol = "gram-raft/"
	// callProtocol is for calls between members: HTTP/2.
	callProtocol = "h2"
)

// Port is where coordinators speak raft, and call each other: both sides show a
// coordinator's certificate. It owns the connections it has accepted; raft's transport
// leaves them open when it closes.
type Port struct {
	listener  net.Listener
	advertise string // what others dial; "" means the listener's own
	identity  *pki.Identity
	clusterID func() string
	log       *slog.Logger
	raft      chan net.Conn // shaken hands, to speak raft
	Calls     *callListener // of peers that call
	ended     chan struct{}
	tasks     sync.WaitGroup

	limits bounds.Limits

	mu        sync.Mutex
	open      map[net.Conn]bool // accepted and not closed
	strangers map[string]int    // connections that have not shaken hands, by IP address
	closed    bool
}

// acceptAgain is the pause before connections are accepted again after a failure.
const acceptAgain = time.Second

// Listen opens the port; peers must belong to the cluster that clusterID names.
func Listen(cfg Config, identity *pki.Identity, clusterID func() string) (*Port, error) {
	listener, err := net.Listen("tcp", cfg.RaftAddr)
	if err != nil {
		return nil, fmt.Errorf("listen for coordinators: %w", err)
	}
	p := &Port{
		listener: bounds.Bound(listener, cfg.Limits), limits: cfg.Limits, advertise: cfg.AdvertiseAddr,
		identity: identity, clusterID: clusterID, log: cfg.Logger, raft: make(chan net.Conn),
		ended: make(chan struct{}), open: make(map[net.Conn]bool), strangers: make(map[string]int),
	}
	p.Calls = &callListener{port: p, conns: make(chan net.Conn), ended: make(chan struct{})}
	p.tasks.Go(p.accept)
	return p, nil
}

func (p *Port) accept() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			p.log.Warn("no connection taken from another coordinator; trying again", "error", err)
			select { // too many open files, say: it passes
			case <-time.After(acceptAgain):
				continue
			case <-p.ended:
				return
			}
		}
		accepted := &portConn{Conn: conn, port: p}
		if !p.meets(bounds.AddressOf(conn)) {
			conn.Close() // enough of them from there are being looked at
			continue
		}
		if !p.keep(accepted) {
			return
		}
		p.tasks.Go(func() { p.admit(accepted) })
	}
}

// meets counts a stranger in, if there are not too many from its address.
func (p *Port) meets(from string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.strangers[from] >= p.limits.Strangers {
		return false
	}
	p.strangers[from]++
	return true
}

func (p *Port) met(from string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.strangers[from]--; p.strangers[from] == 0 {
		delete(p.strangers, from)
	}
}

// keep remembers a connection, to close it with the port.
func (p *Port) keep(conn *portConn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		conn.Conn.Close() // nobody reads from it
		return false
	}
	p.open[conn.Conn] = true
	return true
}

// admit lets a peer prove itself within a time limit, and hands it to whom it asks for.
func (p *Port) admit(raw *portConn) {
	config := p.identity.PeerConfig(pki.RoleCoordinator)
	config.NextProtos = []string{callProtocol}
	if id := p.clusterID(); id != "" {
		config.NextProtos = append(config.NextProtos, raftProtocol+id)
	}
	conn := tls.Server(raw, config)
	ctx, cancel := context.WithTimeout(context.Background(), p.limits.Handshake)
	defer cancel()
	err := conn.HandshakeContext(ctx)
	p.met(bounds.AddressOf(raw))
	if err != nil {
		conn.Close() // the peer has been told by an alert
		return
	}
	to := p.raft
	switch conn.ConnectionState().NegotiatedProtocol {
	case "":
		conn.Close() // asks for nothing we know
		return
	case callProtocol:
		to = p.Calls.conns
	}
	select {
	case to <- conn:
	case <-p.ended:
		conn.Close()
	}
}

// Accept implements net.Listener for raft's transport.
func (p *Port) Accept() (net.Conn, error) {
	select {
	case conn := <-p.raft:
		return conn, nil
	case <-p.ended:
		return nil, net.ErrClosed
	}
}

// Dial implements raft.StreamLayer.
func (p *Port) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	id := p.clusterID()
	if id == "" {
		return nil, errors.New("this member does not know its cluster yet")
	}
	return p.dial(ctx, string(address), raftProtocol+id)
}

func (p *Port) dial(ctx context.Context, address, protocol string) (net.Conn, error) {
	config := p.identity.PeerConfig(pki.RoleCoordinator)
	config.NextProtos = []string{protocol}
	return (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", address)
}

// Addr implements net.Listener: what other members dial.
func (p *Port) Addr() net.Addr {
	if p.advertise != "" {
		return advertised(p.advertise)
	}
	return p.listener.Addr()
}

type advertised string

func (advertised) Network() string  { return "tcp" }
func (a advertised) String() string { return string(a) }

// Close implements net.Listener; it ends the accepted connections too.
func (p *Port) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	open := p.open
	p.open = nil
	p.mu.Unlock()
	close(p.ended)
	failures := []error{p.listener.Close()}
	for conn := range open { // in any order
		failures = append(failures, conn.Close())
	}
	p.tasks.Wait()
	return errors.Join(failures...)
}

// portConn is an accepted connection, below TLS.
type portConn struct {
	net.Conn
	port *Port
}

// Close implements net.Conn. Only the first one that closes does anything.
func (c *portConn) Close() error {
	c.port.mu.Lock()
	ours := c.port.open[c.Conn]
	delete(c.port.open, c.Conn)
	c.port.mu.Unlock()
	if !ours {
		return nil
	}
	return c.Conn.Close()
}

// callListener accepts the connections of peers that call. Closed, it leaves the port to raft.
type callListener struct {
	port  *Port
	conns chan net.Conn
	ended chan struct{}
	once  sync.Once
}

// Accept implements net.Listener.
func (l *callListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.ended:
	case <-l.port.ended:
	}
	return nil, net.ErrClosed
}

// Close implements net.Listener.
func (l *callListener) Close() error {
	l.once.Do(func() { close(l.ended) })
	return nil
}

// Addr implements net.Listener.
func (l *callListener) Addr() net.Addr { return l.port.Addr() }
