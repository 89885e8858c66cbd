package linearmodel

import (
	"math"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/blocks"
	"github.com/gram-compute/gram/jobs/learn/classify"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/dual"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/margin"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// KindName is the kind in a spec.
const KindName = "LinearModel"

// Kind is the linear model as a declared kind of job.
func Kind() jobs.Kind {
	return jobs.Kind{Name: KindName, UsesQueries: true, Evaluates: true, UsesModel: true, Params: params.Of[Params](),
		Summary: "Linear support vector machines and regression by their duals, with a proved gap.",
		New:     New, Describe: describe.Of(readModel, (*model).describe),
		Predict: NewPredictor, Learn: learnOn, Figures: jobs.FiguresOf(readModel, (*model).figures),
		LeastState: leastState}
}

// Bounds of parameters.
const (
	maxRounds  = 100_000
	maxNumbers = 1 << 27 // weights of all machines
)

// Params of a job of kind LinearModel.
type Params struct {
	Mode         string               `json:"mode"`
	Loss         string               `json:"loss"`
	Epsilon      float64              `json:"epsilon"`
	Classes      string               `json:"classes"`
	C            float64              `json:"C"`
	Solver       string               `json:"solver"`
	Tol          float64              `json:"tol"`
	MaxRounds    int                  `json:"max_rounds"`
	BiasScale    float64              `json:"bias_scale"`
	ClassWeights params.ClassWeights  `json:"class_weights,omitempty"`
	Costs        evaluation.Costs     `json:"costs,omitempty"`
	RejectBelow  evaluation.Rejection `json:"reject_below,omitempty"`
	margin.Outputs
	Features features.Params `json:"features"`
	blocks.Number
}

// Parameters declares the parameters.
func (p *Params) Parameters() []params.Parameter {
	return append([]params.Parameter{
		p.modeParameter(),
		p.lossParameter(),
		p.epsilonParameter(),
		p.classesParameter(),
		params.Number("C", &p.C, 1, "[1e-9, 1e9]").
			Says("Factor of the losses, beside half the squared length of the weights; the larger, the weaker the regularization."),
		params.Choice("solver", &p.Solver, solverAuto, solverAuto, newtonName, ascendName).
			Says("newton takes few rounds and a matrix of columns by columns; ascend changes one coefficient at a time, in each " +
				"block by itself; auto takes newton where all matrices together have at most 2^18 numbers."),
		params.Number("tol", &p.Tol, 1e-3, "[1e-9, 1)").
			Says("Proved gap at which a machine is done, as a part of its primal objective."),
		params.Whole("max_rounds", &p.MaxRounds, 1000, 1, maxRounds).
			Says("Most rounds; the model has the gap that was proved by then."),
		params.Number("bias_scale", &p.BiasScale, 1, "[0, 1e6]").
			Says("Number in the column whose weight is the bias, 0 for no bias; the larger, the less the bias is penalized."),
		p.ClassWeights.Parameter(),
		p.NumberParameter(4, "A round has a leaf for each, so no more workers are busy; with solver ascend, more blocks take "+
			"more rounds."),
		p.Costs.Parameter(evaluation.CostsJudge),
		p.RejectBelow.Parameter(),
		p.Features.Section(),
	}, p.Outputs.Parameters(p.needMargin)...)
}

// job is what all phases of a job know.
type job struct {
	classify.Job[Params]
	way  dataset.Way // how training records are named
	warm bool        // begins from spec.model
}

// New makes the algorithm: the phases of the package.
func New(spec protocol.JobSpec) (jobs.Algorithm, error) {
	read, err := classify.JobOf(spec, NewPredictor, func(p Params) evaluation.Costs { return p.Costs })
	if err != nil {
		return nil, err
	}
	if read.Params.regresses() {
		if err := evaluation.ScoringOf(spec).CheckValues(); err != nil {
			return nil, err
		}
	}
	j := job{read, jobs.WayOf(spec.Spec, jobs.Input), spec.Spec.Model != ""}
	space, err := features.NewBuilder(j.Params.Features, spec, j.Params.labels(), features.Compares())
	if err != nil {
		return nil, params.In("spec.params", err)
	}
	if err := j.checkWidth(spec.Spec); err != nil {
		return nil, err
	}
	phases := jobs.Phases{space.Planned(j.begin), (&newtonPhase{j}).phase(), (&ascendPhase{j}).phase()}
	phases = append(phases, j.Judge.Phases()...)
	return j.Params.Algorithm(phases), nil
}

// begin begins with weights of zero, or those of spec.model, and checks the parameters with the space.
func (j job) begin(state jobs.Arrays, space *features.Space, plan jobs.Plan) (jobs.Next, error) {
	if plan.Blocks == 0 {
		return jobs.Next{}, blocks.Empty()
	}
	costs, err := j.costs(space.Labels.List())
	if err != nil {
		return jobs.Next{}, err
	}
	m, err := j.first(state, space, costs)
	if err != nil {
		return jobs.Next{}, err
	}
	t := training{model: m, now: make([]float64, len(m.weights)), done: make([]int32, m.machines())}
	copy(t.now, m.weights)
	next := jobs.Next{Phase: ascendName, Trees: []int{plan.Blocks}}
	if next.Phase, err = j.solver(m); err != nil {
		return jobs.Next{}, err
	}
	if next.Phase == newtonName {
		next.State = jobs.ArraysOf(newNewton(t, j.warm))
	} else {
		next.State = jobs.ArraysOf(newAscend(t, plan.Blocks, j.warm))
	}
	return next, nil
}

// costs are those of a record that weighs 1, by its class; of regression there is one.
func (j job) costs(labels []string) ([]float64, error) {
	if j.Params.regresses() {
		return []float64{j.Params.C}, nil
	}
	if _, err := j.Params.Costs.Rule(labels); err != nil {
		return nil, err
	}
	return j.Params.ClassWeights.Costs(j.Params.C, labels)
}

// first is the model that training begins with.
func (j job) first(state jobs.Arrays, space *features.Space, costs []float64) (*model, error) {
	m := &model{space: space, loss: j.Params.loss(), regresses: j.Params.regresses(), biasScale: j.Params.BiasScale,
		costs: costs, reject: j.Params.RejectBelow}
	var base *model
	if j.warm {
		var err error
		if base, err = j.base(state, space); err != nil {
			return nil, err
		}
		m.space = base.space
	}
	if m.paired = j.Params.Classes == oneVsOne && m.space.Labels.Len() > 2; m.paired {
		if err := checkPairs(m.space.Labels.Len()); err != nil {
			return nil, err
		}
	}
	if m.space.Width >= math.MaxInt32 || m.machines() > maxNumbers/m.stride() {
		return nil, protocol.InputFault(protocol.CodeInputLimit,
			"%d machines of %d columns are more than 2^27 weights", m.machines(), m.space.Width).
			WithHint("Make the vectors narrower (for text: max_features, min_df).")
	}
	if m.begin(); base != nil {
		copy(m.weights, base.weights)
	}
	return m, nil
}

// The solvers.
const (
	solverAuto = "auto"

	// Numbers of the Hessians of all machines: up to which auto takes Newton's method, and which there may be.
	autoNumbers   = 1 << 18
	newtonNumbers = 1 << 20
)

// mostRounds bounds the rounds of a solver, of which a job has one: a round after those of the training writes what was
// asked for. Those of the solver that is not taken, or is counted with the other, are 0.
func (j job) mostRounds(counts bool) func(jobs.Plan) int64 {
	if !counts {
		return jobs.Most(0)
	}
	return jobs.Most(int64(j.Params.MaxRounds) + 1)
}

// solver is the phase that trains a model.
func (j job) solver(m *model) (string, error) {
	n := m.stride()
	most := newtonNumbers / max(1, m.machines())
	fits := n < 1<<15 && dual.TriangleLen(n) <= most
	switch {
	case j.Params.Solver == newtonName && !fits:
		return "", protocol.InputFault(protocol.CodeInputLimit,
			"solver newton keeps %d matrices of %d x %d numbers, more than 2^20 in all", m.machines(), n, n).
			WithHint("Take solver: ascend, or make the vectors narrower.")
	case j.Params.Solver != solverAuto:
		return j.Params.Solver, nil
	case fits && m.machines()*dual.TriangleLen(n) <= autoNumbers:
		return newtonName, nil
	}
	return ascendName, nil
}
