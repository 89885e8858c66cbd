package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// part is a benchmark of `go test -bench`, and the figures of it that the page shows.
type part struct {
	folder  string
	bench   string // an expression, as go test takes it
	figures []figure
}

// figure is a value that a benchmark reports.
type figure struct {
	name  string  // of the benchmark, without the number of processors
	unit  string  // in which go test reports it
	what  string  // for people
	as    string  // the unit on the page
	scale float64 // from one to the other
}

var parts = []part{
	{"jobs/kinds/naivebayes", "TrainGlosses$|Score/avx512|Score/generic", []figure{
		{"TrainGlosses", "ns/op", "training on the glosses, the algorithm alone", "s", 1e-9},
		{"Score/generic", "documents/s", "scoring a gloss, generic kernels", "documents/s", 1},
		{"Score/avx512", "documents/s", "scoring a gloss, AVX-512", "documents/s", 1},
	}},
	{"dataset", "ReadTSV|ReadGzip", []figure{
		{"ReadTSV", "MB/s", "reading TSV", "MB/s", 1},
		{"ReadGzip", "MB/s", "reading gzipped TSV, bytes before compression", "MB/s", 1},
		{"ReadTSVAndTokenize", "MB/s", "reading TSV and cutting it into words", "MB/s", 1},
	}},
	{"kernelops/fmath", "Functions", []figure{
		{"Functions/Exp", "ns/op", "fmath.Exp", "ns", 1},
		{"Functions/Log", "ns/op", "fmath.Log", "ns", 1},
		{"Functions/Tanh", "ns/op", "fmath.Tanh", "ns", 1},
		{"Functions/Sincospi", "ns/op", "fmath.Sincospi", "ns", 1},
	}},
	{"objstore/dir", "Put64KiB|Get64KiB", []figure{
		{"Put64KiB", "ns/op", "directory store, Put of 64 KiB, fsync included", "ms", 1e-6},
		{"Get64KiB", "ns/op", "directory store, Get of 64 KiB", "ms", 1e-6},
	}},
	{"coordinator/schedule", "Round/slots=(32|1600)$|LeaseNothing", []figure{
		{"Round/slots=32", "us/lease", "Lease, 32 slots", "us", 1},
		{"Round/slots=1600", "us/lease", "Lease, 1,600 slots", "us", 1},
		{"LeaseNothing", "ns/op", "Lease with nothing to do", "us", 1e-3},
	}},
}

// run runs the benchmark and returns a row for every figure, also those that it did not report.
func (p part) run(ctx context.Context, trials int) ([]row, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", p.bench, "-count", strconv.Itoa(trials),
		"./"+p.folder)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, text)
	}
	reported := parse(string(text))
	var rows []row
	for _, f := range p.figures {
		r := row{what: f.what, unit: f.as}
		for _, v := range reported[f.name+" "+f.unit] {
			r.values = append(r.values, v*f.scale)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// parse reads lines such as "BenchmarkX/y-2  100  12.5 ns/op  3 MB/s" into values by
// "X/y ns/op". Other lines do not count.
func parse(text string) map[string][]float64 {
	reported := map[string][]float64{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(words[0], "Benchmark")
		if i := strings.LastIndexByte(name, '-'); i >= 0 {
			name = name[:i]
		}
		for i := 2; i+1 < len(words); i += 2 {
			if v, err := strconv.ParseFloat(words[i], 64); err == nil {
				key := name + " " + words[i+1]
				reported[key] = append(reported[key], v)
			}
		}
	}
	return reported
}
