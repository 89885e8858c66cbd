package coordinator

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/pki"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// quorum is a cluster of several members in this process, over TLS on loopback.
type quorum struct {
	*testing.T
	authority string
	members   map[string]*Coordinator
	token     gate.Token // an admin's, made by the first member
}

// memberTimeout is short, and yet long enough for a busy machine.
const memberTimeout = 300 * time.Millisecond

// startQuorum starts c1 and lets the others join; it returns when all have a vote.
func startQuorum(t *testing.T, members int) *quorum {
	t.Helper()
	q := &quorum{T: t, members: make(map[string]*Coordinator)}
	q.authorise()
	for i := range members {
		if _, err := q.start(fmt.Sprint("c", i+1), t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	q.awaitVotes(members)
	return q
}

// authorise makes the authority that members are certified by.
func (q *quorum) authorise() {
	q.Helper()
	q.authority = filepath.Join(q.TempDir(), "pki")
	if err := pki.Init(q.authority, time.Now()); err != nil {
		q.Fatal(err)
	}
}

// config is that of a member that joins the first, if there is one.
func (q *quorum) config(id, dir string) Config {
	q.Helper()
	cfg := testConfig(dir)
	cfg.NodeID, cfg.ListenAddr, cfg.raftTimeout, cfg.PromoteAfter = id, "127.0.0.1:0", memberTimeout,
		50*time.Millisecond
	cfg.CheckpointEvery = 20
	for _, c := range q.members {
		cfg.Join, cfg.JoinToken = append(cfg.Join, c.Addr()), q.token
	}
	if err := pki.Issue(q.authority, filepath.Join(dir, "pki"), []string{"localhost", "127.0.0.1", "::1"},
		time.Now()); err != nil {
		q.Fatal(err)
	}
	return cfg
}

func (q *quorum) start(id, dir string) (*Coordinator, error) {
	q.Helper()
	return q.startWith(q.config(id, dir))
}

func (q *quorum) startWith(cfg Config) (*Coordinator, error) {
	q.Helper()
	ctx, cancel := context.WithTimeout(q.Context(), 30*time.Second)
	defer cancel()
	c, err := Start(ctx, cfg)
	if err != nil {
		return nil, err
	}
	q.members[c.cfg.NodeID] = c
	if token := c.AdminToken(); token.ID != "" {
		q.token = token
	}
	q.Cleanup(func() { stopTest(q.T, c) })
	return c, nil
}

// calls are clients of one member's API, over its port.
func (q *quorum) calls(c *Coordinator) (gramv1connect.JobServiceClient, gramv1connect.ClusterServiceClient) {
	q.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.CAPEM())
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	q.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport}
	token := as(q.token)
	return gramv1connect.NewJobServiceClient(client, "https://"+c.Addr(), token),
		gramv1connect.NewClusterServiceClient(client, "https://"+c.Addr(), token)
}

func (q *quorum) leader() *Coordinator {
	q.Helper()
	var leader *Coordinator
	q.poll("a leader", func() bool {
		for _, c := range q.members {
			if c.leads.Leads() {
				leader = c
				return true
			}
		}
		return false
	})
	return leader
}

// submit submits a job, again where the lead moved meanwhile, as clients do.
func (q *quorum) submit(id string) {
	q.Helper()
	q.poll("job "+id+" to be submitted", func() bool {
		_, err := q.leader().services.Jobs.Submit(q.Context(),
			connect.NewRequest(&pb.SubmitRequest{Id: id, SpecJson: testSpec(id)}))
		if err != nil && connect.CodeOf(outcome.Wire(err)) != connect.CodeUnavailable {
			q.Fatalf("submit %s: %v", id, err)
		}
		return err == nil
	})
}

func (q *quorum) follower() *Coordinator {
	q.Helper()
	leader := q.leader()
	for _, c := range q.members {
		if c != leader {
			return c
		}
	}
	q.Fatal("no follower")
	return nil
}

// poll asks until the answer is yes.
func (q *quorum) poll(what string, yes func() bool) {
	q.Helper()
	ctx, cancel := context.WithTimeout(q.Context(), 30*time.Second)
	defer cancel()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for !yes() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			q.Fatalf("waited in vain for %s", what)
		}
	}
}

func (q *quorum) list() []*pb.Member {
	q.Helper()
	_, cluster := q.calls(q.leader())
	res, err := cluster.Members(q.Context(), connect.NewRequest(&pb.MembersRequest{}))
	if err != nil {
		return nil // the lead may move
	}
	return res.Msg.GetMembers()
}

func (q *quorum) awaitVotes(n int) {
	q.Helper()
	q.poll(fmt.Sprint(n, " healthy voters"), func() bool {
		voters := 0
		for _, m := range q.list() {
			if m.GetVoter() && m.GetHealthy() {
				voters++
			}
		}
		return voters == n
	})
}

func (q *quorum) stop(id string) {
	q.Helper()
	stopTest(q.T, q.members[id])
	delete(q.members, id)
}
