package predict_test

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/kinds/gaussiannb"
	"github.com/gram-compute/gram/jobs/kinds/kernelmean"
	"github.com/gram-compute/gram/jobs/kinds/naivebayes"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// Of classes at 0 and 10, each of variance 1 and half of the records, 100 is 10,000/2 and 8,100/2 from their means: the
// posterior of the first underflows to 0, and its logarithm is -950.
func TestLogPosteriorsByHand(t *testing.T) {
	model := trained(t, gaussiannb.Kind(), `{"var_smoothing": 1e-30}`,
		jobstest.DenseRecords([][]float32{{-1}, {1}, {9}, {11}}, "a", "a", "b", "b"))
	records := jobstest.DenseRecords([][]float32{{100}, {5}}, "b", "a")
	for params, want := range map[string]string{
		`{"scores": true, "log_posteriors": true}`: "object,offset,label,score:a,score:b,log_posterior:a,log_posterior:b\n" +
			"records,0,b,0,1,-950,0\nrecords,1,a,0.5,0.5,HALF,HALF\n",
		`{"log_posteriors": true}`: "object,offset,label,log_posterior:a,log_posterior:b\n" +
			"records,0,b,-950,0\nrecords,1,a,HALF,HALF\n",
		`{"log_posteriors": true, "reject_below": 0.75}`: "object,offset,label,log_posterior:a,log_posterior:b\n" +
			"records,0,b,-950,0\nrecords,1,,HALF,HALF\n",
		`{"log_posteriors": true, "format": "jsonl"}`: `{"object":"records","offset":0,"label":"b","log_posterior:a":-950,` +
			`"log_posterior:b":0}` + "\n" +
			`{"object":"records","offset":1,"label":"a","log_posterior:a":HALF,"log_posterior:b":HALF}` + "\n",
	} {
		result, err := run(t, params, model, records)
		if err != nil {
			t.Fatal(err)
		}
		want = strings.ReplaceAll(want, "HALF", strconv.FormatFloat(-math.Ln2, 'g', -1, 64))
		if got, index := joined(t, result.Files); got != want || len(index.Labels) != 2 {
			t.Errorf("%s:\n%s\nwant\n%s", params, got, want)
		}
		for _, m := range result.Metrics {
			if accuracy := `"accuracy":1,`; m.Name == "evaluation" && !strings.Contains(params, "reject") &&
				!strings.Contains(string(m.Value), accuracy) {
				t.Errorf("judged %s", m.Value)
			}
		}
	}
}

// The scores are judged as probabilities, whether their logarithms are written or not.
func TestLogPosteriorsChangeNoFigure(t *testing.T) {
	model := trained(t, gaussiannb.Kind(), `{}`,
		jobstest.DenseRecords([][]float32{{-1}, {1}, {2}, {9}, {11}}, "a", "a", "b", "b", "b"))
	records := jobstest.DenseRecords([][]float32{{100}, {5}, {1}, {3}, {0}}, "b", "a", "b", "b", "a")
	figures := func(params string) map[string]string {
		named := map[string]string{}
		result, err := judged(t, params, model, records)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range result.Metrics {
			named[m.Name] = string(m.Value)
		}
		return named
	}
	with, without := figures(`{"log_posteriors": true}`), figures(`{}`)
	if !strings.Contains(without["evaluation.scores"], `"log_loss"`) {
		t.Errorf("%s", without["evaluation.scores"])
	}
	if len(with) != len(without) {
		t.Errorf("%v\nand\n%v", with, without)
	}
	for name, value := range without {
		if with[name] != value {
			t.Errorf("%s: %s, without logarithms %s", name, with[name], value)
		}
	}
}

// Every kind that decides by Bayes' rule gives the logarithms of the posteriors that it gives.
func TestLogPosteriorsOfAllKinds(t *testing.T) {
	vectors := jobstest.DenseRecords([][]float32{{-1}, {1}, {2}, {5}, {9}}, "a", "a", "b", "b", "b")
	texts := []jobstest.Record{{Label: "a", Text: "one two"}, {Label: "b", Text: "two three"},
		{Label: "b", Text: "four"}}
	for _, c := range []struct {
		kind    jobs.Kind
		params  string
		records []jobstest.Record
	}{
		{gaussiannb.Kind(), `{}`, vectors}, {kernelmean.DensityKind(), `{}`, vectors}, {naivebayes.Kind(), `{}`, texts},
		{naivebayes.Kind(), `{"form": "bernoulli"}`, texts}, {naivebayes.Kind(), `{"form": "complement"}`, texts},
	} {
		p, err := c.kind.Predict(trained(t, c.kind, c.params, c.records), kernelops.Best())
		if err != nil {
			t.Fatal(err)
		}
		p.(jobs.LogPredictor).GiveLogs()
		for block, err := range jobstest.Shards([][]jobstest.Record{c.records}, 2)[0](t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			outcomes, err := p.Predict(t.Context(), block)
			if err != nil || !p.Answers().Logs {
				t.Fatal(err)
			}
			for _, o := range outcomes {
				if len(o.Logs) != 2 || math.Abs(math.Exp(o.Logs[0])-o.Scores[0]) > 1e-12 ||
					math.Abs(math.Exp(o.Logs[1])-o.Scores[1]) > 1e-12 {
					t.Errorf("%s %s: %v, logarithms %v", c.kind.Name, c.params, o.Scores, o.Logs)
				}
			}
		}
	}
}

func TestLogPosteriorsOfDistances(t *testing.T) {
	_, err := run(t, `{"log_posteriors": true}`, twoMeans(t), questions)
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != protocol.CodeSpecInvalid ||
		!strings.Contains(fault.Error(), "log_posteriors is of models with posteriors") ||
		!strings.Contains(fault.Error(), "NearestMean") {
		t.Errorf("%v", err)
	}
}
