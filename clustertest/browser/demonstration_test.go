package browser

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/clustertest"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// Jobs of the demonstration.
const (
	running, failed, cancelled = "cities-centers-k3f9p2", "wine-typo-8m2c4x", "glosses-all-q7d1zt"
	clustered                  = "digits-centers-v5n0bw"
	three, nine                = "digits-neighbors-h6t2ra", "digits-neighbors-w9e4yk"
)

// demonstrate fills a cluster with jobs in several states, always the same: three that succeeded, one that failed, one
// that was cancelled, and one that runs and gets no further, for its worker is paused; with a schedule and an alias.
func (w *world) demonstrate(t *testing.T) {
	t.Helper()
	digits := fields{"uri": w.data(t, "digits.csv.gz"), "format": "csv", "label": 65}
	tested := maps.Clone(digits)
	tested["split"] = fields{"test": 0.2}
	texts := fields{"uri": w.data(t, "wordnet30-glosses.tsv.gz"), "format": "tsv", "label": 1, "text": 3,
		"split": fields{"test": 0.2}}
	w.demand(t, cancelled, "NaiveBayes", texts, fields{"alpha": 0.1})
	if _, err := w.jobs.Cancel(t.Context(), connect.NewRequest(&pb.CancelRequest{Id: cancelled})); err != nil {
		t.Fatal(err)
	}
	worker := w.work(t, "tango")
	for id, k := range map[string]int{three: 3, nine: 9} {
		w.demand(t, id, "NearestNeighbors", tested, fields{"mode": "classify", "k": k})
		w.awaitEnd(t, id)
	}
	w.demand(t, clustered, "KMeans", digits, fields{"k": 10, "restarts": 4})
	w.awaitEnd(t, clustered)
	w.demand(t, failed, "GaussianNaiveBayes", fields{"uri": w.data(t, "wine_data.csv"), "format": "csv", "header": true,
		"label": 99}, fields{})
	w.awaitEnd(t, failed)
	w.remember(t, three, texts)
	w.demand(t, running, "KMeans", fields{"uri": w.plain(t, "geonames-cities.csv"), "format": "csv", "header": true,
		"features": []any{"lon", "lat"}, "shard_bytes": "256KiB"}, fields{"k": 2000, "max_rounds": 500, "tol": 0,
		"init": "random"})
	w.holdIn(t, running, worker, func(job *pb.Job) bool {
		p := job.GetProgress()
		return len(job.GetRounds()) >= 3 && p.GetLeavesDone() > 1 && p.GetLeavesDone() < p.GetLeaves()
	})
}

// demand submits a job that is named like its id, without the end that makes the id unique.
func (w *world) demand(t *testing.T, id, kind string, input, params fields) {
	t.Helper()
	name := id[:strings.LastIndex(id, "-")]
	if err := w.submit(t.Context(), id, kind, fields{"name": name, "labels": fields{"team": "pages"}}, input,
		params); err != nil {
		t.Fatal(err)
	}
}

// remember makes an alias and a schedule that does not fire.
func (w *world) remember(t *testing.T, best string, input fields) {
	t.Helper()
	models := gramv1connect.NewModelServiceClient(w.client, w.base, w.admin)
	if _, err := models.SetAlias(t.Context(),
		connect.NewRequest(&pb.SetAliasRequest{Name: "best", Job: best})); err != nil {
		t.Fatal(err)
	}
	spec, err := json.Marshal(fields{"apiVersion": "v1", "kind": "NaiveBayes", "metadata": fields{"name": "nightly"},
		"spec": fields{"input": input, "params": fields{}, "repro": fields{"seed": 7}}})
	if err != nil {
		t.Fatal(err)
	}
	schedules := gramv1connect.NewScheduleServiceClient(w.client, w.base, w.admin)
	if _, err := schedules.CreateSchedule(t.Context(), connect.NewRequest(&pb.CreateScheduleRequest{
		Definition: &pb.ScheduleDefinition{Id: "nightly", Cron: "15 2 29 2 *", TimeZone: "Europe/Berlin",
			SpecJson: string(spec)}})); err != nil {
		t.Fatal(err)
	}
}

// holdIn pauses a worker while a job is as it should be.
func (w *world) holdIn(t *testing.T, id string, worker *clustertest.Process, as func(*pb.Job) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	clustertest.Poll(ctx, t, id+" to be as it should be", func() bool {
		worker.Pause(t)
		if as(w.get(t, id)) {
			return true
		}
		worker.Resume(t)
		return false
	})
}

// plain unpacks a file of testdata below the world's directory, so that it has many shards, and returns its URI.
func (w *world) plain(t *testing.T, name string) string {
	t.Helper()
	packed, err := os.Open(filepath.Join("..", "..", "testdata", name+".gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	from, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(w.dir, name)
	if err := os.WriteFile(to, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return "file://" + to
}
