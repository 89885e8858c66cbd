package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"time"

	"github.com/gram-compute/gram/internal/measure"
)

var perRound = regexp.MustCompile(`([0-9.]+) ms/round`)

// openRounds runs the benchmark of rounds in clustertest: two workers, job objects and raft log in
// directories. No peer has rounds.
func openRounds(ctx context.Context, _ env) (contender, func() error, error) {
	run := func() (measure.Sample, error) {
		cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkRound$", "-benchtime", "3x",
			"./clustertest")
		said, err := cmd.CombinedOutput()
		if err != nil {
			return measure.Sample{}, fmt.Errorf("%w\n%s", err, said)
		}
		found := perRound.FindSubmatch(said)
		if found == nil {
			return measure.Sample{}, fmt.Errorf("no ms/round in\n%s", said)
		}
		ms, err := strconv.ParseFloat(string(found[1]), 64)
		return measure.Sample{Wall: time.Duration(ms * float64(time.Millisecond)), Times: 1}, err
	}
	return contender{ours, run}, nothing, nil
}
