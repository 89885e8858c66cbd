package clustertest_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// Three coordinators: a follower takes jobs in and tells of them; the leader is killed in
// mid-job, and the job ends on the others with the digest of a calm run; every member is
// restarted in turn while clients call; one that lost its disk does not come back under its id.
func TestThreeCoordinators(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; make test-all runs it")
	}
	q := clustertest.StartQuorum(t, 3, 2*time.Second)
	input := filepath.Join(q.Home, "all.tsv")
	if err := os.WriteFile(input, casetest.Glosses(t, 3), 0o600); err != nil {
		t.Fatal(err)
	}
	spec := naiveBayes(32<<10, `{"alpha":0.1}`)(clustertest.Inputs{Input: "file://" + input})
	q.Work(t, "", 1)
	q.Work(t, "", 1)

	follower := q.Follower(t)
	q.Jobs = follower.Jobs
	q.Submit(t, "calm", spec)
	calm := digestOf(t, q.Wait(t, "calm", 2*time.Minute))

	q.Submit(t, "survivor", spec)
	wait := clustertest.Start(t, q.Home, q.ClientEnv(), "wait", "survivor", "--timeout", "2m")
	awaitMidRound(t, q.Cluster, "survivor")
	killed := q.Leader(t)
	killed.Kill()
	began := time.Now()
	q.Write(t, "after", spec)
	t.Logf("the first write was accepted %v after the leader was killed", time.Since(began).Round(10*time.Millisecond))
	q.Start(t, killed)
	if got := digestOf(t, q.Wait(t, "survivor", 2*time.Minute)); got != calm {
		t.Errorf("the model's digest is %s with the leader killed, %s without", got, calm)
	}
	<-wait.Done()
	if code := wait.ExitCode(); code != 0 {
		t.Errorf("gram wait: exit code %d\n%s", code, wait.Output())
	}
	q.AwaitListening(t, killed)
	q.AwaitVotes(t, 3)
	rollingRestart(t, q)
	if got := digestOf(t, q.Wait(t, "after", 2*time.Minute)); got != calm {
		t.Errorf("the model's digest is %s over a rolling restart, %s without", got, calm)
	}
	q.StopWorkers(t)
	wipedDisk(t, q)
	restoreElsewhere(t, q) // which takes the store over
}

// restoreElsewhere begins another cluster with a backup of this one: it has new tokens, the old ones do not
// hold, and its schedules are held until they are released.
func restoreElsewhere(t *testing.T, q *clustertest.Quorum) {
	t.Helper()
	file := filepath.Join(q.Home, "backup")
	run := func(want int, env []string, args ...string) string {
		t.Helper()
		stdout, stderr, code := clustertest.Run(t.Context(), t, q.Home, env, nil, args...)
		if code != want {
			t.Fatalf("gram %v: exit code %d, want %d\n%s", args, code, want, stderr)
		}
		return stdout
	}
	run(0, q.ClientEnv(), "schedule", "create", "-f",
		scheduleFile(t, q.Cluster, "yearly", "file://"+q.Home+"/all.tsv", "15 2 1 1 *"))
	text := run(0, q.ClientEnv(), "cluster", "backup", file)
	data, err := os.ReadFile(file)
	if sum := sha256.Sum256(data); err != nil || strings.TrimSpace(text) != hex.EncodeToString(sum[:]) {
		t.Errorf("backup of SHA-256 %x, told %s, %v", sum, text, err)
	}
	run(5, q.ClientEnv(), "cluster", "backup", file)
	other := q.Alone(t, "--restore", file)
	env := []string{"GRAM_ADDR=" + other.Addr, "GRAM_CACERT=" + filepath.Join(other.Data, "pki", "ca.pem"),
		"GRAM_TOKEN_FILE=" + filepath.Join(other.Data, "admin.token")}
	if job := run(0, env, "status", "survivor", "-o", "json"); !strings.Contains(strings.ToLower(job),
		`"state": "succeeded"`) {
		t.Errorf("the job in the restored cluster: %s", job)
	}
	run(4, append(env, "GRAM_TOKEN_FILE="+filepath.Join(q.Home, "data", "admin.token")), "status")
	if !strings.Contains(other.Output(), "0 missing") || !strings.Contains(other.Output(), "1, held") {
		t.Errorf("the restored coordinator says:\n%s", other.Output())
	}
	for _, state := range []string{"held", "active"} {
		if list := run(0, env, "schedule", "list"); !strings.Contains(list, state) {
			t.Errorf("the schedule is not %s:\n%s", state, list)
		}
		run(0, env, "schedule", "release")
	}
	if status := run(0, env, "status"); strings.Contains(status, "held") {
		t.Errorf("after the release:\n%s", status)
	}
	if err := other.Stop(t); err != nil {
		t.Error(err)
	}
}

