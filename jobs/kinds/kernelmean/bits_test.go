package kernelmean

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// someRecords are of three classes in 6 columns.
func someRecords(n int, sparse bool) []jobstest.Record {
	rows, labels := make([][]float32, n), make([]string, n)
	for i := range rows {
		labels[i] = string(rune('a' + i%3))
		for j := range 6 {
			v := math.Sin(float64(7*i+3*j)) + 0.2*float64(i%3)*float64(j)
			if (i+j)%3 == 0 {
				v = 0
			}
			rows[i] = append(rows[i], float32(v))
		}
	}
	if sparse {
		return jobstest.SparseRecords(6, rows, labels...)
	}
	return jobstest.DenseRecords(rows, labels...)
}

var forms = []struct{ kind, params string }{
	{MeanName, `{}`},
	{MeanName, `{"kernel": "rbf", "gamma": 0.5}`},
	{MeanName, `{"kernel": "polynomial", "degree": 3}`},
	{MeanName, `{"kernel": "sigmoid"}`},
	{DensityName, `{}`},
	{DensityName, `{"bandwidth": 0.5, "costs": {"a": {"b": 3}}}`},
}

// Whatever tasks, blocks and kernel set: one model, one evaluation.
func TestGroupingNeverShows(t *testing.T) {
	for i, form := range forms {
		spec := specOf(form.kind, form.params)
		spec.Spec.Queries = &protocol.Input{}
		algorithm, err := kindOf(form.kind).New(spec)
		if err != nil {
			t.Fatal(err)
		}
		records, queries := someRecords(23, i%2 == 1), someRecords(10, i%2 == 1)
		jobstest.CheckGrouping(t, algorithm, spec, jobstest.Deal(records, 4), kernelops.Best(),
			jobstest.WithQueries(jobstest.Deal(queries, 3)))
	}
}

func TestKernelSetsAgree(t *testing.T) {
	for _, form := range forms {
		digests := map[string]string{}
		for _, ops := range kernelops.All() {
			spec := specOf(form.kind, form.params)
			spec.Spec.Input.Split.Test = 0.3
			algorithm, err := kindOf(form.kind).New(spec)
			if err != nil {
				t.Fatal(err)
			}
			result, err := jobstest.Run(t.Context(), algorithm, spec,
				jobstest.Shards(jobstest.Deal(someRecords(150, false), 4), 9), ops, jobstest.Grouping{})
			if err != nil {
				t.Fatal(err)
			}
			digests[jobstest.Digest(result.Model)+fmt.Sprint(result.Metrics)] = ops.Name
			p, err := kindOf(form.kind).Predict(result.Model, ops)
			if err != nil {
				t.Fatal(err)
			}
			for block := range jobstest.Shards([][]jobstest.Record{someRecords(40, false)}, 50)[0](t.Context()) {
				all, err := p.Predict(t.Context(), block)
				if err != nil {
					t.Fatal(err)
				}
				digests[fmt.Sprint(all)] = ops.Name
			}
		}
		if len(digests) != 2 {
			t.Errorf("%s %s: %d digests of a model and its predictions", form.kind, form.params, len(digests))
		}
	}
}

func TestSparseIsDense(t *testing.T) {
	for _, form := range forms {
		a := outcomes(t, form.kind, mustTrain(t, form.kind, form.params, someRecords(50, false)),
			someRecords(20, false))
		b := outcomes(t, form.kind, mustTrain(t, form.kind, form.params, someRecords(50, true)), someRecords(20, true))
		if !strings.Contains(form.params, "rbf") {
			if fmt.Sprint(a) != fmt.Sprint(b) {
				t.Errorf("%s %s: dense and sparse rows differ", form.kind, form.params)
			}
			continue
		}
		for i, o := range a { // sparse rows are not centered: other roundings
			for y, v := range o.Scores {
				if o.Label != b[i].Label || !(math.Abs(v-b[i].Scores[y]) <= 1e-6) {
					t.Errorf("%s %s: %v of dense rows, %v of sparse ones", form.kind, form.params, o, b[i])
				}
			}
		}
	}
}

