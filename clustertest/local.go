// Package clustertest starts whole clusters for tests: in this process, and as
// processes of the built binary.
package clustertest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/deploy/cluster"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
	"github.com/gram-compute/gram/report"
	"github.com/gram-compute/gram/worker"
)

// Local is a coordinator with its raft log on disk, served over TLS on loopback,
// and workers, all in this process.
type Local struct {
	*coordinator.Coordinator
	Jobs    gramv1connect.JobServiceClient
	Cluster gramv1connect.ClusterServiceClient
	client  *http.Client
	stores  func(context.Context, string) (objstore.Store, error)
	kinds   func(string) (jobs.Kind, error)
	tune    func(*worker.Config) // of workers; nil for nothing
}

// StartLocal starts a coordinator. stores opens every store of the test by URI. The cluster knows
// further kinds of the test's own beside Gram's.
func StartLocal(t testing.TB, dataDir, storeURI string, leaseTTL time.Duration,
	stores func(context.Context, string) (objstore.Store, error), further ...jobs.Kind) *Local {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	store, err := stores(ctx, storeURI)
	if err != nil {
		t.Fatal(err)
	}
	timing := schedule.DefaultConfig()
	timing.LeaseTTL = leaseTTL
	kinds := kindsWith(further)
	c, err := coordinator.Start(ctx, coordinator.Config{
		DataDir: dataDir, ListenAddr: "127.0.0.1:0", StoreURI: storeURI, Store: store, Schedule: timing,
		Validate:   func(spec protocol.JobSpec) (protocol.JobSpec, error) { return all.ValidateWith(kinds, spec) },
		MostRounds: all.RoundsFrom, Ended: report.EndedBy(all.Lookup),
	})
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.CAPEM())
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots},
		ForceAttemptHTTP2: true}}
	l := &Local{Coordinator: c, client: client, stores: stores, kinds: kinds}
	l.Jobs = gramv1connect.NewJobServiceClient(client, l.URL(), WithToken(c.AdminToken()))
	l.Cluster = gramv1connect.NewClusterServiceClient(client, l.URL(), WithToken(c.AdminToken()))
	t.Cleanup(func() { l.Stop(t) })
	return l
}

func kindsWith(further []jobs.Kind) func(string) (jobs.Kind, error) {
	return func(name string) (jobs.Kind, error) {
		for _, kind := range further {
			if kind.Name == name {
				return kind, nil
			}
		}
		return all.Lookup(name)
	}
}

// URL is where the API is.
func (l *Local) URL() string { return "https://" + l.Addr() }

// Client is an HTTP client that trusts the cluster.
func (l *Local) Client() *http.Client { return l.client }

// Stop shuts the coordinator down.
func (l *Local) Stop(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 5*time.Second)
	defer cancel()
	if l.Coordinator == nil {
		return
	}
	if err := l.Shutdown(ctx); err != nil {
		t.Errorf("shut down: %v", err)
	}
	l.Coordinator = nil
	l.client.CloseIdleConnections()
}

// WithToken puts a bearer token on every call.
func WithToken(token gate.Token) connect.ClientOption {
	return cluster.Bearer(token.Reveal())
}

// OpenWith changes what the workers started from now on open stores with.
func (l *Local) OpenWith(stores func(context.Context, string) (objstore.Store, error)) {
	l.stores = stores
}

// KindsWith changes which further kinds the workers started from now on know.
func (l *Local) KindsWith(further ...jobs.Kind) { l.kinds = kindsWith(further) }

// TuneWith changes the configuration of the workers started from now on.
func (l *Local) TuneWith(tune func(*worker.Config)) { l.tune = tune }

// Work runs a worker until stop is called; stop waits for it to drain.
func (l *Local) Work(t testing.TB, name string, slots int, ops *kernelops.Set) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	cfg := worker.Config{
		Client: gramv1connect.NewWorkerServiceClient(l.client, l.URL(), WithToken(l.WorkerToken())),
		Name:   name, Slots: slots, Ops: ops, Kind: l.kinds, OpenStore: l.stores, DrainTimeout: 5 * time.Second,
	}
	if l.tune != nil {
		l.tune(&cfg)
	}
	go func() { done <- worker.Run(ctx, cfg) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("worker %s: %v", name, err)
		}
	}
	t.Cleanup(stop)
	return stop
}

// Submit submits a spec and returns the job.
func (l *Local) Submit(t testing.TB, id, specJSON string) *pb.Job {
	t.Helper()
	res, err := l.Jobs.Submit(t.Context(), connect.NewRequest(&pb.SubmitRequest{Id: id, SpecJson: specJSON}))
	if err != nil {
		t.Fatalf("submit %s: %v", id, err)
	}
	return res.Msg.GetJob()
}

// Wait watches a job until it has ended.
func (l *Local) Wait(t testing.TB, id string) *pb.Job {
	t.Helper()
	stream, err := l.Jobs.Watch(t.Context(), connect.NewRequest(&pb.WatchRequest{Id: id}))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var job *pb.Job
	for stream.Receive() {
		job = stream.Msg().GetJob()
	}
	if err := stream.Err(); err != nil {
		t.Fatalf("watch %s: %v", id, err)
	}
	return job
}

// Output returns one of a job's outputs.
func Output(job *pb.Job, name string) (*pb.OutputFile, error) {
	for _, f := range job.GetOutputs() {
		if f.GetName() == name {
			return f, nil
		}
	}
	return nil, errors.New("job " + job.GetId() + " has no output " + name)
}
