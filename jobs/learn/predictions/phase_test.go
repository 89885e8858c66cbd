package predictions

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// reads is a predictor that reads the probability of class b in a record's text.
type reads struct{}

func (reads) Answers() jobs.Answers {
	return jobs.Answers{Labels: []string{"a", "b"}, Scale: jobs.Probabilities}
}

func (reads) Predict(_ context.Context, block *dataset.Block) (outcomes []jobs.Outcome, err error) {
	for _, text := range block.Texts {
		p, err := strconv.ParseFloat(string(text), 64)
		if err != nil {
			return nil, err
		}
		o := jobs.Outcome{Label: "a", Scores: []float64{1 - p, p}}
		if p > 0.5 {
			o.Label = "b"
		}
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

// Where scores take many rounds, they leave what one round leaves: the model, the parts and the metrics. Records
// without a label are predicted, and not judged.
func TestScoresInRounds(t *testing.T) {
	var records []jobstest.Record
	for i := range 40 {
		label := []string{"a", "b", ""}[i*7%3]
		records = append(records, jobstest.Record{Label: label, Text: fmt.Sprint(float64(i*11%40) / 40)})
	}
	model := jobs.Arrays{}
	model.PutText("weights", "3")
	spec := protocol.JobSpec{}
	spec.Spec.Evaluation = &protocol.Evaluation{}
	spec = spec.WithDefaults()
	run := func(scoring *evaluation.Scoring, shards int) jobstest.Result {
		p := Phase{Params: Params{Format: parts.CSV}, Of: jobs.EveryRecord, Scoring: scoring,
			Load:  func(jobs.Arrays, *kernelops.Set) (jobs.Predictor, error) { return reads{}, nil },
			Costs: func(jobs.Arrays, []string) (evaluation.Costs, error) { return nil, nil },
			End: func(model jobs.Arrays, written *parts.List) (jobs.Arrays, error) {
				if jobstest.Digest(model) == "" || len(model) != 1 {
					t.Errorf("a model of %d arrays", len(model))
				}
				result := jobs.Arrays{}
				result.PutText("rows", fmt.Sprint(written.Rows()))
				return result, nil
			}}
		result, err := jobstest.Run(t.Context(), jobs.Phases(p.Phases()), spec,
			jobstest.Shards(jobstest.Deal(records, shards), 3), kernelops.Generic(), jobstest.Grouping{},
			jobstest.WithModel(model))
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	scoring := evaluation.ScoringOf(spec)
	want := run(scoring, 1)
	got := run(scoring.Keeping(6), 3)
	if want.Rounds != 1 || got.Rounds < 4 {
		t.Errorf("%d and %d rounds", want.Rounds, got.Rounds)
	}
	if jobstest.Digest(got.Model) != jobstest.Digest(want.Model) {
		t.Error("another model")
	}
	if fmt.Sprintf("%s", got.Metrics) != fmt.Sprintf("%s", want.Metrics) {
		t.Errorf("%s\nnot\n%s", got.Metrics, want.Metrics)
	}
	var ranks evaluation.Rankings
	if err := jobs.ReadMetric(want.Metrics, "evaluation.ranking", &ranks); err != nil || len(ranks.Classes) != 1 ||
		ranks.Classes[0].Positive != 13 || ranks.Classes[0].Negative != 14 {
		t.Errorf("%+v, %v", ranks, err)
	}
}
