// Package cluster starts clusters of processes of the gram binary: the demo, make cluster, the benchmarks, the chaos
// runs
// and the tests share it. Its owners keep what is theirs: what is restarted, disturbed or measured.
package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"connectrpc.com/connect"
)

// Home is the data directory of the first coordinator: it makes the cluster's authority and the first tokens.
type Home string

// CA is the file of the authority's certificate.
func (h Home) CA() string { return filepath.Join(h.PKI(), "ca.pem") }

// PKI is the folder of the authority.
func (h Home) PKI() string { return filepath.Join(string(h), "pki") }

// AdminToken is the file of the first admin's token.
func (h Home) AdminToken() string { return filepath.Join(string(h), "admin.token") }

// WorkerToken is the file of the first workers' token. It is the last that the first start makes.
func (h Home) WorkerToken() string { return filepath.Join(string(h), "worker.token") }

// Ready reports whether others can join and call: the authority and the tokens are there.
func (h Home) Ready() bool {
	_, err := os.Stat(h.WorkerToken())
	return err == nil
}

// ClientEnv configures the command line for the members at these API addresses.
func (h Home) ClientEnv(addresses ...string) []string {
	return []string{"GRAM_ADDR=" + strings.Join(addresses, ","), "GRAM_CACERT=" + h.CA(),
		"GRAM_TOKEN_FILE=" + h.AdminToken()}
}

// Client returns an HTTP client of its own for every caller, which trusts the cluster, and the option by which calls
// carry the first admin's token. Silence is how long it waits for a peer that says nothing, because it is paused or the
// network is cut; 0 means forever.
func (h Home) Client(silence time.Duration) (*http.Client, connect.ClientOption, error) {
	config, err := h.tls()
	if err != nil {
		return nil, nil, err
	}
	token, err := ReadToken(h.AdminToken())
	if err != nil {
		return nil, nil, err
	}
	transport := &http.Transport{
		TLSClientConfig: config, ForceAttemptHTTP2: true,
		DialContext:     (&net.Dialer{Timeout: silence}).DialContext,
		IdleConnTimeout: 10 * time.Second,
		HTTP2:           &http.HTTP2Config{SendPingTimeout: silence, PingTimeout: silence},
	}
	return &http.Client{Transport: transport}, Bearer(token), nil
}

func (h Home) tls() (*tls.Config, error) {
	ca, err := os.ReadFile(h.CA())
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("%s holds no certificate", h.CA())
	}
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}, nil
}

// Peer returns the configuration of a client that presents the first coordinator's certificate to its peers.
func (h Home) Peer() (*tls.Config, error) {
	config, err := h.tls()
	if err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(
		filepath.Join(h.PKI(), "coordinator.pem"), filepath.Join(h.PKI(), "coordinator-key.pem"))
	config.Certificates, config.NextProtos = []tls.Certificate{pair}, []string{"h2"}
	return config, err
}

// ReadToken reads the token in a file.
func ReadToken(file string) (string, error) {
	text, err := os.ReadFile(file)
	return strings.TrimSpace(string(text)), err
}

// Bearer is the option by which calls carry a token.
func Bearer(token string) connect.ClientOption { return connect.WithInterceptors(bearer(token)) }

type bearer string

// WrapUnary implements connect.Interceptor.
func (b bearer) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		req.Header().Set("Authorization", "Bearer "+string(b))
		return next(ctx, req)
	}
}

// WrapStreamingClient implements connect.Interceptor.
func (b bearer) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		conn := next(ctx, spec)
		conn.RequestHeader().Set("Authorization", "Bearer "+string(b))
		return conn
	}
}

// WrapStreamingHandler implements connect.Interceptor.
func (b bearer) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}
