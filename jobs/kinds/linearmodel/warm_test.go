package linearmodel

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/dual"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// goOn trains from the model of an earlier job.
func goOn(t *testing.T, params string, base jobstest.Result, records []jobstest.Record) (jobstest.Result, error) {
	t.Helper()
	spec := specOf(params)
	spec.Spec.Model = "file:///m/model.safetensors"
	algorithm, err := New(spec)
	if err != nil {
		return jobstest.Result{}, err
	}
	shards := jobstest.Shards([][]jobstest.Record{records}, 50)
	return jobstest.Run(t.Context(), algorithm, spec, shards, kernelops.Best(), jobstest.Grouping{},
		jobstest.WithModel(base.Model))
}

// Worked by hand: of 1 of b and -1 of a, squared_hinge has w = 4/5 and the objective 2/5. From there the first round
// proves it.
func TestGoOnByHand(t *testing.T) {
	two := []jobstest.Record{{Label: "b", Dense: []float32{1}}, {Label: "a", Dense: []float32{-1}}}
	params := `{"loss":"squared_hinge","bias_scale":0,"tol":1e-9}`
	_, base := train(t, params, two)
	result, err := goOn(t, params, base, two)
	if err != nil {
		t.Fatal(err)
	}
	m, err := readModel(result.Model)
	if err != nil || m.rounds != 1 || math.Abs(m.weights[0]-0.8) > 1e-9 || m.relative() > 1e-9 {
		t.Errorf("%+v, %v", m, err)
	}
}

// From the model of nine in ten records, the proof about all of them takes fewer rounds, and holds. Nothing that was
// proved of the model remains: the first round is about the new records.
func TestGoOn(t *testing.T) {
	all := groups(800, 8, 2, false)
	for _, c := range []float64{1e-3, 1, 100} {
		params := fmt.Sprintf(`{"C":%g,"margin":true}`, c)
		_, base := train(t, params, all[:720])
		_, cold := train(t, params, all)
		warm, err := goOn(t, params, base, all)
		if err != nil {
			t.Fatal(err)
		}
		m, err := readModel(warm.Model)
		if err != nil {
			t.Fatal(err)
		}
		other, err := readModel(cold.Model)
		if err != nil {
			t.Fatal(err)
		}
		p, q := m.proofs[0], other.proofs[0]
		if warm.Rounds >= cold.Rounds || m.relative() > 1e-3 || p.Primal < q.Primal-q.GapUpper ||
			q.Primal < p.Primal-p.GapUpper {
			t.Errorf("C %g: %d rounds, %+v; cold %d, %+v", c, warm.Rounds, p, cold.Rounds, q)
		}
		first := 0.0
		if err := jobs.ReadMetric(warm.Metrics, "linear.round.00001.primal", &first); err != nil ||
			first < p.Primal || m.space.Records != 800 {
			t.Errorf("C %g: the first primal is %v, the last %v, of %d records", c, first, p.Primal, m.space.Records)
		}
	}
}

// The columns of the model's space stay: a scaling is not learned anew.
func TestGoOnInTheModelsSpace(t *testing.T) {
	params := `{"features":{"scale":"standard"}}`
	_, base := train(t, params, groups(60, 3, 3, false))
	far := groups(60, 3, 3, false)
	for i := range far {
		far[i].Dense = slices.Clone(far[i].Dense)
		far[i].Dense[0] += 100
	}
	result, err := goOn(t, params, base, far)
	if err != nil {
		t.Fatal(err)
	}
	for name, array := range base.Model {
		if strings.Contains(name, "mean") && string(array.Data) != string(result.Model[name].Data) {
			t.Errorf("array %s is another", name)
		}
	}
}

