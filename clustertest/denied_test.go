package clustertest_test

import (
	"context"
	"flag"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/mem"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

var deniedFor = flag.Duration("denied.for", 0, "how long the cluster's own store refuses, beyond 40 calls")

// refusingStore refuses everything while it is told to, and counts.
type refusingStore struct {
	objstore.Store
	refuses  atomic.Bool
	refused  atomic.Int64
	renewals atomic.Int64
}

func (s *refusingStore) check() error {
	if !s.refuses.Load() {
		return nil
	}
	s.refused.Add(1)
	return objstore.ErrDenied
}

func (s *refusingStore) Refresh() { s.renewals.Add(1) }

func (s *refusingStore) Put(ctx context.Context, key string, data []byte) (objstore.Info, error) {
	if err := s.check(); err != nil {
		return objstore.Info{}, err
	}
	return s.Store.Put(ctx, key, data)
}

func (s *refusingStore) Get(ctx context.Context, key string, opt objstore.GetOptions) (io.ReadCloser, objstore.Info,
	error) {
	if err := s.check(); err != nil {
		return nil, objstore.Info{}, err
	}
	return s.Store.Get(ctx, key, opt)
}

func (s *refusingStore) Stat(ctx context.Context, key string) (objstore.Info, error) {
	if err := s.check(); err != nil {
		return objstore.Info{}, err
	}
	return s.Store.Stat(ctx, key)
}

// For a while the cluster's own store, which holds the input too, refuses everything, as when a key is replaced: the
// job says so, waits, and ends as if nothing had been.
func TestARefusalByTheOwnStoreIsWaitedFor(t *testing.T) {
	store := &refusingStore{Store: mem.New("m")}
	fourShards(t, store)
	cluster := clustertest.StartLocal(t, t.TempDir(), "mem://m", 5*time.Second, memStores(store), pairsKind())
	cluster.Work(t, "w1", 1, kernelops.Generic())
	cluster.Work(t, "w2", 1, kernelops.Generic())
	cluster.Submit(t, "plain", roundsSpec("mem://m", 20))
	plain := cluster.Wait(t, "plain")
	store.refuses.Store(true)
	cluster.Submit(t, "waits", roundsSpec("mem://m", 20))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	clustertest.Poll(ctx, t, "the job to have been refused 40 times, and to say so", func() bool {
		res, err := cluster.Jobs.Get(ctx, connect.NewRequest(&pb.GetRequest{Id: "waits"}))
		if err != nil {
			t.Fatal(err)
		}
		job := res.Msg.GetJob()
		if job.GetFinishedUnixMs() > 0 {
			t.Fatalf("the job ended: %v", job.GetFailure())
		}
		return store.refused.Load() >= 40 && strings.Contains(job.GetReason(), "waits for the cluster's own store") &&
			store.renewals.Load() > 0
	})
	if *deniedFor > 0 {
		<-time.After(*deniedFor)
	}
	store.refuses.Store(false)
	began := time.Now()
	job := cluster.Wait(t, "waits")
	if job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED || modelSHA(t, job) != modelSHA(t, plain) {
		t.Errorf("%v: %v", job.GetState(), job.GetFailure())
	}
	t.Logf("refused %d calls for %v; the job ended %v later", store.refused.Load(), *deniedFor,
		time.Since(began).Round(time.Second))
}

// A refusal by a spec's own store, while the cluster's is well, fails the job after credentials were loaded anew.
func TestARefusalByASpecsStoreFailsTheJob(t *testing.T) {
	own, input := mem.New("m"), &refusingStore{Store: mem.New("in")}
	fourShards(t, input)
	input.refuses.Store(true)
	cluster := clustertest.StartLocal(t, t.TempDir(), "mem://m", 5*time.Second,
		func(_ context.Context, uri string) (objstore.Store, error) {
			if uri == "mem://in" {
				return input, nil
			}
			return own, nil
		}, pairsKind())
	cluster.Work(t, "w1", 1, kernelops.Generic())
	cluster.Submit(t, "fails", roundsSpec("mem://in", 2))
	if f := cluster.Wait(t, "fails").GetFailure(); f.GetCode() != "STORE_DENIED" || input.renewals.Load() == 0 {
		t.Errorf("failed with %v, after %d renewals", f, input.renewals.Load())
	}
}
