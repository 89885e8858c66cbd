package perceptron

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/kernelops"
)

// accuracy trains on the glosses in blocks, on the split where naive Bayes reaches 0.655 (seed 7).
func accuracy(t testing.TB, records []jobstest.Record, blocks int, params string) float64 {
	t.Helper()
	each := (len(records) + blocks - 1) / blocks
	spec := specOf(inBlocks(params, each))
	shards := [][]jobstest.Record{records}
	spec.Spec.Input.Split.Test = 0.2
	start := time.Now()
	result, err := tryRun(t, spec, shards, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	var report evaluation.Report
	if !metric(t, result, "evaluation", &report) || report.Records != 23671 {
		t.Fatalf("evaluated %d records", report.Records)
	}
	t.Logf("%2d blocks, %-45s accuracy %.4f, mistakes %v (%.1f s)", blocks, params, report.Accuracy,
		modelOf(t, result).epochMistakes, time.Since(start).Seconds())
	return report.Accuracy
}

// inTurn deals records one to each of n parts in turn: the glosses are sorted by label, and blocks of few labels each
// are another task than blocks alike.
func inTurn(records []jobstest.Record, n int) []jobstest.Record {
	parts := make([][]jobstest.Record, n)
	for i, r := range records {
		parts[i%n] = append(parts[i%n], r)
	}
	return slices.Concat(parts...)
}

func TestGlosses(t *testing.T) {
	if testing.Short() {
		t.Skip("learns most of 118,000 glosses ten times; make test-all runs it")
	}
	records := glosses(t)
	chained := accuracy(t, inTurn(records, 8), 8, `{}`)
	mixed := accuracy(t, inTurn(records, 8), 8, `{"over": "mixed"}`)
	if chained < 0.70 {
		t.Errorf("accuracy %.4f; an averaged perceptron reaches 0.70", chained)
	}
	if math.Abs(chained-mixed) > 0.01 {
		t.Errorf("accuracy %.4f mixed and %.4f chained are more than a point apart", mixed, chained)
	}
}

var curve = flag.Bool("perceptron.curve", false, "measure accuracy against blocks (docs/perceptrons.md)")

// The table of docs/perceptrons.md.
func TestAccuracyAgainstBlocks(t *testing.T) {
	if !*curve {
		t.Skip("a measurement: -perceptron.curve")
	}
	records := glosses(t)
	for _, way := range []struct{ name, params string }{
		{"chained", `{}`}, {"changed", `{"over": "mixed", "mixing": "changed"}`},
		{"uniform", `{"over": "mixed", "mixing": "uniform"}`},
		{"mistakes", `{"over": "mixed", "mixing": "mistakes"}`},
	} {
		for _, blocks := range []int{1, 8, 64} {
			t.Run(fmt.Sprint(way.name, "/", blocks),
				func(t *testing.T) { accuracy(t, inTurn(records, blocks), blocks, way.params) })
		}
		t.Run(way.name+"/sorted", func(t *testing.T) { accuracy(t, records, 8, way.params) })
	}
}
