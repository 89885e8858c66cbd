package perceptron

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/philox"
	"github.com/gram-compute/gram/protocol"
)

// specOf is a spec in blocks of 64 records, unless the parameters say otherwise, so that most tests have several.
func specOf(params string) protocol.JobSpec {
	if !strings.Contains(params, "block_records") {
		params = inBlocks(params, 64)
	}
	spec := protocol.JobSpec{APIVersion: protocol.APIVersion, Kind: KindName}
	spec.Spec.Params = json.RawMessage(params)
	spec.Spec.Repro.Seed = 7
	return spec
}

func tryRun(t testing.TB, spec protocol.JobSpec, shards [][]jobstest.Record, ops *kernelops.Set,
	opts ...jobstest.Option) (jobstest.Result, error) {
	t.Helper()
	algorithm, err := New(spec)
	if err != nil {
		return jobstest.Result{}, err
	}
	return jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(shards, 100), ops, jobstest.Grouping{}, opts...)
}

func train(t testing.TB, params string, shards ...[]jobstest.Record) jobstest.Result {
	t.Helper()
	result, err := tryRun(t, specOf(params), shards, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func modelOf(t testing.TB, result jobstest.Result) *model {
	t.Helper()
	arrays, err := jobs.Decode(result.Model.Encode())
	if err != nil {
		t.Fatal(err)
	}
	m, err := readModel(arrays)
	if err != nil {
		t.Fatal(err)
	}
	m.ops = kernelops.Best()
	return m
}

// metric reads a metric; it reports whether there is one.
func metric(t testing.TB, result jobstest.Result, name string, into any) bool {
	t.Helper()
	for _, m := range result.Metrics {
		if m.Name == name {
			if err := json.Unmarshal(m.Value, into); err != nil {
				t.Fatal(err)
			}
			return true
		}
	}
	return false
}

func outcomes(t testing.TB, model jobs.Arrays, records []jobstest.Record) []jobs.Outcome {
	t.Helper()
	p, err := NewPredictor(model, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	var all []jobs.Outcome
	for block, err := range jobstest.Shards([][]jobstest.Record{records}, 700)[0](t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		some, err := p.Predict(t.Context(), block)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, some...)
	}
	return all
}

// wrong counts the records that a model does not give their label.
func wrong(t testing.TB, model jobs.Arrays, records []jobstest.Record) (n int) {
	t.Helper()
	for i, o := range outcomes(t, model, records) {
		if o.Label != records[i].Label {
			n++
		}
	}
	return n
}

func wantFault(t testing.TB, err error, code protocol.Code, part string) {
	t.Helper()
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != code || !strings.Contains(err.Error(), part) {
		t.Errorf("want a fault of %s with %q, got %v", code, part, err)
	}
}

// uniform draws numbers in [-1, 1).
func uniform(n, width int, purpose string) [][]float32 {
	key, rows := philox.New(3, purpose), make([][]float32, n)
	for i := range rows {
		rows[i] = make([]float32, width)
		for j := range rows[i] {
			rows[i][j] = float32(2*key.Float64(uint64(i), uint64(j)) - 1)
		}
	}
	return rows
}

// sectors are points of the plane in as many classes by angle and distance, with noise.
func sectors(n, classes int) []jobstest.Record {
	rows, labels := uniform(n, 5, "test/sectors"), make([]string, n)
	for i, row := range rows {
		best := 0
		score := func(c int) float32 { return row[c%5] + 0.3*row[(c+1)%5]*row[(c+2)%5] }
		for c := range classes {
			if score(c) > score(best) {
				best = c
			}
		}
		labels[i] = fmt.Sprint("c", best)
	}
	return jobstest.DenseRecords(rows, labels...)
}

// inBlocks are parameters with blocks of a number of records.
func inBlocks(params string, each int) string {
	rest := strings.TrimPrefix(params, "{")
	if rest != "}" {
		rest = ", " + rest
	}
	return fmt.Sprintf(`{"block_records": %d%s`, each, rest)
}
