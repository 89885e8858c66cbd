package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"connectrpc.com/connect"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

const members = 3

// patience is for what must come true sooner or later.
const patience = time.Minute

// member is a coordinator, the same through restarts.
type member struct {
	id, api, raft, data string
	process             *exec.Cmd
	ended               chan error
	cluster             gramv1connect.ClusterServiceClient
	jobs                gramv1connect.JobServiceClient
}

// quorum is three coordinators as processes of the built binary, on loopback.
type quorum struct {
	binary, home string
	members      []*member
}

// start starts c1, which begins the cluster, and lets the others join it.
func start(ctx context.Context, binary, home string) (*quorum, error) {
	q := &quorum{binary: binary, home: home}
	for i := range members {
		m := &member{id: fmt.Sprint("c", i+1), data: filepath.Join(home, fmt.Sprint("c", i+1))}
		var err error
		if m.api, err = freeAddress(); err == nil {
			m.raft, err = freeAddress()
		}
		if err != nil {
			return q, err
		}
		q.members = append(q.members, m)
		if i > 0 {
			issue := q.command(ctx, "pki", "issue", "--ca", filepath.Join(q.members[0].data, "pki"), "--out", filepath.Join(m.data, "pki"), "localhost")
			if out, err := issue.CombinedOutput(); err != nil {
				return q, fmt.Errorf("gram pki issue: %w\n%s", err, out)
			}
		}
		if err := q.begin(m); err != nil {
			return q, err
		}
		if i == 0 {
			if err := until(ctx, "c1 to make its tokens", func() bool { return q.connect(ctx, m) == nil }); err != nil {
				return q, err
			}
		} else if err := q.connect(ctx, m); err != nil {
			return q, err
		}
		if err := q.awaitVotes(ctx, i+1); err != nil {
			return q, err
		}
	}
	return q, nil
}

// freeAddress is one on loopback that nobody listened on a moment ago.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

func (q *quorum) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, q.binary, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + q.home, "NO_COLOR=1"}
	return cmd
}

// begin starts, or starts again, a member. It ends by kill or stop only.
func (q *quorum) begin(m *member) error {
	args := []string{"coordinator", "--data", m.data, "--listen", m.api, "--raft", m.raft, "--node-id", m.id,
		"--store", "file://" + filepath.Join(q.home, "store"), "--promote-after", "500ms"}
	if first := q.members[0]; m != first {
		args = append(args, "--join", first.api, "--token-file", filepath.Join(first.data, "admin.token"))
	}
	said, err := os.OpenFile(filepath.Join(q.home, m.id+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer said.Close()
	m.process = q.command(context.Background(), args...)
	m.process.Stdout, m.process.Stderr = said, said
	if err := m.process.Start(); err != nil {
		return err
	}
	process, ended := m.process, make(chan error, 1)
	m.ended = ended
	go func() { ended <- process.Wait() }() // received by kill
	return nil
}

// kill ends a member with SIGKILL and returns when the signal was sent.
func (m *member) kill() (time.Time, error) {
	at := time.Now()
	if err := m.process.Process.Kill(); err != nil {
		return at, fmt.Errorf("kill %s: %w", m.id, err)
	}
	<-m.ended
	return at, nil
}

// stop ends what runs.
func (q *quorum) stop() error {
	var failures []error
	for _, m := range q.members {
		if m.process != nil && m.process.Process != nil {
			_, err := m.kill()
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// bearer puts a token on every call.
type bearer struct {
	token string
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

// connect makes a member's clients, when the first member has made the authority and the token.
func (q *quorum) connect(ctx context.Context, m *member) error {
	ca, err := os.ReadFile(filepath.Join(q.members[0].data, "pki", "ca.pem"))
	if err != nil {
		return err
	}
	token, err := os.ReadFile(filepath.Join(q.members[0].data, "admin.token"))
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	context.AfterFunc(ctx, transport.CloseIdleConnections)
	client := &http.Client{Transport: bearer{strings.TrimSpace(string(token)), transport}}
	m.cluster = gramv1connect.NewClusterServiceClient(client, "https://"+m.api)
	m.jobs = gramv1connect.NewJobServiceClient(client, "https://"+m.api)
	return nil
}

// list is who belongs to the cluster, as whoever answers says.
func (q *quorum) list(ctx context.Context) []*pb.Member {
	for _, m := range q.members {
		if m.cluster == nil {
			continue
		}
		call, cancel := context.WithTimeout(ctx, 2*time.Second)
		res, err := m.cluster.Members(call, connect.NewRequest(&pb.MembersRequest{}))
		cancel()
		if err == nil {
			return res.Msg.GetMembers()
		}
	}
	return nil
}

// awaitVotes waits until so many members have a vote and are healthy.
func (q *quorum) awaitVotes(ctx context.Context, n int) error {
	return until(ctx, fmt.Sprint(n, " healthy voters"), func() bool {
		healthy := 0
		for _, m := range q.list(ctx) {
			if m.GetVoter() && m.GetHealthy() {
				healthy++
			}
		}
		return healthy == n
	})
}

// leader waits for there to be one.
func (q *quorum) leader(ctx context.Context) (leader *member, err error) {
	err = until(ctx, "a leader", func() bool {
		for _, listed := range q.list(ctx) {
			for _, m := range q.members {
				if listed.GetLeader() && listed.GetId() == m.id {
					leader = m
				}
			}
		}
		return leader != nil
	})
	return leader, err
}

// until asks until the answer is yes, for a minute at most.
func until(ctx context.Context, what string, yes func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for !yes() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("waited in vain for %s: %w", what, ctx.Err())
		}
	}
	return nil
}