func TestWeightsAreRepetitions(t *testing.T) {
	weighted, repeated := someRecords(30, false), []jobstest.Record(nil)
	for i := range weighted {
		for range i%3 + 1 {
			repeated = append(repeated, weighted[i])
		}
		weighted[i].Weight = float32(i%3 + 1)
	}
	for _, form := range forms {
		a := outcomes(t, form.kind, mustTrain(t, form.kind, form.params, weighted), someRecords(20, false))
		b := outcomes(t, form.kind, mustTrain(t, form.kind, form.params, repeated), someRecords(20, false))
		for i := range a {
			for y := range a[i].Scores {
				if math.Abs(a[i].Scores[y]-b[i].Scores[y]) > 1e-6 {
					t.Errorf("%s %s: record %d: %v and %v", form.kind, form.params, i, a[i].Scores, b[i].Scores)
				}
			}
		}
	}
}

// Shards without records, and more leaves than rows, add nothing.
func TestEmptyShards(t *testing.T) {
	records := someRecords(6, false)
	for i := range records {
		records[i].Weight = float32(1 + i%2)
	}
	for _, form := range forms {
		few, err := train(t, form.kind, form.params, records, 1, kernelops.Best())
		if err != nil {
			t.Fatal(err)
		}
		many, err := train(t, form.kind, form.params, records, 17, kernelops.Best())
		if err != nil {
			t.Fatal(err)
		}
		a, b := outcomes(t, form.kind, few, records), outcomes(t, form.kind, many, records)
		for i := range a {
			if a[i].Label != b[i].Label || math.Abs(a[i].Value-b[i].Value) > 1e-9*(1+math.Abs(a[i].Value)) {
				t.Errorf("%s %s: record %d: %+v and %+v", form.kind, form.params, i, a[i], b[i])
			}
		}
	}
}

// A base beyond max_state_bytes is refused as soon as it is.
func TestBaseTooBig(t *testing.T) {
	spec := specOf(MeanName, `{}`)
	spec.Spec.Run.MaxStateBytes = 3000
	algorithm, err := NewMean(spec)
	if err != nil {
		t.Fatal(err)
	}
	_, err = jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(jobstest.Deal(someRecords(300, false), 4), 9),
		kernelops.Best(), jobstest.Grouping{})
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != protocol.CodeStateTooBig {
		t.Error(err)
	}
}

func TestDefaultsAreWhole(t *testing.T) {
	for _, form := range forms {
		defaults, err := kindOf(form.kind).Defaults(json.RawMessage(form.params))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := kindOf(form.kind).Defaults(defaults); err != nil || string(again) != string(defaults) {
			t.Errorf("%s becomes %s, %v", defaults, again, err)
		}
	}
}

// Whatever bytes a model has, it is read or refused, and what is read predicts and is described.
func FuzzModel(f *testing.F) {
	for _, form := range forms {
		for _, sparse := range []bool{false, true} {
			f.Add(mustTrain(f, form.kind, form.params, someRecords(9, sparse)).Encode())
			queries := [][]jobstest.Record{someRecords(3, sparse)}
			f.Add(decide(f, form.kind, unstoring(form.params), jobstest.Deal(someRecords(9, sparse), 2), queries,
				kernelops.Generic()).Model.Encode())
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := jobs.Decode(data)
		if err != nil {
			return
		}
		for _, kind := range []jobs.Kind{MeanKind(), DensityKind()} {
			p, err := kind.Predict(a, kernelops.Generic())
			var fault *protocol.Fault
			_, unstored := a[classWeights]
			if errors.As(err, &fault) && (fault.Code == protocol.CodeCorrupt || fault.Code == protocol.CodeInputLimit) {
				continue
			}
			if (err != nil) != unstored || unstored && (fault == nil || fault.Code != protocol.CodeSpecInvalid) {
				t.Errorf("a model whose base is not stored (%v): %v", unstored, err)
			}
			if _, err := kind.Describe(a, jobs.DescribeOptions{}); err != nil {
				t.Errorf("a model that is one is not described: %v", err)
			}
			if unstored {
				continue
			}
			for _, sparse := range []bool{false, true} {
				for block := range jobstest.Shards([][]jobstest.Record{someRecords(3, sparse)}, 5)[0](t.Context()) {
					all, err := p.Predict(t.Context(), block)
					if err == nil && len(all) != 3 {
						t.Errorf("%d outcomes", len(all))
					}
				}
			}
		}
	})
}
