package clustertest_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// stuckPhase counts records; who maps leaf 3 first gets stuck in it until told to stop.
type stuckPhase struct {
	readPhase
	once    *sync.Once
	stopped chan struct{}
}

func (p stuckPhase) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, carry jobs.Arrays,
	ops *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	stuck := false
	if leaf.Index == 3 {
		p.once.Do(func() { stuck = true })
	}
	if stuck {
		<-ctx.Done()
		close(p.stopped)
		return nil, nil, ctx.Err()
	}
	return p.readPhase.Map(ctx, state, leaf, carry, ops)
}

type stuckJob struct{ phase stuckPhase }

func (s stuckJob) Phases() []jobs.Phase { return []jobs.Phase{s.phase} }

// A worker that is stuck in a leaf keeps its lease by its heartbeats; another takes the leaf up, its
// commit ends the round, and the first is told to stop.
func TestSpeculativeCopyEndsTheRound(t *testing.T) {
	store := mem.New("m")
	tinyCorpus(t, store)
	phase := stuckPhase{readPhase{sumPhase{"read"}, 1}, new(sync.Once), make(chan struct{})}
	kind := pairsKind()
	kind.Name, kind.UsesQueries, kind.UsesModel = "Stuck", false, false
	kind.New = func(protocol.JobSpec) (jobs.Algorithm, error) { return stuckJob{phase}, nil }
	cluster := clustertest.StartLocal(t, t.TempDir(), "mem://jobs", 6*time.Second, memStores(store), kind)
	cluster.Work(t, "w1", 1, kernelops.Generic())
	cluster.Work(t, "w2", 1, kernelops.Generic())
	cluster.Submit(t, "stuck", strings.Replace(strings.Replace(tinySpec(""), "NaiveBayes", "Stuck", 1), `"alpha":0.5`,
		"", 1))
	job := cluster.Wait(t, "stuck")
	if copies := job.GetCounters().GetSpeculativeCopies(); job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED ||
		copies.GetWon() == 0 {
		t.Errorf("ended as %v: %v; speculative copies %v", job.GetState(), job.GetFailure(), copies)
	}
	select {
	case <-phase.stopped:
	case <-time.After(20 * time.Second):
		t.Error("the first worker goes on")
	}
}
