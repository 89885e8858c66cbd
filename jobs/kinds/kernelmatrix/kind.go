package kernelmatrix

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// KindName is the kind in a spec.
const KindName = "KernelMatrix"

// Kind is the kernel matrix as a declared kind of job. It has nothing to predict with.
func Kind() jobs.Kind {
	return jobs.Kind{Name: KindName, UsesQueries: true, Params: params.Of[Params](),
		Summary: "Writes the values of a kernel between all records, or between queries and records, as tiles.",
		New:     New, Describe: describe.Of(jobs.Load[model], (*model).describe),
		Figures: jobs.FiguresOf(jobs.Load[model], (*model).figures), Certify: certify}
}

// plan is what both phases know.
type plan struct {
	params  Params
	seed    uint64
	train   jobs.Records
	queries bool // rows are spec.queries; without them the matrix is symmetric
}

// function is the kernel over a space.
func (p *plan) function(space *features.Space) (kernels.Function, error) {
	k, err := p.params.Of(space.Width)
	return kernels.NewFunction(k, space), err
}

// New makes the algorithm: phases "records" and "tiles".
func New(spec protocol.JobSpec) (jobs.Algorithm, error) {
	own, err := params.Parse[Params](spec.Spec.Params)
	if err != nil {
		return nil, err
	}
	space, err := features.NewBuilder(own.Features, spec, features.NoClasses(), features.Compares())
	if err != nil {
		return nil, err
	}
	p := &plan{own, spec.Spec.Repro.Seed, jobs.TrainingRecords(spec), spec.Spec.Queries != nil}
	return jobs.Phases{(&recordsPhase{p, space}).phase(), (&tilesPhase{p}).phase()}, nil
}
