package main

import (
	"context"
	"path/filepath"

	"github.com/gram-compute/gram/jobs/learn/evaluation"
)

// openKNN is a job of kind NearestNeighbors that votes on the test pictures of MNIST; both sides
// compare the number of errors.
func openKNN(ctx context.Context, e env) (contender, func() error, error) {
	folder, err := filepath.Abs(e.mnist)
	if err != nil {
		return contender{}, nil, err
	}
	pictures := func(name string) map[string]any {
		file := "file://" + filepath.Join(folder, name)
		return map[string]any{"uri": file + "-images-idx3-ubyte", "format": "idx", "labels_uri": file +
			"-labels-idx1-ubyte"}
	}
	return jobOf(ctx, e, "NearestNeighbors", map[string]any{
		"input": pictures("train"), "queries": pictures("t10k"),
		"params": map[string]any{"mode": "classify", "k": 3},
	}, func(r jobReport) (float64, error) {
		var found evaluation.Report
		err := r.value("evaluation", &found)
		return float64(found.Records - found.Correct), err
	})
}
