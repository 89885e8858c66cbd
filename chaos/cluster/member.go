package cluster

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"
	deployed "github.com/gram-compute/gram/deploy/cluster"
	"github.com/gram-compute/gram/deploy/process"
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

// first is the folder of the first coordinator, where the authority and the tokens are.
func (c *Cluster) first() deployed.Home {
	return deployed.Home(filepath.Join(c.Folder, c.Members[0].Host))
}

// silence is how long a client waits for a member that is paused or cut off.
const silence = 2 * time.Second

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
	place := deployed.Member{ID: life.ID, API: m.API, Raft: m.Raft, Data: life.Data}
	flags := []string{"--lease-ttl", c.LeaseTTL.String(), "--promote-after", "500ms"}
	if joins {
		issue := c.first().Issue(place, "localhost", c.Network.IP(m.Host))
		if _, err := c.Run(ctx, nil, issue...); err != nil {
			return err
		}
		flags = append(flags, c.first().Join(c.apis(m)...)...)
	}
	env := slices.Concat(c.StoreEnv(false), c.faultEnv(m.Host), c.Env)
	args := place.Arguments(c.StoreURI(), append(flags, c.Flags...)...)
	life.Process = c.process(m.Host, m.Host, c.Gram, env, args...)
	if err := life.Start(); err != nil {
		return err
	}
	m.life.Store(life)
	if err := c.awaitListener(ctx, life.Process, m.API); err != nil || joins {
		return err
	}
	// The first member listens before it makes the tokens that the others join with.
	return process.Until(ctx, m.Host+" to make its tokens", func() bool {
		return c.first().Ready() || !life.Running()
	})
}

// awaitListener dials until somebody answers.
func (c *Cluster) awaitListener(ctx context.Context, p *Process, address string) error {
	err := p.last().AwaitListener(ctx, address)
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w; its log is %s", p.Name, err, p.log)
}

// Replace takes a member out and lets another join in its place. The one before must have been
// stopped and must not come back: its disk is left as it is, under its old id.
func (c *Cluster) Replace(ctx context.Context, m *Member) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	var refusal error
	err := process.Until(ctx, m.Now().ID+" to be removed", func() bool {
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

// AwaitVotes waits until that number of members have a vote and are healthy.
func (c *Cluster) AwaitVotes(ctx context.Context, want int) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	return deployed.AwaitVotes(ctx, want, c.List)
}

// List asks every member in turn who belongs to the cluster; nil when none knows now.
func (c *Cluster) List(ctx context.Context) []*pb.Member {
	var awake []gramv1connect.ClusterServiceClient
	for _, m := range c.Members {
		if life := m.Now(); life != nil && life.Running() && !life.Paused() {
			awake = append(awake, c.ClusterOf(m))
		}
	}
	return deployed.List(ctx, awake...)
}

// Leader is the member that leads, as far as anybody says; nil when nobody does.
func (c *Cluster) Leader(ctx context.Context) *Member {
	id := deployed.Leader(c.List(ctx))
	for _, m := range c.Members {
		if life := m.Now(); life != nil && life.ID == id {
			return m
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
	return c.first().Client(silence)
}

// Health asks one member, on the port between coordinators, how far it is and for its state's digest. It
// shows the certificate of the first member.
func (c *Cluster) Health(ctx context.Context, m *Member) (index uint64, digest string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	config, err := c.first().Peer()
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