func digestOf(t *testing.T, job *pb.Job) string {
	t.Helper()
	if job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
		t.Fatalf("job %s ended as %v: %v", job.GetId(), job.GetState(), job.GetFailure())
	}
	model, err := clustertest.Output(job, "model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(model.GetSha256())
}

// rollingRestart restarts the followers, then the leader. Stopped, the leader hands over: a
// client that knows all addresses sees no error.
func rollingRestart(t *testing.T, q *clustertest.Quorum) {
	t.Helper()
	leader := q.Leader(t)
	order := []*clustertest.Member{}
	for _, m := range q.Members {
		if m != leader {
			order = append(order, m)
		}
	}
	for _, m := range append(order, leader) {
		if err := m.Stop(t); err != nil {
			t.Errorf("%s: %v\n%s", m.ID, err, m.Output())
		}
		began := time.Now()
		stdout, stderr, code := clustertest.Run(t.Context(), t, q.Home, q.ClientEnv(), nil, "list", "-o", "json")
		if code != 0 || !strings.Contains(stdout, `"survivor"`) {
			t.Errorf("gram list with %s stopped: exit code %d\n%s%s", m.ID, code, stdout, stderr)
		}
		t.Logf("%s stopped: gram list took %v", m.ID, time.Since(began).Round(10*time.Millisecond))
		q.Start(t, m)
		q.AwaitListening(t, m)
		q.AwaitVotes(t, 3)
	}
}

// wipedDisk empties the data directory of a follower but for its certificate, and starts it with
// the flags it always had.
func wipedDisk(t *testing.T, q *clustertest.Quorum) {
	t.Helper()
	wiped := q.Follower(t)
	if wiped == q.Members[0] { // it made the authority and the tokens, and does not join
		wiped = q.Members[1]
	}
	if wiped == q.Leader(t) {
		wiped = q.Members[2]
	}
	if err := wiped.Stop(t); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(wiped.Data); err != nil {
		t.Fatal(err)
	}
	q.Issue(t, wiped)
	q.Start(t, wiped)
	if code := wiped.ExitCode(); code == 0 || !strings.Contains(wiped.Output(), "comes back under another id") {
		t.Errorf("%s on an empty disk: exit code %d\n%s", wiped.ID, code, wiped.Output())
	}
	_, stderr, code := clustertest.Run(t.Context(), t, q.Home, q.ClientEnv(), nil, "cluster", "remove", wiped.ID)
	if code != 0 {
		t.Fatalf("remove %s: exit code %d\n%s", wiped.ID, code, stderr)
	}
	wiped.ID = "c4"
	if err := os.RemoveAll(filepath.Join(wiped.Data, "node-id")); err != nil {
		t.Fatal(err)
	}
	joinThrough(t, q, wiped)
}

// joinThrough starts a member that joins, and waits for its vote.
func joinThrough(t *testing.T, q *clustertest.Quorum, m *clustertest.Member) {
	t.Helper()
	q.Start(t, m)
	q.AwaitListening(t, m)
	q.AwaitVotes(t, 3)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if res, err := m.Jobs.Get(ctx, connect.NewRequest(&pb.GetRequest{Id: "survivor"})); err != nil ||
		res.Msg.GetJob().GetId() != "survivor" {
		t.Errorf("%s after it joined: %v", m.ID, err)
	}
}
