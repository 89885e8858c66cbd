package naivebayes

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// A block is predicted as its texts are one by one.
func TestPredictorAgreesWithClassifier(t *testing.T) {
	records := slices.Concat(rapid.Custom(manyRecords).Example(8)...)
	for _, params := range []string{`{}`, `{"reject_below": 0.5}`, `{"costs": {"x": {"y": 7, "z": 0.5}}}`} {
		model := modelOf(t, params, records)
		c, err := NewClassifier(model)
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewPredictor(model, kernelops.Best())
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Answers(); !slices.Equal(got.Labels, []string{"x", "y", "z"}) ||
			!slices.Equal(got.Scores, got.Labels) {
			t.Errorf("answers %+v", got)
		}
		for block, err := range jobstest.Shards([][]jobstest.Record{records}, 7)[0](t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			outcomes, err := p.Predict(t.Context(), block)
			if err != nil || len(outcomes) != len(block.IDs) {
				t.Fatal(len(outcomes), err)
			}
			for i, o := range outcomes {
				want, err := c.Classify(string(block.Texts[i]))
				if err != nil {
					t.Fatal(err)
				}
				if o.Label != want.Label || o.Rejected != want.Rejected {
					t.Fatalf("%s: %q is %+v, not %+v", params, block.Texts[i], o, want)
				}
				for _, s := range want.Scores {
					if y := slices.Index(p.Answers().Scores, s.Label); o.Scores[y] != s.Posterior {
						t.Fatalf("posterior of %s: %v, not %v", s.Label, o.Scores[y], s.Posterior)
					}
				}
			}
		}
	}
}

func TestPredictorRefusesVectors(t *testing.T) {
	p, err := NewPredictor(modelOf(t, `{}`, fourDocuments), kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Predict(t.Context(), &dataset.Block{IDs: []dataset.Identity{{Object: "o", Offset: 7}},
		Dense: dataset.Dense{Width: 1, Values: []float32{1}}})
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord || *fault != *fault.WithOffset(7) {
		t.Error(err)
	}
}

// The prior of ham is 3/4, and a document without a known word has the prior alone: missing spam
// must cost three times as much as a false alarm before such a document is spam.
func TestCostsByHand(t *testing.T) {
	for _, c := range []struct{ params, want string }{
		{`{}`, "ham"},
		{`{"costs": {}}`, "ham"},
		{`{"costs": {"spam": {"ham": 2.9}}}`, "ham"},
		{`{"costs": {"spam": {"ham": 3.1}}}`, "spam"},
		{`{"costs": {"spam": {"ham": 3.1}, "ham": {"spam": 2}}}`, "ham"},
	} {
		classifier, err := NewClassifier(modelOf(t, c.params, fourDocuments))
		if err != nil {
			t.Fatal(err)
		}
		p, err := classifier.Classify("")
		if err != nil || p.Label != c.want || p.Scores[0].Label != "ham" {
			t.Errorf("%s: %+v, %v", c.params, p, err)
		}
	}
}

func TestCostsAreRefused(t *testing.T) {
	for _, params := range []string{
		`{"costs": {"spam": {"ham": -1}}}`,
		`{"costs": {"spam": {"ham": 2}}, "reject_below": 0.5}`,
		`{"costs": {"spam": {"ham": 2}}, "positive": "spam"}`,
	} {
		_, err := Kind().Defaults([]byte(params))
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeSpecInvalid {
			t.Errorf("%s: %v", params, err)
		}
	}
	_, err := train(t, specOf(`{"costs": {"spm": {"ham": 2}}}`, 0), inShards(fourDocuments, 2))
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != protocol.CodeSpecInvalid || fault.Hint != `Did you mean "spam"?` {
		t.Error(err)
	}
	model := modelOf(t, `{"costs": {"spam": {"ham": 2}}}`, fourDocuments)
	jobs.PutScalar(model, "reject_below", 0.5)
	_, err = NewClassifier(model)
	wantCorrupt(t, "costs and rejection", err)
}
