package main

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"

	"github.com/gram-compute/gram/benchmarks/devcluster"
	"github.com/gram-compute/gram/benchmarks/peers"
)

// openKMeans is a job of kind KMeans over an npy file. Both sides begin from the first rows, rounded to
// quarters so that they fit into a spec, and compare J.
func openKMeans(ctx context.Context, e env) (contender, func() error, error) {
	const n, width, k, most = 500_000, 32, 256, 10
	dir, err := os.MkdirTemp("", "gram-bench-points-*")
	if err != nil {
		return contender{}, nil, err
	}
	points := make([]float32, n*width)
	peers.Normals(points, e.seed, 0)
	file := filepath.Join(dir, "points.npy")
	if err := devcluster.WriteNPY(file, points, n, width); err != nil {
		return contender{}, nil, errors.Join(err, os.RemoveAll(dir))
	}
	c, stop, err := jobOf(ctx, e, "KMeans", map[string]any{
		"input": map[string]any{"uri": "file://" + file, "format": "npy"},
		"params": map[string]any{"init": "given", "centers": quarters(points[:k*width], width),
			"max_rounds": most, "tol": 0, "empty": "keep"},
	}, func(r jobReport) (float64, error) {
		var j float64
		err := r.value("kmeans.distortion", &j)
		return 2 * j, err // scikit-learn's inertia lacks the 1/2 of J
	})
	if err != nil {
		return contender{}, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return c, func() error { return errors.Join(stop(), os.RemoveAll(dir)) }, nil
}

// quarters are rows rounded to multiples of 1/4.
func quarters(values []float32, width int) (rows [][]float64) {
	for ; len(values) > 0; values = values[width:] {
		row := make([]float64, width)
		for i := range row {
			row[i] = math.RoundToEven(float64(values[i])*4) / 4
		}
		rows = append(rows, row)
	}
	return rows
}
