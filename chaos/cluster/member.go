package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// Member is where a coordinator runs. Replaced, it is another one at the same host.
type Member struct {
	Host       string // also the name that faults go by
	API, Raft  string // addresses
	life       atomic.Pointer[Life]
	generation int
}

// Life is one coordinator: its id and its disk go with it.
type Life struct {
	*Process
	ID   string
	Data string // folder
}

// Now is the coordinator that is there; nil before the first has begun.
func (m *Member) Now() *Life { return m.life.Load() }

// firstHome is the folder of the first coordinator, where the authority and the tokens are.
func (c *Cluster) firstHome() string { return filepath.Join(c.Folder, c.Members[0].Host) }

// startLimit bounds how long a member may take until it serves, or has a vote.
const startLimit = 60 * time.Second

func (c *Cluster) addMember(host string) error {
	if err := c.Network.Add(host); err != nil {
		return err
	}
	m := &Member{Host: host}
	var err1, err2 error
	m.API, err1 = c.Network.Address(host, apiPort)
	m.Raft, err2 = c.Network.Address(host, raftPort)
	c.Members = append(c.Members, m)
	return errors.Join(err1, err2)
}

// begin starts a member for the first time and waits until it serves.
func (c *Cluster) begin(ctx context.Context, m *Member, life *Life, joins bool) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	first := c.firstHome()
	args := []string{"coordinator", "--data", life.Data, "--listen", m.API, "--raft", m.Raft, "--node-id", life.ID,
		"--store", c.StoreURI(), "--lease-ttl", c.LeaseTTL.String(), "--promote-after", "500ms"}
	if joins {
		hosts := []string{"localhost", c.Network.IP(m.Host)}
		issue := append([]string{"pki", "issue", "--ca", filepath.Join(first, "pki"), "--out", filepath.Join(life.Data, "pki")}, hosts...)
		if _, err := c.Run(ctx, nil, issue...); err != nil {
			return err
		}
		args = append(args, "--join", strings.Join(c.apis(m), ","), "--token-file", filepath.Join(first, "admin.token"))
	}
	life.Process = c.process(m.Host, m.Host, c.Gram, append(c.StoreEnv(false), append(c.faultEnv(m.Host), c.Env...)...), append(args, c.Flags...)...)
	if err := life.Start(); err != nil {
		return err
	}
	m.life.Store(life)
	if err := c.awaitListener(ctx, life.Process, m.API); err != nil || joins {
		return err
	}
	// The first member listens before it makes the tokens that the others join with.
	return poll(ctx, m.Host+" to make its tokens", func() bool {
		_, err := os.Stat(filepath.Join(first, "worker.token"))
		return err == nil || !life.Running()
	})
}

// awaitListener dials until somebody answers.
func (c *Cluster) awaitListener(ctx context.Context, p *Process, address string) error {
	err := poll(ctx, p.Name+" to listen on "+address, func() bool {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			conn.Close()
		}
		return err == nil || !p.Running()
	})
	if err == nil && !p.Running() {
		return fmt.Errorf("%s has ended; its log is %s", p.Name, p.log)
	}
	return err
}

// Replace takes a member out and lets another join in its place. The one before must have been
// stopped and must not come back: its disk is left as it is, under its old id.
func (c *Cluster) Replace(ctx context.Context, m *Member) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	var refusal error
	err := poll(ctx, m.Now().ID+" to be removed", func() bool {
		for _, other := range c.Members {
			if other == m || !other.Now().Running() {
				continue
			}
			_, refusal = c.ClusterOf(other).Remove(ctx, connect.NewRequest(&pb.RemoveRequest{Id: m.Now().ID}))
			if refusal == nil || connect.CodeOf(refusal) == connect.CodeNotFound { // an answer of before was lost
				refusal = nil
				return true
			}
		}
		return false
	})
	if err != nil {
		return errors.Join(err, refusal)
	}
	m.generation++
	id := fmt.Sprintf("%s-%d", m.Host, m.generation)
	return c.begin(ctx, m, &Life{ID: id, Data: filepath.Join(c.Folder, id)}, true)
}

