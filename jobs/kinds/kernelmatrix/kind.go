package kernelmatrix

import (
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/blocks"
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

// plan is what all phases know.
type plan struct {
	params  Params
	seed    uint64
	train   jobs.Records
	queries bool           // rows are spec.queries; without them the matrix is symmetric
	heldOut bool           // some records of spec.input are
	ways    [2]dataset.Way // how records are named, by jobs.Source
}

func (p *plan) way(of jobs.Source) dataset.Way { return p.ways[of] }

// function is the kernel over a space.
func (p *plan) function(space *features.Space) (kernels.Function, error) {
	k, err := p.params.Of(space.Width)
	return kernels.NewFunction(k, space), err
}

// New makes the algorithm: phases "records" and "tiles" and, where records are held out, "held_out" between them.
func New(spec protocol.JobSpec) (jobs.Algorithm, error) {
	own, err := params.Parse[Params](spec.Spec.Params)
	if err != nil {
		return nil, err
	}
	space, err := features.NewBuilder(own.Features, spec, features.NoClasses(), features.Compares())
	if err != nil {
		return nil, err
	}
	p := &plan{own, spec.Spec.Repro.Seed, jobs.TrainingRecords(spec), spec.Spec.Queries != nil,
		spec.Spec.Input.Split.Test > 0,
		[2]dataset.Way{jobs.WayOf(spec.Spec, jobs.Input), jobs.WayOf(spec.Spec, jobs.Queries)}}
	phases := jobs.Phases{(&recordsPhase{p, space}).phase(), (&tilesPhase{p}).phase()}
	if p.heldOut {
		phases = slices.Insert(phases, 1, (&heldOutPhase{p}).phase())
	}
	return own.Algorithm(phases, p.queries), nil
}

// Params of a job of kind KernelMatrix.
type Params struct {
	kernels.Params
	Tile      int               `json:"tile"`
	PSDSample int               `json:"psd_sample"`
	MaxBytes  protocol.ByteSize `json:"max_bytes"`
	Features  features.Params   `json:"features"`
	blocks.Size
}

// Bounds of parameters.
const (
	defaultTile     = 2048
	maxTile         = 1 << 13
	maxSample       = 256
	defaultMaxBytes = 64 << 30
)

// Parameters declares the parameters.
func (p *Params) Parameters() []params.Parameter {
	return append(p.Declare(kernels.Linear),
		params.Whole("tile", &p.Tile, defaultTile, 1, maxTile).Says("Most rows, and most columns, of a file."),
		p.BlockParameter("A tile lies in one block of rows and one of columns."),
		params.Whole("psd_sample", &p.PSDSample, maxSample, 0, maxSample).
			Says("Records drawn for the eigenvalues; 0 for none."),
		params.Bytes("max_bytes", &p.MaxBytes, defaultMaxBytes).
			Says("Most bytes of all tiles together. A larger matrix fails before any of it is computed."),
		p.Features.Section(),
	)
}

// Check rejects a scale that needs more passes than the one that is made.
func (p *Params) Check() error {
	if err := p.Params.Check(); err != nil {
		return err
	}
	if err := p.Features.CheckOnePass(KindName); err != nil {
		return err
	}
	return p.Features.CheckUnseen(KindName)
}

// Complete writes in the defaults of the kernel.
func (p *Params) Complete() { p.Params = p.WithDefaults() }
