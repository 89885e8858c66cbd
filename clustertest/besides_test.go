package clustertest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// stallPhase works until it is told to stop.
type stallPhase struct {
	readPhase
	begun, stopped chan struct{}
}

func (p stallPhase) Map(ctx context.Context, _ jobs.Arrays, _ jobs.Leaf, _ jobs.Arrays, _ *kernelops.Set) (jobs.Arrays,
	jobs.Arrays, error) {
	close(p.begun)
	<-ctx.Done()
	close(p.stopped)
	return nil, nil, ctx.Err()
}

type stallJob struct{ phase stallPhase }

func (s stallJob) Phases() []jobs.Phase { return []jobs.Phase{s.phase} }

// Cancelling a job stops its running task at the worker's next heartbeat, and a job that needs it fails and says why.
func TestCancelStopsTasks(t *testing.T) {
	store := mem.New("m")
	tinyCorpus(t, store)
	phase := stallPhase{readPhase{sumPhase{"read"}, 1}, make(chan struct{}), make(chan struct{})}
	kind := pairsKind()
	kind.Name, kind.UsesQueries, kind.UsesModel = "Stall", false, false
	kind.New = func(protocol.JobSpec) (jobs.Algorithm, error) { return stallJob{phase}, nil }
	cluster := clustertest.StartLocal(t, t.TempDir(), "mem://jobs", 3*time.Second, memStores(store), kind)
	cluster.Work(t, "w1", 1, kernelops.Generic())
	spec := strings.Replace(strings.Replace(tinySpec(""), "NaiveBayes", "Stall", 1), `"alpha":0.5`, "", 1)
	spec = strings.Replace(spec, `"shard_bytes":1000`, `"shard_bytes":1000000`, 1)
	cluster.Submit(t, "endless", spec)
	cluster.Submit(t, "after", strings.Replace(tinySpec(""), `"run":{}`, `"run":{"needs":["endless"]}`, 1))
	<-phase.begun
	if got := reasonOf(t, cluster, "after"); got != "waits for job endless to succeed, which is running" {
		t.Errorf("the reason is %q", got)
	}
	if _, err := cluster.Jobs.Cancel(t.Context(), connect.NewRequest(&pb.CancelRequest{Id: "endless"})); err != nil {
		t.Fatal(err)
	}
	select {
	case <-phase.stopped:
	case <-time.After(20 * time.Second):
		t.Fatal("the task goes on")
	}
	if failure := cluster.Wait(t, "after").GetFailure(); failure.GetCode() != "NEED_FAILED" ||
		!strings.Contains(failure.GetMessage(), "endless") {
		t.Errorf("failed with %v", failure)
	}
	cluster.Submit(t, "free", tinySpec(""))
	if job := cluster.Wait(t, "free"); job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
		t.Errorf("the slot is not free again: %v", job.GetFailure())
	}
}

func reasonOf(t *testing.T, cluster *clustertest.Local, id string) string {
	t.Helper()
	res, err := cluster.Jobs.Get(t.Context(), connect.NewRequest(&pb.GetRequest{Id: id}))
	if err != nil {
		t.Fatal(err)
	}
	return res.Msg.GetJob().GetReason()
}

// A job runs after the one that it needs.
func TestNeedsThroughACluster(t *testing.T) {
	store := mem.New("m")
	tinyCorpus(t, store)
	cluster := clustertest.StartLocal(t, t.TempDir(), "mem://jobs", 3*time.Second, memStores(store))
	cluster.Submit(t, "first", tinySpec(""))
	cluster.Submit(t, "second", strings.Replace(tinySpec(""), `"run":{}`,
		`"run":{"needs":["first"],"priority":9,"max_workers":1}`, 1))
	cluster.Work(t, "w1", 2, kernelops.Generic())
	second := cluster.Wait(t, "second")
	first := cluster.Wait(t, "first")
	if second.GetState() != pb.JobState_JOB_STATE_SUCCEEDED || second.GetStartedUnixMs() < first.GetFinishedUnixMs() {
		t.Errorf("second %v began at %d; first %v ended at %d", second.GetState(), second.GetStartedUnixMs(),
			first.GetState(), first.GetFinishedUnixMs())
	}
	a, err := clustertest.Output(first, "model.safetensors")
	b, err2 := clustertest.Output(second, "model.safetensors")
	if err != nil || err2 != nil || string(a.GetSha256()) != string(b.GetSha256()) ||
		first.GetResultHash() != second.GetResultHash() {
		t.Errorf("how a job runs changed its result: %v %v", err, err2)
	}
}
