package perceptron

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/rank"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

var everyWay = []string{`{"epochs": 2}`, `{"form": "plain", "over": "mixed", "epochs": 2}`,
	`{"over": "mixed", "mixing": "mistakes", "epochs": 2, "features": {"scale": "standard"}}`,
	`{"over": "mixed", "mixing": "uniform", "classes": "one_vs_rest", "epochs": 2}`, `{"form": "voted", "epochs": 2}`,
	`{"form": "unweighted", "epochs": 1, "shuffle": false}`,
	`{"classes": "one_vs_rest", "class_weights": {"c1": 2.5}, "bias": false, "epochs": 1}`}

func TestGroupingNeverShows(t *testing.T) {
	for _, params := range everyWay {
		spec := specOf(params)
		spec.Spec.Input.Split.Test = 0.2
		algorithm, err := New(spec)
		if err != nil {
			t.Fatal(err)
		}
		jobstest.CheckGrouping(t, algorithm, spec, jobstest.Deal(sectors(24, 3), 3), kernelops.Best())
	}
	spec := specOf(`{"distinct": 2, "epochs": 2}`)
	algorithm, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	jobstest.CheckGrouping(t, algorithm, spec, jobstest.Deal(asSparse(circles(20, false)), 3), kernelops.Best())
}

func TestKernelSetsAgree(t *testing.T) {
	for _, records := range [][]jobstest.Record{sectors(300, 4), asSparse(sectors(300, 4)), sectors(300, 2)} {
		for _, params := range everyWay {
			if strings.Contains(params, "standard") && records[0].Width > 0 {
				continue
			}
			digests := map[string]string{}
			for _, ops := range kernelops.All() {
				spec := specOf(params)
				spec.Spec.Input.Split.Test = 0.1
				result, err := tryRun(t, spec, jobstest.Deal(records, 4), ops)
				if err != nil {
					t.Fatal(err)
				}
				digests[jobstest.Digest(result.Model)] = ops.Name
			}
			if len(digests) != 1 {
				t.Errorf("%s: models differ: %v", params, digests)
			}
		}
	}
}

// Chained without shuffling, the cut into shards does not show in what was learned.
func TestShardsDoNotShowWhenChained(t *testing.T) {
	var want *model
	for _, shards := range []int{1, 2, 7, 210} {
		m := modelOf(t, train(t, `{"shuffle": false}`, jobstest.Deal(sectors(200, 3), shards)...))
		if want == nil {
			want = m
		}
		if !slices.Equal(m.weights, want.weights) || !slices.Equal(m.sums, want.sums) || m.steps != want.steps {
			t.Errorf("%d shards: other weights", shards)
		}
	}
}

func TestRefused(t *testing.T) {
	two, bad := []string{"a", "b"}, float32(math.NaN())
	// w is (3e38, -3e38) after the first record; the product with the second is no number.
	huge := jobstest.DenseRecords([][]float32{{3e38, -3e38}, {3e38, 3e38}, {0, 0}, {1, 1}}, "b", "b", "a", "a")
	for name, c := range map[string]struct {
		params  string
		records []jobstest.Record
		code    protocol.Code
		part    string
	}{
		"one class": {`{}`, jobstest.DenseRecords([][]float32{{1}, {2}}, "a", "a"), protocol.CodeInputEmpty,
			"2 classes"},
		"no labels":  {`{}`, jobstest.DenseRecords([][]float32{{1}, {2}}), protocol.CodeInputEmpty, "labels"},
		"no records": {`{}`, nil, protocol.CodeInputEmpty, "no training record"},
		"width changes": {`{}`, jobstest.DenseRecords([][]float32{{1}, {2, 3}}, two...), protocol.CodeBadRecord,
			"width"},
		"NaN": {`{}`, jobstest.DenseRecords([][]float32{{1}, {bad}}, two...), protocol.CodeBadRecord,
			"finite"},
		"beyond float32":      {`{"shuffle": false}`, huge, protocol.CodeInputLimit, "float32"},
		"mixed beyond it":     {`{"over": "mixed", "shuffle": false}`, huge, protocol.CodeInputLimit, "float32"},
		"a misspelt param":    {`{"epoch": 3}`, nil, protocol.CodeSpecInvalid, "epoch"},
		"a form unheard of":   {`{"form": "avraged"}`, nil, protocol.CodeSpecInvalid, "averaged"},
		"votes of a mean":     {`{"form": "voted", "over": "mixed"}`, nil, protocol.CodeSpecInvalid, "chained only"},
		"distinct mixed":      {`{"distinct": 1, "over": "mixed"}`, nil, protocol.CodeSpecInvalid, "chained only"},
		"distinct votes":      {`{"distinct": 1, "form": "voted"}`, nil, protocol.CodeSpecInvalid, "plain or averaged"},
		"distinct many":       {`{"distinct": 1}`, sectors(30, 3), protocol.CodeSpecInvalid, "two classes"},
		"a class weight of 0": {`{"class_weights": {"a": 0}}`, nil, protocol.CodeSpecInvalid, "class_weights"},
		"an unknown class": {`{"class_weights": {"c": 2}}`, jobstest.DenseRecords([][]float32{{1}, {2}}, two...),
			protocol.CodeSpecInvalid, `"c"`},
		"an unknown cost": {`{"costs": {"c": {"a": 2}}}`, jobstest.DenseRecords([][]float32{{1}, {2}}, two...),
			protocol.CodeSpecInvalid, `"c"`},
		"no epochs": {`{"epochs": 0}`, nil, protocol.CodeSpecInvalid, "epochs"},
		"too wide": {`{}`, []jobstest.Record{{Label: "a", Width: 1 << 28, Indices: []int32{5}, Values: []float32{1}},
			{Label: "b", Width: 1 << 28, Indices: []int32{6}, Values: []float32{1}}}, protocol.CodeInputLimit, "2^27"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tryRun(t, specOf(c.params), jobstest.Deal(c.records, 2), kernelops.Best())
			wantFault(t, err, c.code, c.part)
		})
	}
}

