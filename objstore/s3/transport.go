package s3

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// newTransport makes connections to the store, or the environment's proxy. Guarded, it refuses addresses that no
// store has.
func newTransport(cfg Config, guarded bool) *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}
			if guarded {
				dialer.ControlContext = guard(address, cfg.Local)
			}
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &stallConn{Conn: conn, timeout: cfg.StallTimeout,
				sending: floor{rate: cfg.FloorRate, window: cfg.FloorWindow}}, nil
		},
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: cfg.RootCAs},
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: cfg.StallTimeout,
		ExpectContinueTimeout: time.Second,
		IdleConnTimeout:       30 * time.Second,
		MaxIdleConns:          256,
		MaxIdleConnsPerHost:   64,
		DisableCompression:    true, // objects come as they are stored
	}
}

// stallConn ends a connection on which nothing has moved for a while, in either direction, and one that takes what is
// sent more slowly than the floor. How fast a body comes is the reader's affair: before it, the server may think.
type stallConn struct {
	net.Conn
	timeout time.Duration
	sending floor // of one writer at a time, as net/http writes
}

func (c *stallConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.timeout)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

func (c *stallConn) Write(p []byte) (int, error) {
	if c.sending.low() {
		return 0, c.sending.fault()
	}
	began := time.Now()
	if err := c.SetReadDeadline(began.Add(c.timeout)); err != nil {
		return 0, err
	}
	if err := c.SetWriteDeadline(began.Add(min(c.timeout, c.sending.left(len(p))))); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(p)
	c.sending.moved(n, time.Since(began))
	return n, err
}
