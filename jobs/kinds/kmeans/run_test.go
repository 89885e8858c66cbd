package kmeans

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/philox"
	"github.com/gram-compute/gram/protocol"
)

func specOf(params string) protocol.JobSpec {
	spec := protocol.JobSpec{APIVersion: "v1", Kind: KindName}
	spec.Spec.Params = json.RawMessage(params)
	spec.Spec.Repro.Seed = 11
	return spec
}

func algorithmOf(t testing.TB, spec protocol.JobSpec) jobs.Algorithm {
	t.Helper()
	algorithm, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return algorithm
}

func tryRun(t testing.TB, params string, shards [][]jobstest.Record, ops *kernelops.Set) (jobstest.Result, error) {
	t.Helper()
	spec := specOf(params)
	return jobstest.Run(t.Context(), algorithmOf(t, spec), spec, jobstest.Shards(shards, 100), ops, jobstest.Grouping{})
}

func train(t testing.TB, params string, shards ...[]jobstest.Record) jobstest.Result {
	t.Helper()
	result, err := tryRun(t, params, shards, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func modelOf(t testing.TB, result jobstest.Result) *model {
	t.Helper()
	m, err := readModel(result.Model)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// numbers returns the metrics with a suffix, in order.
func numbers(t rapid.TB, result jobstest.Result, suffix string) []float64 {
	t.Helper()
	var list []float64
	for _, m := range result.Metrics {
		if strings.HasSuffix(m.Name, suffix) {
			var v float64
			if err := json.Unmarshal(m.Value, &v); err != nil {
				t.Fatal(err)
			}
			list = append(list, v)
		}
	}
	return list
}

func wantFault(t testing.TB, err error, code protocol.Code, part string) {
	t.Helper()
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != code || !strings.Contains(err.Error(), part) {
		t.Errorf("want a fault of %s with %q, got %v", code, part, err)
	}
}

// blobs are n points around k random centers, labelled by them.
func blobs(n, width, k int, spread float64) []jobstest.Record {
	key := philox.New(3, "test/blobs")
	rows, labels := make([][]float32, n), make([]string, n)
	for i := range rows {
		rows[i] = make([]float32, width)
		labels[i] = fmt.Sprint("blob", i%k)
		for j := range rows[i] {
			center := 10 * key.Float64(uint64(i%k), uint64(1000+j))
			rows[i][j] = float32(center + spread*(key.Float64(uint64(i)<<20, uint64(j))-0.5))
		}
	}
	return jobstest.DenseRecords(rows, labels...)
}

func near(t rapid.TB, name string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s is %v, not %v", name, got, want)
	}
}
