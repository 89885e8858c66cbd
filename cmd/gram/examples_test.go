package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/cmd/gram/internal/specfile"
	"github.com/gram-compute/gram/jobs/all"
)

// exampleSets are further settings of the examples that run here, which keep each within a few seconds. The others read
// data that `make data` fetches or a model that `gram model import` writes, or are run by TestTheFirstStepsOfREADME.
var exampleSets = map[string][]string{
	"cities-countries":   {"spec.params.max_rounds=3"},
	"digits-densities":   nil,
	"digits-folds":       nil,
	"digits-graph":       nil,
	"digits-hashing":     nil,
	"digits-kmeans":      {"spec.params.restarts=1"},
	"digits-linear":      {"spec.params.max_rounds=20"},
	"digits-machine":     {"spec.params.max_rounds=20"},
	"digits-neighbors":   nil,
	"digits-novelty":     {"spec.params.max_rounds=20"},
	"digits-soft-kmeans": {"spec.params.max_rounds=5"},
	"glosses-jaccard":    {"spec.input.split.test=0.0001"},
	"glosses-perceptron": {"spec.params.epochs=1"},
	"iris-growing":       nil,
	"iris-kernel-matrix": nil,
	"iris-machine":       nil,
	"iris-similarities":  nil,
}

func examples(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join("..", "..", "examples", "*.yaml"))
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	for i := range list {
		if list[i], err = filepath.Abs(list[i]); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

func TestEveryExampleValidates(t *testing.T) {
	ran := 0
	for _, path := range examples(t) {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		source := specfile.Source{Path: path, Params: all.Params}
		spec, err := specfile.Load(source)
		if strings.Contains(string(data), "\nschedule:") {
			spec, _, err = specfile.LoadSchedule(source)
		}
		if err == nil {
			_, err = all.Validate(spec)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_, runs := exampleSets[name]
		if runs {
			ran++
		}
		here := strings.Contains(string(data), "../testdata/") &&
			!slices.Contains([]string{"glosses", "nightly", "reviews"}, name)
		if here != runs {
			t.Errorf("example %s reads testdata: %t; it runs in TestExamplesRun: %t", name, here, runs)
		}
	}
	if ran != len(exampleSets) {
		t.Errorf("%d of %d examples to run exist", ran, len(exampleSets))
	}
}

// Every example whose data is in testdata runs to its end.
func TestExamplesRun(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a job for each example; make test-all runs it")
	}
	for _, path := range examples(t) {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		sets, runs := exampleSets[name]
		if !runs {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel() // mostly waits for an election
			c := newClient(t)
			args := []string{"run", "-f", path, "--out", filepath.Join(c.app.dir, "out")}
			for _, set := range sets {
				args = append(args, "--set", set)
			}
			c.want(0, c.run(args...))
			left, err := filepath.Glob(filepath.Join(c.app.dir, "out", name+"-*", "report.json"))
			if err != nil || len(left) != 1 {
				t.Errorf("reports %v, %v; printed\n%s", left, err, c.stdout.String())
			}
		})
	}
}
