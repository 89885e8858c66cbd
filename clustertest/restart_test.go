package clustertest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/jobs/all/casetest"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// A coordinator killed in mid-job and started again finishes the job; no node that
// was committed is leased again; `gram wait` lives through it and says so.
func TestCoordinatorKilledInMidJob(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; make test-all runs it")
	}
	const id = "survivor"
	cluster := clustertest.StartCluster(t, "", 2*time.Second)
	input := filepath.Join(cluster.Home, "all.tsv")
	if err := os.WriteFile(input, casetest.Glosses(t, 1), 0o600); err != nil {
		t.Fatal(err)
	}
	cluster.Work(t, "", 1)
	cluster.Work(t, "", 1)
	spec := naiveBayes(64<<10, `{"alpha":0.1}`)(clustertest.Inputs{Input: "file://" + input})
	spec = strings.Replace(spec, `"run":{}`, `"run":{"audit":0}`, 1) // an audit is a lease of what is committed
	cluster.Submit(t, id, spec)
	wait := clustertest.Start(t, cluster.Home, cluster.ClientEnv(), "wait", id, "--timeout", "2m")

	before := awaitMidRound(t, cluster, id)
	cluster.Coordinator.Kill()
	cluster.StartCoordinator(t)
	job := cluster.Wait(t, id, 2*time.Minute)
	if job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
		t.Fatalf("job ended as %v: %v", job.GetState(), job.GetFailure())
	}
	select {
	case <-wait.Done():
	case <-time.After(30 * time.Second):
		t.Fatalf("gram wait did not end; it said:\n%s", wait.Output())
	}
	if code := wait.ExitCode(); code != 0 || !strings.Contains(wait.Output(), "reconnect") {
		t.Errorf("gram wait: exit code %d, output:\n%s", code, wait.Output())
	}
	status, err := cluster.Status.Status(t.Context(), connect.NewRequest(&pb.StatusRequest{}))
	if err != nil {
		t.Fatal(err)
	}
	if n := status.Msg.GetCommittedLeased(); n != 0 {
		t.Errorf("the coordinator counts %d leases of committed nodes", n)
	}
	cluster.StopWorkers(t)
	leases, commits := checkLeases(t, cluster, id)
	t.Logf("killed at %d of %d leaves; %d leases, %d commits in all", before.GetLeavesDone(), before.GetLeaves(),
		leases, commits)
}

// awaitMidRound waits until part of a round is committed.
func awaitMidRound(t *testing.T, cluster *clustertest.Cluster, id string) *pb.Progress {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var progress *pb.Progress
	clustertest.Poll(ctx, t, "the first round to be under way", func() bool {
		progress = cluster.Get(t, id).GetProgress()
		return progress.GetRound() == 1 && progress.GetLeavesDone() > 0 &&
			progress.GetLeavesDone() < progress.GetLeaves()
	})
	return progress
}

type logLine struct {
	Time, Event, Task, Verdict, Worker string
	Round, Tree                        uint32
	NodeLevel                          uint32 `json:"node_level"`
	NodeIndex                          uint32 `json:"node_index"`
}

// logOf reads a job's log, which the workers wrote.
func logOf(t *testing.T, cluster *clustertest.Cluster, id string) (lines []logLine) {
	t.Helper()
	stdout, stderr, code := clustertest.Run(t.Context(), t, cluster.Home, cluster.ClientEnv(), nil, "logs", id, "-o",
		"json")
	if code != 0 {
		t.Fatalf("gram logs: exit code %d\n%s", code, stderr)
	}
	for scanner := bufio.NewScanner(strings.NewReader(stdout)); scanner.Scan(); {
		var line logLine
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			t.Fatalf("log line %q: %v", scanner.Text(), err)
		}
		lines = append(lines, line)
	}
	return lines
}

// checkLeases reads the job's log, which the workers wrote, and fails on a task that
// was leased after it, or a node above it, was reported as accepted.
func checkLeases(t *testing.T, cluster *clustertest.Cluster, id string) (leases, commits int) {
	t.Helper()
	lines := logOf(t, cluster, id)
	accepted := make(map[string]string) // node -> when
	for _, l := range lines {
		if l.Event == "reported" && l.Verdict == "accepted" && l.Task == "node" {
			accepted[nodeName(l, 0)] = l.Time
			commits++
		}
	}
	for _, l := range lines {
		if l.Event != "leased" || l.Task != "node" {
			continue
		}
		leases++
		for up := range uint32(32) {
			if when, ok := accepted[nodeName(l, up)]; ok && when < l.Time {
				t.Errorf("%s leased node %s at %s; it was committed at %s", l.Worker, nodeName(l, 0), l.Time, when)
			}
		}
	}
	if commits == 0 || leases < commits {
		t.Errorf("the log tells of %d leases and %d commits", leases, commits)
	}
	return leases, commits
}

// nodeName names the ancestor of a line's node that is up levels above it.
func nodeName(l logLine, up uint32) string {
	return fmt.Sprintf("%d/%d/%d/%d", l.Round, l.Tree, l.NodeLevel+up, l.NodeIndex>>up)
}
