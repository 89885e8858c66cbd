package all_test

import (
	"context"
	"fmt"
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

// No case takes more rounds of a phase than the phase says, whether it runs once, or without each of two folds. What is
// judged by scores has phases that only the data bound.
func TestRoundsAreBounded(t *testing.T) {
	for _, c := range casetest.Of(t, casetest.Golden) {
		for _, run := range []casetest.Run{{Data: c.Phases}, {Data: c.Phases, Shards: 3, Block: 3}} {
			t.Run(fmt.Sprintf("%s/%d", c.Name, run.Shards), func(t *testing.T) {
				t.Parallel()
				bounds := &boundRounds{most: map[string]int64{}, took: map[string]int64{}}
				run.Wrap = bounds.wrap(max(run.Shards, 2))
				c.Train(t, run)
				for name, took := range bounds.took { //lint:ordered each is checked by itself
					if most := bounds.most[name]; most < 0 && name != "ranks" || most >= 0 && took > most {
						t.Errorf("%d rounds of phase %s, at most %d told", took, name, most)
					}
				}
				if bounds.total < bounds.sum {
					t.Errorf("%d rounds, at most %d told", bounds.sum, bounds.total)
				}
			})
		}
	}
}

// boundRounds counts the rounds of each phase. Those of linear models share a bound.
type boundRounds struct {
	most, took map[string]int64
	sum, total int64
}

func (b *boundRounds) wrap(shards int) func(jobs.Algorithm) jobs.Algorithm {
	return func(a jobs.Algorithm) jobs.Algorithm {
		plan := jobs.Plan{Shards: shards}
		b.total, _ = jobs.MostRounds(a.Phases(), plan)
		counted := jobs.Blocked{Records: jobs.BlocksOf(a)}
		for _, p := range a.Phases() {
			b.most[p.Name()] = p.(jobs.Repeater).MostRounds(plan)
			counted.List = append(counted.List, boundSteps{p, b})
		}
		if b.most["ascend"] == 0 {
			b.most["ascend"] = b.most["newton"]
		}
		if counted.Records.Any() {
			return counted
		}
		return counted.List
	}
}

type boundSteps struct {
	jobs.Phase
	bounds *boundRounds
}

func (s boundSteps) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	s.bounds.took[s.Name()]++
	s.bounds.sum++
	return s.Phase.Step(ctx, state, round)
}
