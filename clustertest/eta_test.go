package clustertest_test

import (
	"context"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore/mem"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// gatedPhase maps a leaf for each token.
type gatedPhase struct {
	jobs.Phase
	tokens chan struct{}
}

func (p gatedPhase) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, carry jobs.Arrays,
	ops *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	select {
	case <-p.tokens:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	return p.Phase.Map(ctx, state, leaf, carry, ops)
}

// A running job has an ETA as soon as a task of its phase has ended, and a bound on its rounds from the start: k-means
// has features, seven draws of kmeans|| at most, three rounds with two refills, and the finish. When it has ended, it
// has none.
func TestARunningJobHasAnETA(t *testing.T) {
	store := mem.New("m")
	if _, err := store.Put(t.Context(), "in/a.csv", []byte(fourGroups())); err != nil {
		t.Fatal(err)
	}
	kind, err := all.Lookup("KMeans")
	if err != nil {
		t.Fatal(err)
	}
	tokens := make(chan struct{})
	kind = withPhases(kind, func(p jobs.Phase) jobs.Phase { return gatedPhase{p, tokens} })
	cluster := clustertest.StartLocal(t, t.TempDir(), "mem://m", 10*time.Second, memStores(store), kind)
	cluster.Work(t, "w1", 1, kernelops.Generic())
	cluster.Work(t, "w2", 1, kernelops.Generic())
	cluster.Submit(t, "k", `{"apiVersion":"v1","kind":"KMeans","metadata":{},"spec":{"input":{"uri":"mem://m/in/",
		"format":"csv","label":5,"shard_bytes":2000},"output":{},"params":{"k":3,"max_rounds":3,"init_rounds":5},
		"repro":{"seed":7},"run":{"audit":0}}}`)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	get := func() *pb.Job {
		res, err := cluster.Jobs.Get(ctx, connect.NewRequest(&pb.GetRequest{Id: "k"}))
		if err != nil {
			t.Fatal(err)
		}
		return res.Msg.GetJob()
	}
	clustertest.Poll(ctx, t, "a leaf to be at work", func() bool {
		job := get()
		return job.GetProgress().GetRound() == 1 && job.GetProgress().GetTasksLeased() > 0
	})
	const most = 1 + 7 + 3 + 2 + 1
	if eta := get().GetEta(); eta == nil || eta.GetTimesKnown() != 0 || !eta.GetBounded() ||
		eta.GetRoundsLeft() != most-1 {
		t.Errorf("before a task has ended: %v", eta)
	}
	clustertest.Poll(ctx, t, "a task to end, but not the round", func() bool {
		progress := get().GetProgress()
		if progress.GetLeavesDone() == 0 { // a task may be of several leaves
			select {
			case tokens <- struct{}{}:
			default:
			}
		}
		return progress.GetLeavesDone() > 0
	})
	clustertest.Poll(ctx, t, "an ETA", func() bool { return get().GetEta().GetTimesKnown() > 0 })
	if eta := get().GetEta(); eta.GetP50Ms() < 1 || eta.GetP90Ms() < eta.GetP50Ms() {
		t.Errorf("with one time known: %v", eta)
	}
	close(tokens)
	if job := cluster.Wait(t, "k"); job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED || len(job.GetRounds()) > most {
		t.Fatalf("ended as %v after %d rounds: %v", job.GetState(), len(job.GetRounds()), job.GetFailure())
	}
	if eta := get().GetEta(); eta != nil {
		t.Errorf("of an ended job: %v", eta)
	}
}