// AwaitVotes waits until so many members have a vote and are healthy.
func (c *Cluster) AwaitVotes(ctx context.Context, want int) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	return poll(ctx, fmt.Sprint(want, " healthy voters"), func() bool {
		voters := 0
		for _, m := range c.List(ctx) {
			if m.GetVoter() && m.GetHealthy() {
				voters++
			}
		}
		return voters == want
	})
}

// List asks every member in turn who belongs to the cluster; nil when none knows now.
func (c *Cluster) List(ctx context.Context) []*pb.Member {
	for _, m := range c.Members {
		if life := m.Now(); life == nil || !life.Running() || life.Paused() {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, 2*time.Second)
		res, err := c.ClusterOf(m).Members(limited, connect.NewRequest(&pb.MembersRequest{}))
		cancel()
		if err == nil {
			return res.Msg.GetMembers()
		}
	}
	return nil
}

// Leader is the member that leads, as far as anybody says; nil when nobody does.
func (c *Cluster) Leader(ctx context.Context) *Member {
	for _, listed := range c.List(ctx) {
		for _, m := range c.Members {
			if listed.GetLeader() && m.Now() != nil && listed.GetId() == m.Now().ID {
				return m
			}
		}
	}
	return nil
}

// ClusterOf calls one member's API.
func (c *Cluster) ClusterOf(m *Member) gramv1connect.ClusterServiceClient {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.admin == nil {
		client, options, err := c.Client()
		if err != nil { // the first member has not made its tokens yet
			return brokenClient(err)
		}
		c.admin, c.adminOptions = client, options
	}
	return gramv1connect.NewClusterServiceClient(c.admin, "https://"+m.API, c.adminOptions)
}

func brokenClient(err error) gramv1connect.ClusterServiceClient {
	return gramv1connect.NewClusterServiceClient(&http.Client{Transport: broken{err}}, "https://nobody")
}

type broken struct{ err error }

// RoundTrip implements http.RoundTripper.
func (b broken) RoundTrip(*http.Request) (*http.Response, error) { return nil, b.err }

// Client is an HTTP client of its own for every caller, with the options that carry an admin's token.
func (c *Cluster) Client() (*http.Client, connect.ClientOption, error) {
	home := c.firstHome()
	ca, err := os.ReadFile(filepath.Join(home, "pki", "ca.pem"))
	if err != nil {
		return nil, nil, err
	}
	token, err := os.ReadFile(filepath.Join(home, "admin.token"))
	if err != nil {
		return nil, nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}, ForceAttemptHTTP2: true,
		DialContext:     (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
		IdleConnTimeout: 10 * time.Second,
		HTTP2:           &http.HTTP2Config{SendPingTimeout: 2 * time.Second, PingTimeout: 2 * time.Second},
	}
	return &http.Client{Transport: transport}, connect.WithInterceptors(bearer(strings.TrimSpace(string(token)))), nil
}

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

// Health asks one member, on the port between coordinators, how far it is and for its state's digest. It
// shows the certificate of the first member.
func (c *Cluster) Health(ctx context.Context, m *Member) (index uint64, digest string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	config, err := c.peerConfig()
	if err != nil {
		return 0, "", err
	}
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	res, err := gramv1connect.NewPeerServiceClient(&http.Client{Transport: transport}, "https://"+m.Raft).
		Health(ctx, connect.NewRequest(&pb.HealthRequest{WithState: true}))
	if err != nil {
		return 0, "", err
	}
	return res.Msg.GetAppliedIndex(), hex.EncodeToString(res.Msg.GetStateSha256()), nil
}

func (c *Cluster) peerConfig() (*tls.Config, error) {
	dir := filepath.Join(c.firstHome(), "pki")
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "coordinator.pem"), filepath.Join(dir, "coordinator-key.pem"))
	if err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(filepath.Join(dir, "ca.pem"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: roots, Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}}, nil
}