// Weights that the state cannot hold are refused before they are made.
func TestStateTooBig(t *testing.T) {
	spec := specOf(`{}`)
	spec.Spec.Run.MaxStateBytes = 1 << 20
	wide := []jobstest.Record{{Label: "a", Width: 1 << 26, Indices: []int32{5}, Values: []float32{1}},
		{Label: "b", Width: 1 << 26, Indices: []int32{6}, Values: []float32{1}}}
	_, err := tryRun(t, spec, jobstest.Deal(wide, 1), kernelops.Best())
	wantFault(t, err, protocol.CodeStateTooBig, "max_state_bytes")
}

// Rows of zeros, empty shards and records that weigh nothing are answered.
func TestDegenerateAnswers(t *testing.T) {
	records := jobstest.DenseRecords([][]float32{{0, 0}, {0, 0}, {0, 0}}, "a", "a", "b")
	for _, params := range []string{`{}`, `{"bias": false}`, `{"over": "mixed"}`, `{"form": "voted"}`} {
		result := train(t, params, records[:1], nil, records[1:])
		if m := modelOf(t, result); m.separated || len(m.epochMistakes) != 5 {
			t.Errorf("%s: zero rows of two classes were separated", params)
		}
		if o := outcomes(t, result.Model, records[:1]); o[0].Label != "a" && o[0].Label != "b" {
			t.Errorf("%s: outcome %+v", params, o[0])
		}
	}
	weighted := slices.Clone(records)
	weighted[0].Dense, weighted[0].Weight, weighted[2].Weight = []float32{1, 2}, 1, 1 // the second has none
	if m := modelOf(t, train(t, `{}`, weighted)); m.steps != 2*int64(len(m.epochMistakes)) {
		t.Errorf("%d steps in %d epochs: a record without weight was met", m.steps, len(m.epochMistakes))
	}
	// scores beyond float32 decide, and are bounded
	far := jobstest.DenseRecords([][]float32{{3e38}, {-3e38}}, "a", "b")
	if result := train(t, `{}`, far); wrong(t, result.Model, far) != 0 || !modelOf(t, result).separated {
		t.Errorf("outcomes %+v", outcomes(t, result.Model, far))
	}
	// An empty text, and a text of unknown words, have only the bias.
	texts := []jobstest.Record{{Label: "spam", Text: "win money"}, {Label: "ham", Text: "see you"},
		{Label: "ham", Text: ""}}
	if o := outcomes(t, train(t, `{}`, texts).Model,
		[]jobstest.Record{{Text: ""}, {Text: "unheard"}}); o[0].Label != "ham" || o[1].Label != "ham" {
		t.Errorf("outcomes %+v", o)
	}
}

// A class weight multiplies the updates of its class, as a weight of its records does; and it makes its mistakes rarer.
func TestClassWeights(t *testing.T) {
	records := sectors(600, 2)
	weighted := slices.Clone(records)
	for i := range weighted {
		weighted[i].Weight = []float32{1, 4}[weighted[i].Label[1]-'0']
	}
	byClass, byRecord := train(t, `{"class_weights": {"c1": 4}}`, records), train(t, `{}`, weighted)
	if a, b := modelOf(t, byClass), modelOf(t, byRecord); !slices.Equal(a.weights, b.weights) ||
		!slices.Equal(a.sums, b.sums) || a.bound != b.bound {
		t.Errorf("weights %v by class, %v by record", a.weights, b.weights)
	}
	missed := func(model jobs.Arrays) (n int) {
		for i, o := range outcomes(t, model, records) {
			if records[i].Label == "c1" && o.Label == "c0" {
				n++
			}
		}
		return n
	}
	if plain, dear := missed(train(t, `{}`, records).Model), missed(byClass.Model); dear >= plain {
		t.Errorf("%d of a class missed with weight 4, %d without", dear, plain)
	}
}

// A vote is that of every vector, counted one by one.
func TestVotesAreThoseOfEveryVector(t *testing.T) {
	for _, form := range []string{"voted", "unweighted"} {
		for _, classes := range []int{2, 3} {
			records := sectors(700, classes)
			result := train(t, fmt.Sprintf(`{"form": %q, "epochs": 2}`, form), jobstest.Deal(records, 2)...)
			m := modelOf(t, result)
			for i, o := range outcomes(t, result.Model, records) {
				votes := make([]float64, classes)
				for k, c := range m.survived {
					l := NewLearner(m.Setup, kernelops.Generic())
					if l.weights = m.weights; k < m.votes() {
						l.weights = m.vectors[k*m.size() : (k+1)*m.size()]
					}
					if form == "unweighted" {
						c = min(c, 1)
					}
					l.rate(Row{Values: records[i].Dense})
					if classes > 2 {
						votes[rank.First(l.scores)] += float64(c)
					} else if l.scores[0] != 0 {
						votes[bit(l.scores[0] > 0)] += float64(c)
					}
				}
				if !slices.Equal(votes, o.Scores) && i > 0 && i < 50 {
					t.Fatalf("%s, record %d: votes %v, not %v", form, i, o.Scores, votes)
				}
			}
		}
	}
}
