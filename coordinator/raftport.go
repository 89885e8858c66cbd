package coordinator

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/gram-compute/gram/coordinator/pki"
	"github.com/hashicorp/raft"
)

// handshakeLimit is how long a stranger may keep a connection to the raft port.
const handshakeLimit = 10 * time.Second

// raftPort is where coordinators speak raft: both sides show a coordinator's
// certificate. It owns the connections it has accepted; raft's transport leaves
// them open when it closes.
type raftPort struct {
	net.Listener
	config *tls.Config

	mu     sync.Mutex
	open   map[*raftConn]bool
	closed bool
}

func listenRaft(address string, identity *pki.Identity) (*raftPort, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for coordinators: %w", err)
	}
	return &raftPort{Listener: listener, config: identity.PeerConfig(pki.RoleCoordinator), open: make(map[*raftConn]bool)}, nil
}

// Accept implements net.Listener. The handshake is left to the first read, so that
// a slow peer keeps nobody waiting.
func (p *raftPort) Accept() (net.Conn, error) {
	conn, err := p.Listener.Accept()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errors.Join(net.ErrClosed, conn.Close())
	}
	accepted := &raftConn{Conn: tls.Server(conn, p.config), port: p}
	p.open[accepted] = true
	return accepted, nil
}

// Dial implements raft.StreamLayer.
func (p *raftPort) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	return tls.DialWithDialer(&net.Dialer{Timeout: timeout}, "tcp", string(address), p.config)
}

// Close implements net.Listener; it ends the accepted connections too.
func (p *raftPort) Close() error {
	p.mu.Lock()
	p.closed = true
	open := p.open
	p.open = nil
	p.mu.Unlock()
	failures := []error{p.Listener.Close()}
	for conn := range open { // in any order
		failures = append(failures, conn.Conn.NetConn().Close())
	}
	return errors.Join(failures...)
}

// raftConn is an accepted connection.
type raftConn struct {
	*tls.Conn
	port   *raftPort
	proven bool // the peer has shown its certificate; only the reader touches this
}

// Read implements net.Conn. The peer proves itself within a time limit first.
func (c *raftConn) Read(p []byte) (int, error) {
	if !c.proven {
		if err := c.prove(); err != nil {
			return 0, fmt.Errorf("raft peer %s: %w", c.RemoteAddr(), err)
		}
		c.proven = true
	}
	return c.Conn.Read(p)
}

func (c *raftConn) prove() error {
	if err := c.SetDeadline(time.Now().Add(handshakeLimit)); err != nil {
		return err
	}
	if err := c.Handshake(); err != nil {
		return err
	}
	return c.SetDeadline(time.Time{})
}

// Close implements net.Conn.
func (c *raftConn) Close() error {
	c.port.mu.Lock()
	delete(c.port.open, c)
	c.port.mu.Unlock()
	return c.Conn.Close()
}
