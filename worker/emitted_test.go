package worker

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gram-compute/gram/jobs"
)

// Tables and indexes are told, parts and files that were not written are not; a file that was written twice is told
// once.
func TestEmittedFiles(t *testing.T) {
	var files emitted
	emit := files.watch(func(_ context.Context, name string, data []byte) (jobs.File, error) {
		if name == "refused" {
			return jobs.File{}, errors.New("the store is full")
		}
		return jobs.File{Name: name, SHA256: "00", Size: int64(len(data))}, nil
	})
	for _, name := range []string{"lists/part-000000.csv", "lists/index.json", "pairs.csv", "pairs.csv", "refused"} {
		if _, err := emit(t.Context(), name, []byte("abc")); (err != nil) != (name == "refused") {
			t.Errorf("%s: %v", name, err)
		}
	}
	metrics, err := files.metrics([]jobs.Metric{jobs.CountMetric("records", 9)})
	if err != nil || len(metrics) != 2 {
		t.Fatalf("metrics %v, %v", metrics, err)
	}
	r := &runReport{Metrics: metrics}
	if err := r.takeEmitted(); err != nil || len(r.Metrics) != 1 {
		t.Errorf("metrics %v are left, %v", r.Metrics, err)
	}
	if want := "[{lists/index.json 00 3} {pairs.csv 00 3}]"; fmt.Sprint(r.Files) != want {
		t.Errorf("files %v, want %s", r.Files, want)
	}
	r.Metrics = []jobs.Metric{{Name: emittedMetric, Value: []byte(`{}`)}}
	if err := r.takeEmitted(); err == nil {
		t.Error("files that are no list were taken")
	}
}
