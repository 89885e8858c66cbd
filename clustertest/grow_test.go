package clustertest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// published copies a job's model to where the next tick looks for it, and returns its digest.
func published(t *testing.T, cluster *clustertest.Cluster, id, tick, folder string) string {
	t.Helper()
	digest := modelOf(t, cluster, id)
	model, err := clustertest.Output(cluster.Get(t, id), "model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(strings.TrimPrefix(model.GetUri(), "file://"))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, tick+".safetensors"), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

// The example of docs/schedules.md: each tick reads its day alone and adds it to the model of the tick before. The
// models are those of jobs by hand over all days so far; a tick without the model before it fails.
func TestScheduledTrainingByTheNewPartAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; make test-all runs it")
	}
	cluster := clustertest.StartCluster(t, "", 5*time.Second)
	cluster.Work(t, "", 1)
	corpus, models := filepath.Join(cluster.Home, "corpus"), filepath.Join(cluster.Home, "models")
	if err := os.Mkdir(models, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(cluster.Home, "grows.yaml")
	text := fmt.Sprintf(`{apiVersion: v1, kind: NaiveBayes, metadata: {name: grows},
 spec: {input: {uri: "file://%s/day={{previous_tick:%%Y-%%m-%%d}}/", format: tsv, label: 1, text: 2},
  model: "file://%s/{{previous_tick:%%Y-%%m-%%d}}.safetensors", params: {grows: true}},
 schedule: {cron: "15 2 * * *", time_zone: Europe/Berlin}}`, corpus, models)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	grams(t, cluster, nil, "create", "-f", file)

	byHand := func(id string) string {
		cluster.Submit(t, id, fmt.Sprintf(
			`{"apiVersion":"v1","kind":"NaiveBayes","spec":{"input":{"uri":"file://%s/","format":"tsv","label":1,"text":2},
			"output":{},"params":{"grows":true},"repro":{},"run":{}}}`, corpus))
		return modelOf(t, cluster, id)
	}
	day(t, corpus, "2026-11-01", 1)
	byHand("first")
	published(t, cluster, "first", "2026-11-02", models)
	for i, at := range []string{"2026-11-02", "2026-11-03"} {
		day(t, corpus, at, 2+i)
		tick := fmt.Sprintf("2026-11-%02d", 3+i)
		var scheduled schedulesAnswer
		grams(t, cluster, &scheduled, "trigger", "grows", "--tick", tick+"T01:15:00Z")
		if got, want := published(t, cluster, scheduled.ID, tick, models), byHand("by-hand-"+tick); got != want {
			t.Errorf("tick %s: the schedule's model is %s, that of all days by hand %s", tick, got, want)
		}
	}
	day(t, corpus, "2026-11-07", 9)
	var failing schedulesAnswer
	grams(t, cluster, &failing, "trigger", "grows", "--tick", "2026-11-08T01:15:00Z")
	if job := cluster.Wait(t, failing.ID, time.Minute); job.GetState() != pb.JobState_JOB_STATE_FAILED {
		t.Errorf("a tick without the model before it ended as %v", job.GetState())
	}
	cluster.StopWorkers(t)
}
