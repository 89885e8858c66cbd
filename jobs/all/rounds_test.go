package all_test

import (
	"context"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/all/casetest"
)

// Algorithms that tell their rounds beforehand have as many, whatever the shards.
func TestRoundsThatAreKnown(t *testing.T) {
	for _, c := range []struct {
		kind, params string
		data         *casetest.Data
		run          casetest.Run
		want         int // 0: the data decide
	}{
		{"NaiveBayes", `{}`, casetest.Mails, casetest.Run{}, 2},
		{"NaiveBayes", `{}`, casetest.Mails, casetest.Run{Test: 0.3}, 3},
		{"NaiveBayes", `{}`, casetest.Mails, casetest.Run{Test: 0.3, More: `"evaluation":{},`}, 0},
		{"NaiveBayes", `{}`, casetest.Mails, casetest.Run{Folds: 2}, 0},
		{"GaussianNaiveBayes", `{}`, casetest.Iris(), casetest.Run{}, 2},
		{"GaussianNaiveBayes", `{}`, casetest.Iris(), casetest.Run{Test: 0.3}, 3},
		{"GaussianNaiveBayes", `{"features":{"scale":"robust"}}`, casetest.Iris(), casetest.Run{}, 0},
		{"NearestMean", `{"features":{"scale":"standard"}}`, casetest.Iris(), casetest.Run{}, 2},
		{"NearestMean", `{"features":{"scale":"robust"}}`, casetest.Iris(), casetest.Run{}, 0},
		{"NearestMean", `{}`, casetest.Iris(), casetest.Run{Test: 0.3}, 3},
		{"NearestMean", `{"pairs":true}`, casetest.Iris(), casetest.Run{Test: 0.3}, 0},
		{"Predict", `{}`, casetest.Iris(), casetest.Run{}, 1},
		{"Predict", `{}`, casetest.Iris(), casetest.Run{More: `"evaluation":{},`}, 0},
		{"KMeans", `{"k":2}`, casetest.Iris(), casetest.Run{}, 0},
	} {
		for _, shards := range []int{1, 3} {
			told, steps := 0, 0
			c.run.Data, c.run.Shards = c.data, shards
			c.run.Wrap = func(a jobs.Algorithm) jobs.Algorithm {
				told, _ = jobs.RoundsOf(a)
				if told == 0 {
					return a
				}
				var counted jobs.Phases
				for _, p := range a.Phases() {
					counted = append(counted, countedSteps{p, &steps})
				}
				return counted
			}
			casetest.Case{Name: c.kind, Kind: c.kind, Params: c.params}.Train(t, c.run)
			if told != c.want || steps != told {
				t.Errorf("%s %s %+v: %d rounds, %d told, want %d", c.kind, c.params, c.run, steps, told, c.want)
			}
		}
	}
}

type countedSteps struct {
	jobs.Phase
	steps *int
}

func (c countedSteps) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	*c.steps++
	return c.Phase.Step(ctx, state, round)
}
