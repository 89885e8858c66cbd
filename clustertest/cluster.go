package clustertest

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/deploy/cluster"
	"github.com/gram-compute/gram/deploy/process"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// Cluster is a coordinator and workers as processes of the built binary.
type Cluster struct {
	Home        string // of the processes; Home/data is the coordinator's
	Addr        string
	Env         []string // for every process, e.g. S3 credentials
	Flags       []string // further ones of the coordinator
	Coordinator *Process
	Workers     []*Process
	Jobs        gramv1connect.JobServiceClient
	Status      gramv1connect.ClusterServiceClient
	store       string
	raft        string
	leaseTTL    time.Duration
	client      *http.Client
	token       connect.ClientOption // an admin's
}

// StartCluster starts a coordinator process over a store.
func StartCluster(t testing.TB, storeURI string, leaseTTL time.Duration, env ...string) *Cluster {
	t.Helper()
	return StartClusterWith(t, storeURI, leaseTTL, nil, env...)
}

// StartClusterWith is StartCluster with further flags of the coordinator.
func StartClusterWith(t testing.TB, storeURI string, leaseTTL time.Duration, flags []string, env ...string) *Cluster {
	t.Helper()
	c := &Cluster{
		Home: t.TempDir(), Addr: FreeAddress(t), raft: FreeAddress(t), Env: env, Flags: flags, store: storeURI,
		leaseTTL: leaseTTL,
	}
	if c.store == "" {
		c.store = "file://" + filepath.Join(c.Home, "store")
	}
	c.StartCoordinator(t)
	c.connect(t)
	return c
}

// StartCoordinator starts, or starts again, the coordinator on its data directory.
func (c *Cluster) StartCoordinator(t testing.TB) {
	t.Helper()
	place := cluster.Member{API: c.Addr, Raft: c.raft, Data: c.data()}
	flags := append([]string{"--lease-ttl", c.leaseTTL.String()}, c.Flags...)
	c.Coordinator = Start(t, c.Home, c.Env, place.Arguments(c.store, flags...)...)
	c.awaitListener(t)
}

func (c *Cluster) data() string { return filepath.Join(c.Home, "data") }

// FreeAddress is a loopback address nobody listened on a moment ago.
func FreeAddress(t testing.TB) string {
	t.Helper()
	found, err := process.Addresses(1)
	if err != nil {
		t.Fatal(err)
	}
	return found[0]
}

// awaitListener dials until the API's port answers; before there are tokens, another process may answer there.
func (c *Cluster) awaitListener(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	Poll(ctx, t, "the coordinator to listen", func() bool {
		if c.Coordinator.Ended() {
			t.Fatalf("the coordinator ended:\n%s", c.Coordinator.Output())
		}
		return c.first().Ready() && process.Answers(c.Addr)
	})
}

// Poll asks until the answer is yes; ctx bounds it.
func Poll(ctx context.Context, t testing.TB, what string, yes func() bool) {
	t.Helper()
	if err := process.Until(ctx, what, yes); err != nil {
		t.Fatal(err)
	}
}

// first is the data directory of the coordinator that made the authority and the tokens.
func (c *Cluster) first() cluster.Home { return cluster.Home(c.data()) }

func (c *Cluster) connect(t testing.TB) {
	t.Helper()
	var err error
	if c.client, c.token, err = c.first().Client(0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.client.CloseIdleConnections)
	c.Jobs = gramv1connect.NewJobServiceClient(c.client, "https://"+c.Addr, c.token)
	c.Status = gramv1connect.NewClusterServiceClient(c.client, "https://"+c.Addr, c.token)
}

// Work starts a worker process, with further flags.
func (c *Cluster) Work(t testing.TB, kernels string, slots int, flags ...string) *Process {
	t.Helper()
	name := fmt.Sprintf("w%d", len(c.Workers)+1)
	args := c.first().Worker(name, []string{c.Addr}, "--slots", fmt.Sprint(slots), "--kernels", kernels, "--file-root",
		"/")
	p := Start(t, c.Home, c.Env, append(args, flags...)...)
	c.Workers = append(c.Workers, p)
	return p
}

// StopWorkers drains every worker.
func (c *Cluster) StopWorkers(t testing.TB) {
	t.Helper()
	for _, w := range c.Workers {
		if !w.Ended() {
			if err := w.Stop(t); err != nil {
				t.Errorf("worker: %v\n%s", err, w.Output())
			}
		}
	}
	c.Workers = nil
}

// ClientEnv configures the CLI for this cluster.
func (c *Cluster) ClientEnv() []string {
	return append(c.first().ClientEnv(c.Addr), c.Env...)
}

// Submit submits a spec.
func (c *Cluster) Submit(t testing.TB, id, specJSON string) {
	t.Helper()
	if _, err := c.Jobs.Submit(t.Context(),
		connect.NewRequest(&pb.SubmitRequest{Id: id, SpecJson: specJSON})); err != nil {
		t.Fatalf("submit %s: %v", id, err)
	}
}

// Get reads a job; nil when the coordinator cannot be reached.
func (c *Cluster) Get(t testing.TB, id string) *pb.Job {
	res, err := c.Jobs.Get(t.Context(), connect.NewRequest(&pb.GetRequest{Id: id}))
	if err != nil {
		return nil
	}
	return res.Msg.GetJob()
}

// Wait waits until a job has ended, whatever happens to the coordinator meanwhile.
func (c *Cluster) Wait(t testing.TB, id string, limit time.Duration) *pb.Job {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	var job *pb.Job
	Poll(ctx, t, "job "+id+" to end", func() bool {
		if now := c.Get(t, id); now != nil {
			job = now
		}
		return job.GetFinishedUnixMs() != 0
	})
	return job
}

// HTTP is a client that trusts the cluster.
func (c *Cluster) HTTP() *http.Client { return c.client }
