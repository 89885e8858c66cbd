package knn

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// KindName is the kind in a spec.
const KindName = "NearestNeighbors"

// Kind is the search of nearest neighbors as a declared kind of job.
func Kind() jobs.Kind {
	return jobs.Kind{Name: KindName, UsesQueries: true, Params: params.Of[Params](),
		Summary: "The nearest neighbors of each query, exactly: lists, votes or means.",
		New:     New, Describe: Describe, Predict: Load, Figures: Figures}
}

// plan is what all phases of a job know.
type plan struct {
	params      Params
	seed        uint64
	train, test jobs.Records
	holdsOut    bool // spec.input.split keeps records out of the base
	queries     bool // there are spec.queries
	maxState    protocol.ByteSize
}

// algorithm is a list of phases.
type algorithm []jobs.Phase

func (a algorithm) Phases() []jobs.Phase { return a }

// New makes the algorithm: phases "index", "neighbors", "mistakes" and "base".
func New(spec protocol.JobSpec) (jobs.Algorithm, error) {
	own, err := params.Parse[Params](spec.Spec.Params)
	if err != nil {
		return nil, err
	}
	p := &plan{params: own, seed: spec.Spec.Repro.Seed, train: jobs.TrainingRecords(spec), test: jobs.TestRecords(spec),
		holdsOut: spec.Spec.Input.Split.Test > 0, queries: spec.Spec.Queries != nil, maxState: spec.Spec.Run.MaxStateBytes}
	if !p.queries && !p.holdsOut && !own.LeaveOneOut && !own.StoreBase {
		return nil, protocol.SpecFault(
			"spec.params: without queries, split and leave_one_out there is nothing to search for; set store_base " +
				"for a model")
	}
	inner, err := p.inner(spec)
	if err != nil {
		return nil, err
	}
	return algorithm{&indexPhase{inner, p}, &neighborsPhase{p}, p.lookUp().Phase(), &basePhase{p}}, nil
}

// inner is the phase that learns what the records look like.
func (p *plan) inner(spec protocol.JobSpec) (jobs.Phase, error) {
	if p.params.Metric == edit {
		return (&textsPhase{p}).phase(), nil
	}
	options := []features.Option{features.NoClasses()}
	if p.params.Mode == modeClassify {
		options = []features.Option{features.Classes(1)}
	}
	if p.params.Metric != hamming {
		options = append(options, features.Compares())
	}
	return features.New(p.params.Features, spec, neighborsName, options...)
}

// ownQueries are the records of the base that are queries, where there are no others.
func (p *plan) ownQueries() jobs.Records {
	if p.holdsOut {
		return p.test
	}
	return p.train
}
