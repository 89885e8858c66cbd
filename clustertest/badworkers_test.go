package clustertest_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// failingPhase is of a worker that fails at every leaf, merge and step it is leased.
type failingPhase struct{ jobs.Phase }

var errBroken = errors.New("this worker fails")

func (failingPhase) Map(
	context.Context, jobs.Arrays, jobs.Leaf, jobs.Arrays, *kernelops.Set,
) (jobs.Arrays, jobs.Arrays, error) {
	return nil, nil, errBroken
}

func (failingPhase) Merge(jobs.Arrays, jobs.Arrays) (jobs.Arrays, error) { return nil, errBroken }

func (failingPhase) Step(context.Context, jobs.Arrays, jobs.Round) (jobs.Next, error) {
	return jobs.Next{}, errBroken
}

// twoBadWorkers starts a worker that is always wrong and one that fails whatever would show it.
func twoBadWorkers(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, 8)
	b.liar(t, "liar", always)
	b.KindsWith(withPhases(pairsKind(), func(p jobs.Phase) jobs.Phase { return failingPhase{p} }))
	b.Work(t, "failing", 1, kernelops.Generic())
	b.KindsWith(pairsKind())
	return b
}

// An honest worker disagrees with the wrong one, and the failing one cannot end that: the job waits, visibly, until a
// worker comes that decides.
func TestTwoBadWorkersBesideAnHonestOne(t *testing.T) {
	t.Parallel()
	b := twoBadWorkers(t)
	b.Work(t, "honest", 1, kernelops.Generic())
	b.Submit(t, "a", auditSpec(5, "1"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	clustertest.Poll(ctx, t, "the job to say that it waits", func() bool {
		res, err := b.Jobs.Get(ctx, connect.NewRequest(&pb.GetRequest{Id: "a"}))
		return err == nil && strings.Contains(res.Msg.GetJob().GetReason(), "waits for a third worker")
	})
	b.Work(t, "third", 1, kernelops.Generic())
	job := b.Wait(t, "a")
	model, err := clustertest.Output(job, "model.safetensors")
	if err != nil || string(model.GetSha256()) != string(b.truth) {
		t.Errorf("%v, %v", job.GetState(), err)
	}
	if liars := job.GetAudit().GetConvicted(); len(liars) != 1 || liars[0].GetName() != "liar" {
		t.Errorf("convicted: %v", liars)
	}
}

// Without another worker a job ends with these two. Its report warns of every task that nobody verified.
func TestTwoBadWorkersAreNotSilent(t *testing.T) {
	t.Parallel()
	b := twoBadWorkers(t)
	b.Submit(t, "a", auditSpec(5, "1"))
	job := b.Wait(t, "a")
	a := job.GetAudit()
	unverified := a.GetFailed() > 0 && len(a.GetWaivedTasks()) > 0 && len(a.GetConvicted()) == 0
	if job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED || !unverified {
		t.Fatalf("%v, %v: %v", job.GetState(), job.GetFailure(), a)
	}
	var report struct {
		Warnings []string `json:"warnings"`
		Audit    struct {
			Failed uint64 `json:"failed"`
		} `json:"audit"`
	}
	said := read(t, b.store, outputKey(t, job, "report.json"))
	if err := json.Unmarshal(said, &report); err != nil || report.Audit.Failed != a.GetFailed() ||
		!strings.Contains(strings.Join(report.Warnings, "\n"), "so that nobody verified them ("+a.GetWaivedTasks()[0]) {
		t.Errorf("%v; %+v", err, report)
	}
	page := string(read(t, b.store, outputKey(t, job, "report.html")))
	if !strings.Contains(page, "so that nobody verified them") {
		t.Error("the page does not say so")
	}
}

// outputKey is the name of a job's output in the store.
func outputKey(t *testing.T, job *pb.Job, name string) string {
	t.Helper()
	file, err := clustertest.Output(job, name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(file.GetUri(), "mem://m/")
}
