package clustertest_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// gram runs a verb to its end and returns what it printed.
func gram(t *testing.T, cluster *clustertest.Cluster, wantCode int, args ...string) (stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stdout, stderr, code := clustertest.Run(ctx, t, cluster.Home, cluster.ClientEnv(), nil, args...)
	if code != wantCode {
		t.Fatalf("gram %v: exit code %d, want %d:\n%s%s", args, code, wantCode, stdout, stderr)
	}
	return stdout, stderr
}

// upkeepSpec writes a spec over the digits, kept for a time when it has ended.
func upkeepSpec(t *testing.T, cluster *clustertest.Cluster, name, keep, output string) string {
	t.Helper()
	digits, err := filepath.Abs("../testdata/digits.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(cluster.Home, name+".yaml")
	text := fmt.Sprintf(`{apiVersion: v1, kind: KMeans, metadata: {name: %s}, spec: {input: {uri: %q, format: csv, label: 65}, output: {uri: %q},
 params: {k: 10, max_rounds: 6, init: random}, repro: {seed: 7}, run: {keep: %s}}, schedule: {cron: "15 2 * * *"}}`,
		name, "file://"+digits, output, keep)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// trigger makes the job of an instant and follows it to its success.
func trigger(t *testing.T, cluster *clustertest.Cluster, id, tick string) (job string) {
	t.Helper()
	var made schedulesAnswer
	grams(t, cluster, &made, "trigger", id, "--tick", tick)
	gram(t, cluster, 0, "wait", made.ID)
	return made.ID
}

// storedBelow lists the files of the cluster's store below a folder, by key.
func storedBelow(t *testing.T, cluster *clustertest.Cluster, folder string) map[string]bool {
	t.Helper()
	store, keys := filepath.Join(cluster.Home, "store"), map[string]bool{}
	err := filepath.WalkDir(filepath.Join(store, folder), func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			key, _ := filepath.Rel(store, path)
			keys[filepath.ToSlash(key)] = true
		}
		return nil // a folder that goes away meanwhile
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// referred lists by a backup what the log refers to in the cluster's store, and checks that it is
// there with its digest: all of it, at any time.
func referred(t *testing.T, cluster *clustertest.Cluster) (keys map[string]bool, s state.State) {
	t.Helper()
	file := filepath.Join(cluster.Home, fmt.Sprintf("backup-%d", time.Now().UnixNano()))
	gram(t, cluster, 0, "cluster", "backup", file)
	data, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	if s, err = state.Decode(data); err != nil {
		t.Fatal(err)
	}
	keys = map[string]bool{}
	store := filepath.Join(cluster.Home, "store")
	check := func(path string, want [32]byte) {
		body, err := os.ReadFile(path)
		if err != nil || sha256.Sum256(body) != want {
			t.Errorf("the log refers to %s, which is not there as it was: %v", path, err)
		}
	}
	s.EachJob(func(job *state.Job) bool {
		job.EachReference(func(o state.ObjectID) {
			key := protocol.ObjectKey(job.ID, o.Round, o.SHA256)
			keys[key] = true
			check(filepath.Join(store, key), o.SHA256)
		})
		for _, output := range job.Outputs {
			path := strings.TrimPrefix(output.URI, "file://")
			check(path, output.Ref.SHA256)
			if key, err := filepath.Rel(store, path); err == nil {
				keys[filepath.ToSlash(key)] = true
			}
		}
		return true
	})
	return keys, s
}

// A job that is retired goes, and what an alias, a schedule or a spec keeps stays, though the leader is killed
// in the middle of a sweep. In the end the store holds what the log refers to, logs, and what others put there.
func TestUpkeepThroughAQuorum(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; make test-all runs it")
	}
	q := clustertest.StartQuorum(t, 3, 5*time.Second, "--sweep-every", "200ms", "--sweep-grace", "1ms")
	q.Work(t, "", 2)
	elsewhere := filepath.Join(q.Home, "elsewhere")
	for name, spec := range map[string][2]string{"news": {"1ms", ""}, "kept": {"forever", ""},
		"away": {"1ms", "file://" + elsewhere}} {
		grams(t, q.Cluster, nil, "create", "-f", upkeepSpec(t, q.Cluster, name, spec[0], spec[1]), "--id", name)
	}
	first := trigger(t, q.Cluster, "news", "2026-10-24T02:15:00Z")
	kept := trigger(t, q.Cluster, "kept", "2026-10-24T02:15:00Z")
	away := trigger(t, q.Cluster, "away", "2026-10-24T02:15:00Z")
	stranger := filepath.Join(q.Home, "store", "jobs", "stranger", "note")
	if err := os.MkdirAll(filepath.Dir(stranger), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(stranger, []byte("not ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	gram(t, q.Cluster, 0, "model", "alias", "prod", "kept@latest", "--expect", "none")
	gram(t, q.Cluster, 5, "model", "rm", "--yes", kept)
	_, says := gram(t, q.Cluster, 5, "model", "alias", "prod", first, "--expect", "other")
	if !strings.Contains(says, "means job "+kept+" now") {
		t.Errorf("an alias that is not what was expected: %s", says)
	}
	stdout, _ := gram(t, q.Cluster, 0, "status", "@prod", "-o", "json")
	if !strings.Contains(stdout, kept) {
		t.Errorf("@prod is %s", stdout)
	}

	for _, verb := range []string{"wait", "logs", "explain", "report"} {
		if stdout, _ := gram(t, q.Cluster, 0, verb, "kept@latest", "-o", "json"); verb != "logs" &&
			!strings.Contains(stdout, kept) {
			t.Errorf("gram %s kept@latest tells of %s", verb, stdout)
		}
	}
	awaitMarked(t, q) // so that no sweep looks into its folder before it is retired
	litter(t, q.Cluster, first)
	second := trigger(t, q.Cluster, "news", "2026-10-25T02:15:00Z")
	killInASweep(t, q, first)
	grams(t, q.Cluster, nil, "rm", "away")
	awaitSwept(t, q, first, away)
	gone, s := referred(t, q.Cluster)
	for _, id := range []string{kept, second} {
		if _, ok := s.Job(id); !ok {
			t.Errorf("job %s is gone", id)
		}
	}
	for key := range storedBelow(t, q.Cluster, "") {
		id := strings.Split(key, "/")[1]
		_, known := s.Job(id)
		// goes with the job
		told := known && (strings.HasPrefix(key, protocol.LogPrefix(id)) || key == protocol.EndKey(id) ||
			strings.HasPrefix(key, protocol.OutputPrefix(id)+proof.Folder))
		if !gone[key] && !told && id != "stranger" && key != objstore.OwnerKey &&
			!strings.HasPrefix(key, ".gram.tmp/") {
			t.Errorf("%s is left, and nobody refers to it", key)
		}
	}
	wantOutputs(t, q.Cluster, "../elsewhere", away)
	dry, _ := gram(t, q.Cluster, 0, "cluster", "sweep", "--dry-run", "-o", "json")
	var view struct {
		Retired        []string
		Objects        int
		UnknownObjects int      `json:"unknown_objects"`
		UnknownJobs    []string `json:"unknown_jobs"`
		Held           []struct{ Job, By string }
	}
	if err := json.Unmarshal([]byte(dry), &view); err != nil || len(view.Retired) != 0 || view.Objects != 0 ||
		view.UnknownObjects != 1 ||
		view.UnknownJobs[0] != "stranger" || len(view.Held) != 1 || view.Held[0].By != "schedule news, as its @latest" {
		t.Errorf("%v: %s", err, dry)
	}
	gram(t, q.Cluster, 3, "status", first)
	q.StopWorkers(t)
}

// wantOutputs checks that all that a job leaves is there in a place of its own.
func wantOutputs(t *testing.T, cluster *clustertest.Cluster, folder, id string) {
	t.Helper()
	there := storedBelow(t, cluster, folder)
	for _, name := range []string{"model.safetensors", "provenance.json", "report.json", "report.html", "bom.cdx.json",
		proof.ManifestFile, proof.SpecFile, proof.InputFile, proof.PlanFile, proof.RoundFile(1)} {
		if !there[folder+"/"+id+"/"+name] {
			t.Errorf("of job %s %v is left, without %s", id, there, name)
		}
	}
}

// littered is what a sweep needs a while for.
const littered = 2500

// litter puts what late workers might into the folder of a job.
func litter(t *testing.T, cluster *clustertest.Cluster, id string) {
	t.Helper()
	for i := range littered {
		sum := sha256.Sum256(fmt.Append(nil, i))
		path := filepath.Join(cluster.Home, "store", protocol.ObjectKey(id, uint32(i%7), sum))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// killInASweep kills the leader when it has swept some of a job, and not all.
func killInASweep(t *testing.T, q *clustertest.Quorum, id string) {
	t.Helper()
	leader := q.Leader(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	left := 0
	clustertest.Poll(ctx, t, "the sweep of "+id, func() bool {
		left = len(storedBelow(t, q.Cluster, protocol.JobPrefix(id)))
		return left < littered
	})
	leader.Kill()
	if left = len(storedBelow(t, q.Cluster, protocol.JobPrefix(id))); left == 0 {
		t.Fatal("the sweep was over before the leader was killed")
	}
	t.Logf("leader %s killed with %d objects left", leader.ID, left)
}

// awaitSwept waits until nothing is left of jobs.
func awaitSwept(t *testing.T, q *clustertest.Quorum, ids ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	clustertest.Poll(ctx, t, "jobs to be swept", func() bool {
		for _, id := range ids {
			if len(storedBelow(t, q.Cluster, protocol.JobPrefix(id)))+len(storedBelow(t, q.Cluster,
				protocol.OutputPrefix(id))) > 0 {
				return false
			}
		}
		return true
	})
	awaitMarked(t, q)
}

// awaitMarked waits until every job is marked as swept. What is referred to is there all the while.
func awaitMarked(t *testing.T, q *clustertest.Quorum) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	clustertest.Poll(ctx, t, "jobs to be marked as swept", func() bool {
		_, s := referred(t, q.Cluster)
		swept := true
		s.EachJob(func(job *state.Job) bool {
			swept = swept && job.Swept
			return true
		})
		return swept
	})
}
