package clustertest_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// grams runs a verb of `gram schedule` and returns what it printed as JSON.
func grams(t *testing.T, cluster *clustertest.Cluster, into any, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	stdout, stderr, code := clustertest.Run(ctx, t, cluster.Home, cluster.ClientEnv(), nil,
		append([]string{"schedule", "-o", "json"}, args...)...)
	if code != 0 {
		t.Fatalf("gram schedule %v: exit code %d:\n%s", args, code, stderr)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal([]byte(stdout), into); err != nil {
		t.Fatalf("gram schedule %v: %v:\n%s", args, err, stdout)
	}
}

// day writes the records of one day of a corpus.
func day(t *testing.T, folder, name string, seed int) {
	t.Helper()
	dir := filepath.Join(folder, "day="+name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "%s\t%s and word%d of %d\n", []string{"ham", "spam"}[i%2],
			[]string{"meeting agenda", "cheap pills"}[i%2], i%17, seed*1000+i%5)
	}
	if err := os.WriteFile(filepath.Join(dir, "records.tsv"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func scheduleFile(t *testing.T, cluster *clustertest.Cluster, name, uri, cron string) string {
	t.Helper()
	file := filepath.Join(cluster.Home, name+".yaml")
	text := fmt.Sprintf(`{apiVersion: v1, kind: NaiveBayes, metadata: {name: %s},
 spec: {input: {uri: %q, format: tsv, label: 1, text: 2, split: {test: 0.2}}, params: {alpha: 0.5}, repro: {seed: 7}},
 schedule: {cron: %q, time_zone: Europe/Berlin, overlap: allow, catch_up: all}}`, name, uri, cron)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func modelOf(t *testing.T, cluster *clustertest.Cluster, id string) string {
	t.Helper()
	job := cluster.Wait(t, id, time.Minute)
	if job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
		t.Fatalf("job %s ended as %v: %v", id, job.GetState(), job.GetFailure())
	}
	model, err := clustertest.Output(job, "model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(model.GetSha256())
}

type schedulesAnswer struct {
	Ticks []struct{ Job, Result string }
	ID    string
}

// Scheduled training of a corpus that grows: each day's job reads its day, a job over all days sees
// those that are there, and both make the model that a job by hand makes of the same objects.
func TestScheduledTrainingOfAGrowingCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; make test-all runs it")
	}
	cluster := clustertest.StartCluster(t, "", 5*time.Second)
	cluster.Work(t, "", 1)
	corpus := filepath.Join(cluster.Home, "corpus")
	daily := scheduleFile(t, cluster, "daily", "file://"+corpus+"/day={{previous_tick:%Y-%m-%d}}/", "15 2 * * *")
	whole := scheduleFile(t, cluster, "whole", "file://"+corpus+"/", "15 2 * * *")
	grams(t, cluster, nil, "create", "-f", daily)
	grams(t, cluster, nil, "create", "-f", whole)

	day(t, corpus, "2026-10-24", 1)
	var first, second schedulesAnswer
	grams(t, cluster, &first, "trigger", "whole", "--tick", "2026-10-25T00:15:00Z")
	one := modelOf(t, cluster, first.ID)
	day(t, corpus, "2026-10-25", 2)
	grams(t, cluster, &second, "trigger", "whole", "--tick", "2026-10-26T01:15:00Z")
	both := modelOf(t, cluster, second.ID)
	var latest struct {
		ID       string `json:"latest_job"`
		Tick     string `json:"latest_tick"`
		Schedule string
	}
	grams(t, cluster, &latest, "show", "whole")
	if latest.ID != second.ID || latest.Tick != "2026-10-26T01:15:00.000Z" {
		t.Errorf("the latest success: %+v, want %s", latest, second.ID)
	}
	if one == both {
		t.Error("the corpus has grown, and the model is the same")
	}

	var days schedulesAnswer
	grams(t, cluster, &days, "backfill", "daily", "--from", "2026-10-25", "--to", "2026-10-27")
	if len(days.Ticks) != 2 {
		t.Fatalf("%+v", days)
	}
	for i, uri := range []string{"/day=2026-10-24/", "/day=2026-10-25/", "/"} {
		spec := fmt.Sprintf(`{"apiVersion":"v1","kind":"NaiveBayes","spec":{"input":{"uri":%q,"format":"tsv","label":1,"text":2,
			"split":{"test":0.2}},"output":{},"params":{"alpha":0.5},"repro":{"seed":7},"run":{}}}`,
			"file://"+corpus+uri)
		id := fmt.Sprint("by-hand-", i)
		cluster.Submit(t, id, spec)
		scheduled := second.ID
		if i < 2 {
			scheduled = days.Ticks[i].Job
		}
		if byHand, got := modelOf(t, cluster, id), modelOf(t, cluster, scheduled); got != byHand {
			t.Errorf("%s: the schedule's model is %s, that by hand %s", uri, got, byHand)
		}
	}
	latestStays(t, cluster, days.Ticks[1].Job)
	cluster.StopWorkers(t)
}

// latestStays: a tick without data fails, and the latest success is what it was.
func latestStays(t *testing.T, cluster *clustertest.Cluster, want string) {
	t.Helper()
	var failing schedulesAnswer
	grams(t, cluster, &failing, "trigger", "daily", "--tick", "2026-10-28T01:15:00Z")
	if job := cluster.Wait(t, failing.ID, time.Minute); job.GetState() != pb.JobState_JOB_STATE_FAILED {
		t.Fatalf("a job without data ended as %v", job.GetState())
	}
	for args, says := range map[string]string{
		"status daily@latest":                               want,
		"model classify --model daily@latest -o json cheap": `"spam"`,
	} {
		stdout, stderr, code := clustertest.Run(t.Context(), t, cluster.Home, cluster.ClientEnv(), nil,
			strings.Fields(args)...)
		if code != 0 || !strings.Contains(stdout, says) {
			t.Errorf("gram %s: exit code %d, want %s in it:\n%s%s", args, code, says, stdout, stderr)
		}
	}
}

// A tick fires by the clock, though the coordinator was killed meanwhile; a paused schedule fires none.
func TestATickFiresByTheClock(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a full minute; make test-all runs it")
	}
	cluster := clustertest.StartCluster(t, "", 5*time.Second)
	cluster.Work(t, "", 1)
	corpus := filepath.Join(cluster.Home, "corpus")
	day(t, corpus, "2026-10-24", 1)
	file := scheduleFile(t, cluster, "minutely", "file://"+corpus+"/", "* * * * *")
	idle := scheduleFile(t, cluster, "idle", "file://"+corpus+"/", "* * * * *")
	grams(t, cluster, nil, "create", "-f", idle)
	grams(t, cluster, nil, "pause", "idle")
	grams(t, cluster, nil, "create", "-f", file)
	cluster.Coordinator.Kill()
	cluster.StartCoordinator(t)

	type shown struct {
		Fired, Skipped int
		Recent         []struct{ Tick, Job, Skip string }
	}
	var got shown
	deadline := time.After(90 * time.Second)
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for got.Fired == 0 {
		select {
		case <-ticker.C:
			grams(t, cluster, &got, "show", "minutely")
		case <-deadline:
			t.Fatalf("no tick in 90 seconds: %+v\n%s", got, cluster.Coordinator.Output())
		}
	}
	modelOf(t, cluster, got.Recent[0].Job)
	grams(t, cluster, nil, "rm", "minutely")
	var paused shown
	grams(t, cluster, nil, "resume", "idle") // what passed is decided then, in one entry, right after the answer
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	clustertest.Poll(ctx, t, "what passed while the schedule was paused to be decided", func() bool {
		grams(t, cluster, &paused, "show", "idle")
		return paused.Skipped > 0
	})
	if paused.Fired != 0 || paused.Skipped == 0 || paused.Recent[0].Skip != "paused" {
		t.Errorf("the paused schedule: %+v", paused)
	}
	if job := cluster.Get(t, got.Recent[0].Job); job.GetScheduleId() != "minutely" || job.GetTickUnixMs()%60_000 != 0 {
		t.Errorf("%v", job)
	}
	cluster.StopWorkers(t)
}
