package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"sync"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/clientconfig"
)

// bearer adds the token to every call.
type bearer struct{ Secret func() string }

// Fixed is a token that stays the same.
func Fixed(token string) bearer { return bearer{func() string { return token }} }

// InFile is the token in a file, which a long-lived process looks at again before every call, so that a token
// can be exchanged under it. A file that cannot be read leaves the token as it was.
func InFile(path, first string) bearer {
	var mu sync.Mutex
	var seen os.FileInfo
	token := first
	return bearer{func() string {
		mu.Lock()
		defer mu.Unlock()
		if info, err := os.Stat(path); err == nil && !sameFile(info, seen) {
			if text, _, err := clientconfig.ReadToken(path); err == nil {
				token, seen = text, info
			}
		}
		return token
	}}
}

func sameFile(now, before os.FileInfo) bool {
	return before != nil && os.SameFile(now, before) && now.ModTime().Equal(before.ModTime()) &&
		now.Size() == before.Size()
}

// WrapUnary adds the token to a call, and repeats one that was refused with a token that is another by now.
func (b bearer) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		used := b.set(req.Header())
		res, err := next(ctx, req)
		if connect.CodeOf(err) == connect.CodeUnauthenticated && b.Secret() != used {
			b.set(req.Header())
			return next(ctx, req)
		}
		return res, err
	}
}

// WrapStreamingClient adds the token to a stream.
func (b bearer) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		conn := next(ctx, spec)
		b.set(conn.RequestHeader())
		return conn
	}
}

// WrapStreamingHandler changes nothing: this is a client.
func (b bearer) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

func (b bearer) set(h http.Header) string {
	token := b.Secret()
	if token != "" {
		h.Set("Authorization", "Bearer "+token)
	}
	return token
}

// Trust reads the authorities of a cluster; without any the system's count.
func Trust(cacert clientconfig.Value) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS13}
	if cacert.Text == "" {
		return config, nil
	}
	text, err := os.ReadFile(cacert.Text)
	if err != nil {
		return nil, fmt.Errorf("authority (from %s): %w", cacert.Origin, err)
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("authority (from %s): %s holds no PEM certificate", cacert.Origin, cacert.Text)
	}
	return config, nil
}

// clientCertificate is a certificate in two files, read anew for every connection. Files that do not fit
// together leave the certificate as it was.
type clientCertificate struct {
	certFile, keyFile string

	mu   sync.Mutex
	pair tls.Certificate
}

func loadClientCertificate(certFile, keyFile string) (*clientCertificate, error) {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("client certificate: %w", err)
	}
	return &clientCertificate{certFile: certFile, keyFile: keyFile, pair: pair}, nil
}

// show implements tls.Config.GetClientCertificate.
func (c *clientCertificate) show(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile); err == nil {
		c.pair = pair
	}
	shown := c.pair
	return &shown, nil
}
