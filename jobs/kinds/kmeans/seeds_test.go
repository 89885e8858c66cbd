package kmeans

import (
	"context"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
)

// onlySeeds ends a job where Lloyd's rounds would begin, with the state as its model.
type onlySeeds struct{ jobs.Algorithm }

func (o onlySeeds) Phases() []jobs.Phase {
	phases := o.Algorithm.Phases()
	for i, p := range phases {
		if p.Name() == lloydName {
			phases[i] = stopHere{}
		}
	}
	return phases
}

func seedsOf(t *testing.T, params string, shards [][]jobstest.Record) []float64 {
	t.Helper()
	spec := specOf(params)
	result, err := jobstest.Run(t.Context(), onlySeeds{algorithmOf(t, spec)}, spec, jobstest.Shards(shards, 10),
		kernelops.Best(), jobstest.Grouping{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := jobs.Load[state](result.Model)
	if err != nil {
		t.Fatal(err)
	}
	return s.centers
}

// stopHere stands in for phase lloyd.
type stopHere struct{}

func (stopHere) Map(context.Context, jobs.Arrays, jobs.Leaf, jobs.Arrays, *kernelops.Set) (jobs.Arrays, jobs.Arrays,
	error) {
	return jobs.Arrays{}, nil, nil
}

func (stopHere) Merge(left, _ jobs.Arrays) (jobs.Arrays, error) { return left, nil }

func (stopHere) Step(_ context.Context, state jobs.Arrays, _ jobs.Round) (jobs.Next, error) {
	return jobs.Next{Done: true, State: state}, nil
}

func (stopHere) Name() string { return lloydName }
