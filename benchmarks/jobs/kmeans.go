package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

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
	if err := writeNpy(file, points, n, width); err != nil {
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

// writeNpy writes a matrix as NumPy would, version 1.0.
func writeNpy(path string, values []float32, rows, cols int) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	header := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", rows, cols)
	header += strings.Repeat(" ", 118-1-len(header)) + "\n" // 128 bytes with what stands before it
	out := bufio.NewWriterSize(file, 1<<20)
	// Errors of a bufio.Writer stay until Flush returns them.
	out.WriteString("\x93NUMPY\x01\x00\x76\x00" + header)
	if err := binary.Write(out, binary.LittleEndian, values); err != nil {
		return err
	}
	return out.Flush()
}
