package clustertest_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/jobs/all/casetest"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// A worker that is paused in mid-task and goes on later: its task is leased again, what it reports
// late changes nothing, and the model is the one of a run without a pause.
func TestPausedWorker(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; make test-all runs it")
	}
	cluster := clustertest.StartCluster(t, "", 2*time.Second)
	input := filepath.Join(cluster.Home, "all.tsv")
	if err := os.WriteFile(input, casetest.Glosses(t, 1), 0o600); err != nil {
		t.Fatal(err)
	}
	spec := naiveBayes(64<<10, `{"alpha":0.1}`)(clustertest.Inputs{Input: "file://" + input})
	cluster.Work(t, "", 1)
	paused := cluster.Work(t, "", 1)
	cluster.Submit(t, "undisturbed", spec)
	want := modelDigest(t, cluster.Wait(t, "undisturbed", time.Minute))

	for try := 1; ; try++ {
		id := fmt.Sprintf("disturbed-%d", try)
		cluster.Submit(t, id, spec)
		if !pauseInMidTask(t, cluster, paused, id) {
			if try == 5 {
				t.Fatal("five times the worker was paused between two tasks only")
			}
			continue
		}
		if got := modelDigest(t, cluster.Wait(t, id, time.Minute)); !bytes.Equal(got, want) {
			t.Errorf("model %x after the pause, %x without", got, want)
		}
		if n := clusterStatus(t, cluster).GetCommittedLeased(); n != 0 {
			t.Errorf("%d committed nodes were leased", n)
		}
		cluster.StopWorkers(t)
		checkLeasedAgain(t, logOf(t, cluster, id), "w2")
		return
	}
}

// pauseInMidTask pauses a worker that holds a task of the job and lets it go on when somebody else has
// the task; false means that the worker had just ended it.
func pauseInMidTask(t *testing.T, cluster *clustertest.Cluster, worker *clustertest.Process, id string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	expired := clusterStatus(t, cluster).GetLeasesExpired()
	clustertest.Poll(ctx, t, "w2 to be at work in the first round", func() bool {
		progress := cluster.Get(t, id).GetProgress()
		return progress.GetRound() == 1 && progress.GetLeavesDone() > 0 &&
			slices.ContainsFunc(clusterStatus(t, cluster).GetWorkers(),
				func(w *pb.WorkerStatus) bool { return w.GetName() == "w2" && w.GetTasks() > 0 })
	})
	worker.Pause(t)
	defer worker.Resume(t)
	again, ended := false, false
	clustertest.Poll(ctx, t, "the task of the paused worker to be leased again", func() bool {
		job := cluster.Get(t, id)
		ended = job.GetFinishedUnixMs() != 0
		again = job.GetCounters().GetSpeculativeCopies().GetLaunched() > 0 ||
			clusterStatus(t, cluster).GetLeasesExpired() > expired
		return again || ended
	})
	return again
}

func clusterStatus(t *testing.T, cluster *clustertest.Cluster) *pb.StatusResponse {
	t.Helper()
	res, err := cluster.Status.Status(t.Context(), connect.NewRequest(&pb.StatusRequest{}))
	if err != nil {
		t.Fatal(err)
	}
	return res.Msg
}

func modelDigest(t *testing.T, job *pb.Job) []byte {
	t.Helper()
	model, err := clustertest.Output(job, "model.safetensors")
	if err != nil {
		t.Fatalf("job ended as %v: %v", job.GetState(), job.GetFailure())
	}
	return model.GetSha256()
}

// checkLeasedAgain fails unless leaves that the worker had were leased to another too, and no node was
// accepted twice.
func checkLeasedAgain(t *testing.T, lines []logLine, worker string) {
	t.Helper()
	accepted := make(map[string]int)
	var own, others []logLine
	for _, l := range lines {
		switch {
		case l.Task != "node":
		case l.Event == "leased" && l.Worker == worker:
			own = append(own, l)
		case l.Event == "leased":
			others = append(others, l)
		case l.Event == "reported" && l.Verdict == "accepted":
			if accepted[nodeName(l, 0)]++; accepted[nodeName(l, 0)] > 1 {
				t.Errorf("node %s was accepted twice", nodeName(l, 0))
			}
		}
	}
	for _, l := range own {
		if slices.ContainsFunc(others, func(o logLine) bool { return below(l, o) || below(o, l) }) {
			return
		}
	}
	t.Errorf("no task of %s was leased to another:\n%v\n%v", worker, own, others)
}

// below reports whether a's node is b's or below it.
func below(a, b logLine) bool {
	return a.NodeLevel <= b.NodeLevel && nodeName(a, b.NodeLevel-a.NodeLevel) == nodeName(b, 0)
}
