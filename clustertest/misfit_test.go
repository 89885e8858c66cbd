package clustertest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/mem"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// A worker that lacks the right to the input costs attempts, not jobs, while
// another has it; alone, it fails the job with advice about workers.
func TestWorkerWithoutRights(t *testing.T) {
	store := mem.New("m")
	tinyCorpus(t, store)
	blind := func(_ context.Context, uri string) (objstore.Store, error) {
		if uri == "mem://m" {
			return nil, fmt.Errorf("%w: not below a root", objstore.ErrInvalidURI)
		}
		return store, nil
	}
	cluster := clustertest.StartLocal(t, t.TempDir(), "mem://jobs", 2*time.Second, blind)
	cluster.Work(t, "misfit", 1, kernelops.Generic())
	cluster.Submit(t, "alone", tinySpec(""))
	failure := cluster.Wait(t, "alone").GetFailure()
	if failure.GetCode() != "STORE_DENIED" || !strings.Contains(failure.GetMessage(), "every worker") {
		t.Errorf("with the misfit alone: %v", failure)
	}
	cluster.OpenWith(memStores(store))
	cluster.Work(t, "good", 1, kernelops.Generic())
	for i := range 4 {
		id := fmt.Sprintf("both-%d", i)
		cluster.Submit(t, id, tinySpec(""))
		if job := cluster.Wait(t, id); job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
			t.Errorf("%s ended as %v: %v", id, job.GetState(), job.GetFailure())
		}
	}
}

// A job that waits for a store says so.
func TestReasonNamesTheFailure(t *testing.T) {
	store := mem.New("m")
	cluster := clustertest.StartLocal(t, t.TempDir(), "mem://jobs", 2*time.Second,
		func(_ context.Context, uri string) (objstore.Store, error) {
			if uri == "mem://m" {
				return nil, &objstore.Error{Op: "open", Store: uri, Err: objstore.ErrUnavailable}
			}
			return store, nil
		})
	cluster.Work(t, "w1", 1, kernelops.Generic())
	cluster.Submit(t, "waits", tinySpec(""))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	clustertest.Poll(ctx, t, "the reason to name the store", func() bool {
		res, err := cluster.Jobs.Get(ctx, connect.NewRequest(&pb.GetRequest{Id: "waits"}))
		return err == nil && strings.Contains(res.Msg.GetJob().GetReason(), "store unavailable")
	})
}
