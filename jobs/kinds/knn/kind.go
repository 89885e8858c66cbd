package knn

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/pairwise"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// KindName is the kind in a spec.
const KindName = "NearestNeighbors"

// Kind is the search of nearest neighbors as a declared kind of job.
func Kind() jobs.Kind {
	return jobs.Kind{Name: KindName, UsesQueries: true, Evaluates: true, Params: params.Of[Params](),
		Summary: "The nearest neighbors of each query, exactly or by hashing: lists, votes or means.",
		New:     New, Describe: describe.Of(jobs.Load[model], (*model).describe), Predict: Load, Figures: Figures}
}

// plan is what all phases of a job know.
type plan struct {
	pairwise.Sides
	params   Params
	grain    grain
	seed     uint64
	holdsOut bool // spec.input.split keeps records out of the base
	bound    rows.Bound
	vectors  *features.Builder // nil where the metric compares texts
	named    bool              // records of spec.input have ids
	scoring  *evaluation.Scoring
	graph    *graph // nil where the result are lists and decisions
}

// New makes the algorithm: phases "index", "neighbors", "mistakes" and "base", and "draw" and "tune" where hash tables
// are chosen for a recall.
func New(spec protocol.JobSpec) (jobs.Algorithm, error) { return newSearch(spec, usual) }

func newSearch(spec protocol.JobSpec, g grain) (jobs.Algorithm, error) {
	own, err := params.Parse[Params](spec.Spec.Params)
	if err != nil {
		return nil, err
	}
	p := newPlan(own, spec, g)
	if p.Own != nil && !p.holdsOut && !own.LeaveOneOut && !own.StoreBase {
		return nil, protocol.SpecFault(
			"spec.params: without queries, split and leave_one_out there is nothing to search for; set store_base " +
				"for a model")
	}
	if err := p.checkScoring(); err != nil {
		return nil, err
	}
	if err := p.buildVectors(spec); err != nil {
		return nil, err
	}
	phases := jobs.Phases{p.indexPhase()}
	if own.tunes() {
		phases = append(phases, p.tunePhases()...)
	}
	phases = append(phases, p.search().Phases()...)
	return append(phases, p.basePhase()), nil
}

// checkScoring refuses a spec.evaluation that the mode has nothing for.
func (p *plan) checkScoring() error {
	switch {
	case p.scoring != nil && p.params.Mode == modeRegress:
		return p.scoring.CheckValues()
	case p.scoring != nil && p.params.Mode != modeClassify:
		return evaluation.Unscored("mode " + p.params.Mode)
	}
	return nil
}

// buildVectors says how records become vectors, unless the metric compares texts.
func (p *plan) buildVectors(spec protocol.JobSpec) (err error) {
	if p.params.Metric == edit {
		return nil
	}
	p.vectors, err = features.NewBuilder(p.params.Features, spec, p.params.options()...)
	return err
}

func newPlan(own Params, spec protocol.JobSpec, g grain) *plan {
	p := &plan{params: own, grain: g, scoring: evaluation.ScoringOf(spec), seed: spec.Spec.Repro.Seed,
		holdsOut: spec.Spec.Input.Split.HoldsOut(),
		Sides: pairwise.Sides{Base: jobs.TrainingRecords(spec), Number: evaluation.Number,
			QueriesNamed: spec.Spec.Input.HasIDs(), Drawn: spec.Spec.Evaluation != nil},
		named: spec.Spec.Input.HasIDs(),
		bound: rows.Bound{Most: spec.Spec.Run.MaxStateBytes, What: "the base takes",
			Hint: "Raise run.max_state_bytes, or leave params.store_base out: a search does not need it."}}
	switch {
	case spec.Spec.Queries != nil:
		p.QueriesNamed = spec.Spec.Queries.HasIDs()
	case p.holdsOut:
		p.Own = jobs.TestRecords(spec)
	default:
		p.Own = p.Base
	}
	return p
}

// options are what is asked of vectors.
func (p Params) options() []features.Option {
	options := []features.Option{features.NoClasses()}
	if p.Mode == modeClassify {
		options = []features.Option{features.Classes(1)}
	}
	if !p.Metric.plain() {
		options = append(options, features.Compares())
	}
	return options
}
