package clustertest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
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
		Home: t.TempDir(), Addr: freeAddress(t), raft: freeAddress(t), Env: env, Flags: flags, store: storeURI, leaseTTL: leaseTTL,
	}
	if c.store == "" {
		c.store = "file://" + filepath.Join(c.Home, "store")
	}
	c.StartCoordinator(t)
	c.connect(t)
	return c
}

// freeAddress is a loopback address nobody listened on a moment ago.
func freeAddress(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// StartCoordinator starts, or starts again, the coordinator on its data directory.
func (c *Cluster) StartCoordinator(t testing.TB) {
	t.Helper()
	c.Coordinator = Start(t, c.Home, c.Env, append([]string{"coordinator", "--data", c.data(), "--listen", c.Addr, "--raft", c.raft,
		"--store", c.store, "--lease-ttl", c.leaseTTL.String()}, c.Flags...)...)
	c.awaitListener(t)
}

func (c *Cluster) data() string { return filepath.Join(c.Home, "data") }

// awaitListener dials until the API's port answers.
func (c *Cluster) awaitListener(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	Poll(ctx, t, "the coordinator to listen", func() bool {
		if c.Coordinator.Ended() {
			t.Fatalf("the coordinator ended:\n%s", c.Coordinator.Output())
		}
		if _, err := os.Stat(filepath.Join(c.data(), "admin.token")); err != nil {
			return false // whoever answers, it is not this one yet
		}
		conn, err := net.DialTimeout("tcp", c.Addr, time.Second)
		if err != nil {
			return false
		}
		conn.Close()
		return true
	})
}

// Poll asks until the answer is yes; ctx bounds it. It is for conditions of other
// processes, which no channel of ours can tell.
func Poll(ctx context.Context, t testing.TB, what string, yes func() bool) {
	t.Helper()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for !yes() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func (c *Cluster) connect(t testing.TB) {
	t.Helper()
	ca, err := os.ReadFile(filepath.Join(c.data(), "pki", "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(c.data(), "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	token, err := gate.ParseToken(string(text))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	c.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}
	t.Cleanup(c.client.CloseIdleConnections)
	c.Jobs = gramv1connect.NewJobServiceClient(c.client, "https://"+c.Addr, WithToken(token))
	c.Status = gramv1connect.NewClusterServiceClient(c.client, "https://"+c.Addr, WithToken(token))
}

// Work starts a worker process, with further flags.
func (c *Cluster) Work(t testing.TB, kernels string, slots int, flags ...string) *Process {
	t.Helper()
	name := fmt.Sprintf("w%d", len(c.Workers)+1)
	args := []string{"worker", "--addr", c.Addr, "--cacert", filepath.Join(c.data(), "pki", "ca.pem"),
		"--token-file", filepath.Join(c.data(), "worker.token"), "--name", name, "--slots", fmt.Sprint(slots),
		"--kernels", kernels, "--file-root", "/"}
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
	return append([]string{
		"GRAM_ADDR=" + c.Addr, "GRAM_CACERT=" + filepath.Join(c.data(), "pki", "ca.pem"),
		"GRAM_TOKEN_FILE=" + filepath.Join(c.data(), "admin.token"),
	}, c.Env...)
}

// Submit submits a spec.
func (c *Cluster) Submit(t testing.TB, id, specJSON string) {
	t.Helper()
	if _, err := c.Jobs.Submit(t.Context(), connect.NewRequest(&pb.SubmitRequest{Id: id, SpecJson: specJSON})); err != nil {
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
