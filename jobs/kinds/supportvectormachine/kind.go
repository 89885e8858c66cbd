package supportvectormachine

import (
	"fmt"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/blocks"
	"github.com/gram-compute/gram/jobs/learn/classify"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/learn/margin"
	"github.com/gram-compute/gram/jobs/learn/semidefinite"
	"github.com/gram-compute/gram/jobs/learn/voting"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// KindName is the kind in a spec.
const KindName = "SupportVectorMachine"

// Kind is the support vector machine as a declared kind of job.
func Kind() jobs.Kind {
	return jobs.Kind{Name: KindName, UsesQueries: true, Evaluates: true, Params: params.Of[Params](),
		Summary: "Support vector machines with a kernel, with a proved gap.",
		New:     New, Describe: describe.Of(readModel, (*model).describe),
		Predict: NewPredictor, Figures: jobs.FiguresOf(readModel, (*model).figures)}
}

// Bounds of parameters and of what is learned: sparse records are filled up.
const (
	maxRounds      = 1_000_000
	maxWorkingSet  = 4096
	maxSparseWidth = 1 << 17
	maxClasses     = 128
)

// Params of a job of kind SupportVectorMachine.
type Params struct {
	kernels.Params
	Mode         string                    `json:"mode"`
	Epsilon      float64                   `json:"epsilon"`
	Nu           float64                   `json:"nu"`
	Novelty      *evaluation.NoveltyParams `json:"novelty,omitempty"`
	Clip         bool                      `json:"clip,omitempty"`
	C            float64                   `json:"C"`
	Tol          float64                   `json:"tol"`
	WorkingSet   int                       `json:"working_set"`
	MaxRounds    int                       `json:"max_rounds"`
	ClassWeights params.ClassWeights       `json:"class_weights,omitempty"`
	Costs        evaluation.Costs          `json:"costs,omitempty"`
	RejectBelow  evaluation.Rejection      `json:"reject_below,omitempty"`
	margin.Outputs
	Probabilities
	Dividing
	Features features.Params `json:"features"`
	blocks.Number
}

// Parameters declares the parameters.
func (p *Params) Parameters() []params.Parameter {
	list := append(p.modeParameters(), p.DeclareGiven(kernels.RBF)...)
	list = append(list,
		params.Flag("clip", &p.Clip, false).
			Says("Sets negative eigenvalues of a precomputed kernel to 0, with up to 2,000 records. Without it, a matrix that is "+
				"proved to have one is refused."),
		params.Number("C", &p.C, 1, "[1e-9, 1e9]").
			Says("Cost per unit of what a record lacks to the margin, or in mode regress exceeds epsilon by. Times the record's "+
				"weights, it bounds the coefficient."),
		params.Number("tol", &p.Tol, 1e-3, "[1e-12, 1)").
			Says("Violation of the conditions of Karush, Kuhn and Tucker at which a machine is done. At the end it is measured "+
				"with kernel values in float64.").From("Chang and Lin, LIBSVM, section 4.1.2."),
		params.Whole("working_set", &p.WorkingSet, 1024, 4, maxWorkingSet).
			Says("Most coefficients of a machine that one round changes. Above 512 they are at most a quarter of its records."),
		params.Whole("max_rounds", &p.MaxRounds, 20_000, 1, maxRounds).
			Says("Most rounds of training; two more rounds prove the violation and the gap that were reached."),
		p.ClassWeights.Parameter(),
		p.NumberParameter(4, "A round has a leaf for each, so no more workers are busy."),
		p.Costs.Parameter(evaluation.CostsJudge),
		p.RejectBelow.Parameter(),
		p.Features.Section(),
	)
	list = append(list, p.probabilityParameter(), p.clusterParameter(), p.earlyParameter())
	return append(list, p.Outputs.Parameters(p.needMargin)...)
}

// Complete writes in the defaults of the kernel.
func (p *Params) Complete() { p.Params = p.WithDefaults() }

// job is what all phases of a job know.
type job struct {
	classify.Job[Params]
	way dataset.Way // how training records are named
	// most is how many columns a given matrix has at most that is gathered.
	most      int
	whole     bool                 // no record is left out of rounds
	detection evaluation.Detection // of one class
}

// New makes the algorithm: the phases of the package.
func New(spec protocol.JobSpec) (jobs.Algorithm, error) {
	return newOf(spec, semidefinite.MaxOrder, false)
}

func newOf(spec protocol.JobSpec, most int, whole bool) (jobs.Algorithm, error) {
	read, err := classify.JobOf(spec, NewPredictor, func(p Params) evaluation.Costs { return p.Costs })
	if err != nil {
		return nil, err
	}
	if read.Params.regresses() {
		if err := evaluation.ScoringOf(spec).CheckValues(); err != nil {
			return nil, err
		}
	}
	j := job{Job: read, way: jobs.WayOf(spec.Spec, jobs.Input), most: most, whole: whole}
	options, judging := []features.Option{j.Params.labels()}, j.Judge.Phases()
	if !j.Params.Given() {
		options = append(options, features.Compares()) // given values are no vectors, and take no scale
	}
	if j.Params.oneClass() {
		if err := j.detects(spec); err != nil {
			return nil, err
		}
		options, judging = append(options, features.Of(j.Train, j.detection.Novel)), j.detection.Phases()
	}
	space, err := features.NewBuilder(j.Params.Features, spec, options...)
	if err != nil {
		return nil, params.In("spec.params", err)
	}
	phases := jobs.Phases{space.Planned(j.begin), (&trainPhase{j}).phase()}
	if j.Params.Given() {
		phases = append(phases, (&matrixPhase{j}).phase())
	}
	return j.Params.Algorithm(append(phases, judging...)), nil
}

// begin begins with coefficients of 0, and checks the parameters with the space.
func (j job) begin(_ jobs.Arrays, space *features.Space, plan jobs.Plan) (jobs.Next, error) {
	if plan.Blocks == 0 {
		return jobs.Next{}, blocks.Empty()
	}
	costs, err := j.costs(space.Labels.List())
	if err != nil {
		return jobs.Next{}, err
	}
	if err := checkSize(space); err != nil {
		return jobs.Next{}, err
	}
	if j.Params.oneClass() {
		if err := checkVaries(space); err != nil {
			return jobs.Next{}, err
		}
	}
	kernel, err := j.Params.Of(space.Width)
	if err != nil {
		return jobs.Next{}, err
	}
	m := &model{space: space, regresses: j.Params.regresses(), epsilon: j.Params.Epsilon,
		oneClass: j.Params.oneClass(), nu: j.Params.Nu, reject: j.Params.RejectBelow}
	first := trainName
	if j.Params.Given() {
		if m.given, err = j.matrixOf(space); err != nil {
			return jobs.Next{}, err
		}
		first = matrixName
	} else {
		m.kernel = kernels.NewFunction(kernel, space)
	}
	if err := j.Params.checkLocal(m.classes()); err != nil {
		return jobs.Next{}, err
	}
	s := newTraining(m)
	if j.Params.Clusters > 0 && space.Width > 0 {
		if s.stage = stageDivide; j.Params.Early {
			s.margins = nil
		}
	}
	if s.costs = costs; j.whole {
		s.whole = 1
	}
	if j.Params.Probability {
		s.calibrating = newCalibrating(len(s.bias))
	}
	return jobs.Next{Phase: first, State: jobs.ArraysOf(s), Trees: []int{plan.Blocks}}, nil
}

// costs are those of a record that weighs 1, by its class; of regression and of one class there is one.
func (j job) costs(labels []string) ([]float64, error) {
	if j.Params.regresses() || j.Params.oneClass() {
		return []float64{j.Params.C}, nil
	}
	if _, err := j.Params.Costs.Rule(labels); err != nil {
		return nil, err
	}
	return j.Params.ClassWeights.Costs(j.Params.C, labels)
}

// checkSize refuses more columns or classes than there may be.
func checkSize(space *features.Space) error {
	switch n := space.Labels.Len(); {
	case space.Sparse && space.Width > maxSparseWidth:
		return protocol.InputFault(protocol.CodeInputLimit, "%d columns are too many: %s takes up to %d columns of sparse "+
			"vectors, which it fills up", space.Width, KindName, maxSparseWidth).
			WithHint("Make the vectors narrower (for text: max_features, min_df); kind LinearModel takes any width.")
	case n > maxClasses:
		return protocol.InputFault(protocol.CodeInputLimit, "%d classes are too many: %s has a machine for each two of up "+
			"to %d", n, KindName, maxClasses).WithHint("Check spec.input.label; kind LinearModel takes any number.")
	}
	return nil
}

// checkLocal refuses more machines of clusters than there may be.
func (p *Params) checkLocal(classes voting.Classes) error {
	pairs := classes.Machines()
	if pairs == 0 || p.Clusters <= maxLocalMachines/pairs {
		return nil
	}
	return protocol.InputFault(protocol.CodeInputLimit, "%d clusters are too many for %d classes: with a machine for each "+
		"two classes and cluster they make %d, and %s trains up to %d", p.Clusters, classes, p.Clusters*pairs, KindName,
		maxLocalMachines).
		WithHint(fmt.Sprintf("Set clusters to %d at most, or leave them out.", maxLocalMachines/pairs))
}