// What the model contradicts is refused by name.
func TestGoOnRefuses(t *testing.T) {
	records := groups(60, 3, 3, false)
	_, base := train(t, `{}`, records)
	more := append(slices.Clone(records), jobstest.Record{Label: "zebra", Dense: []float32{1, 2, 3}})
	for want, c := range map[string]struct {
		params  string
		records []jobstest.Record
	}{
		`label "zebra"`: {`{}`, more},
		`label "c"`: {`{}`, slices.DeleteFunc(slices.Clone(records), func(r jobstest.Record) bool {
			return r.Label == "c"
		})},
		"4 columns, the model of spec.model has 3": {`{}`, groups(60, 4, 3, false)},
		"are sparse vectors":                       {`{}`, groups(60, 3, 3, true)},
		"bias_scale is 1":                          {`{"bias_scale":2}`, records},
		"features.scale is none":                   {`{"features":{"scale":"l2"}}`, records},
	} {
		_, err := goOn(t, c.params, base, c.records)
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeSpecInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// A round over no record that costs anything proves nothing of weights that are not 0.
func TestGoOnWithoutRecords(t *testing.T) {
	m, _ := train(t, `{}`, groups(60, 3, 2, false))
	s := newNewton(training{model: m, now: slices.Clone(m.weights), done: make([]int32, 1)}, true)
	s.rounds = 0
	none := &bends{measures: measures{standings: sums.NewExact(standingSums), violation: make([]float64, 1)},
		of: sums.NewExact(len(s.now)), curves: sums.NewExact(dual.TriangleLen(len(s.now))), values: sums.NewExact(1)}
	var fault *protocol.Fault
	if _, err := (&newtonPhase{}).step(t.Context(), s, none, jobs.Round{}); !errors.As(err, &fault) ||
		fault.Code != protocol.CodeInputEmpty {
		t.Error(err)
	}
}

// Solver ascend begins with coefficients that the weights ask for. The proof is about the new records, and holds; of a
// loss whose coefficients follow from the weights, it takes far fewer rounds.
func TestGoOnAscending(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		all := groups(400, 12, 3, sparse)
		for _, loss := range []string{"hinge", "squared_hinge", "logistic"} {
			params := fmt.Sprintf(`{"solver":"ascend","C":0.1,"loss":%q,"max_rounds":2000}`, loss)
			_, base := train(t, params, all[:360])
			best, cold := train(t, params, all)
			warm, err := goOn(t, params, base, all)
			if err != nil {
				t.Fatal(err)
			}
			m, err := readModel(warm.Model)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %d rounds in place of %d", loss, warm.Rounds, cold.Rounds)
			for k, p := range m.proofs {
				q := best.proofs[k]
				if p.Relative() > 1e-3 || p.Primal < q.Primal-q.GapUpper || q.Primal < p.Primal-p.GapUpper {
					t.Errorf("%s, machine %d: %+v, cold %+v", loss, k, p, q)
				}
			}
			if loss != "hinge" && warm.Rounds >= cold.Rounds {
				t.Errorf("%s: %d rounds, cold %d", loss, warm.Rounds, cold.Rounds)
			}
		}
	}
}

// Weights so large that no record falls short of its margin ask for no coefficient: training begins as from nothing.
func TestGoOnFromTooMuch(t *testing.T) {
	records := []jobstest.Record{{Label: "b", Dense: []float32{4}}, {Label: "a", Dense: []float32{-4}}}
	_, base := train(t, `{"bias_scale":0}`, []jobstest.Record{{Label: "b", Dense: []float32{1}},
		{Label: "a", Dense: []float32{-1}}})
	for _, loss := range []string{"hinge", "squared_hinge"} {
		params := fmt.Sprintf(`{"bias_scale":0,"solver":"ascend","tol":1e-9,"loss":%q}`, loss)
		want, _ := train(t, params, records)
		result, err := goOn(t, params, base, records)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := readModel(result.Model); err != nil || m.relative() > 1e-9 ||
			math.Abs(m.weights[0]-want.weights[0]) > 1e-6 {
			t.Errorf("%s: %+v, %v", loss, m, err)
		}
	}
}
