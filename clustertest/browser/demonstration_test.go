package browser

import (
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/clustertest"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// demonstrate fills a cluster with jobs in several states, always the same: two that succeeded, one that failed, one
// that was cancelled, and one that runs and gets no further, for its worker is paused.
func (w *world) demonstrate(t *testing.T) {
	t.Helper()
	digits, wine := w.data(t, "digits.csv.gz"), w.data(t, "wine_data.csv")
	glosses := w.data(t, "wordnet30-glosses.tsv.gz")
	submit := func(id, kind string, input, params fields) {
		t.Helper()
		if err := w.submit(t.Context(), id, kind, fields{"name": id, "labels": fields{"team": "pages"}}, input,
			params); err != nil {
			t.Fatal(err)
		}
	}
	texts := fields{"uri": glosses, "format": "tsv", "label": 1, "text": 3, "split": fields{"test": 0.2}}
	submit("glosses-all", "NaiveBayes", texts, fields{"alpha": 0.1})
	if _, err := w.jobs.Cancel(t.Context(), connect.NewRequest(&pb.CancelRequest{Id: "glosses-all"})); err != nil {
		t.Fatal(err)
	}
	worker := w.work(t, "tango")
	pixels := fields{"uri": digits, "format": "csv", "label": 65, "split": fields{"test": 0.2}, "shard_bytes": "16KiB"}
	submit("digits-neighbors", "NearestNeighbors", pixels, fields{"mode": "classify", "k": 3})
	w.awaitEnd(t, "digits-neighbors")
	submit("digits-centers", "KMeans", fields{"uri": digits, "format": "csv", "label": 65, "shard_bytes": "16KiB"},
		fields{"k": 10, "restarts": 4})
	w.awaitEnd(t, "digits-centers")
	submit("wine-typo", "GaussianNaiveBayes", fields{"uri": wine, "format": "csv", "header": true, "label": 99}, fields{})
	w.awaitEnd(t, "wine-typo")
	submit("cities-centers", "KMeans", fields{"uri": w.plain(t, "geonames-cities.csv"), "format": "csv", "header": true,
		"features": []any{"lon", "lat"}, "shard_bytes": "256KiB"}, fields{"k": 2000, "max_rounds": 500, "tol": 0,
		"init": "random"})
	w.holdIn(t, "cities-centers", worker, func(job *pb.Job) bool {
		p := job.GetProgress()
		return len(job.GetRounds()) >= 4 && 4*p.GetLeavesDone() >= p.GetLeaves() && 2*p.GetLeavesDone() <= p.GetLeaves()
	})
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
