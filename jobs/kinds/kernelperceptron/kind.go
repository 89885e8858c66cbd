package kernelperceptron

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/blocks"
	"github.com/gram-compute/gram/jobs/learn/classify"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// KindName is the kind in a spec.
const KindName = "KernelPerceptron"

// Kind is the kernel perceptron as a declared kind of job.
func Kind() jobs.Kind {
	return jobs.Kind{Name: KindName, UsesQueries: true, Evaluates: true, Params: params.Of[Params](),
		Summary: "Perceptrons with a kernel, which keep support vectors.",
		New:     New, Describe: describe.Of(readModel, (*model).describe),
		Predict: NewPredictor, Learn: learnOn, Figures: jobs.FiguresOf(readModel, (*model).figures)}
}

func learnOn(model jobs.Arrays, ops *kernelops.Set) (jobs.Learner, error) {
	o, err := Load(model, ops)
	if err != nil {
		return nil, err
	}
	return o.trained.reject.Learner(o, o.predict.Answers())
}

// job is what all phases of a job know.
type job struct{ classify.Job[Params] }

// New makes the algorithm: phases "features", "train" and, where there are records to judge the model on, "evaluate".
func New(spec protocol.JobSpec) (jobs.Algorithm, error) {
	read, err := classify.JobOf(spec, NewPredictor, func(p Params) evaluation.Costs { return p.Costs })
	if err != nil {
		return nil, err
	}
	j := job{read}
	space, err := features.NewBuilder(j.Params.Features, spec, features.Classes(2), features.Compares())
	if err != nil {
		return nil, err
	}
	phases := jobs.Phases{space.Planned(j.begin), (&trainPhase{j}).phase()}
	return j.Params.Algorithm(append(phases, j.Judge.Phases()...), false), nil
}

// The forms of the decision function.
const (
	formPlain    = "plain"
	formAveraged = "averaged"
	formVoted    = "voted"
)

// What a full budget drops.
const (
	dropOldest   = "oldest"
	dropSmallest = "smallest"
)

// Bounds of parameters.
const (
	maxEpochs = 10_000
	maxBudget = 1 << 24
)

// Params of a job of kind KernelPerceptron.
type Params struct {
	kernels.Params
	Form         string               `json:"form"`
	Bias         bool                 `json:"bias"`
	Epochs       int                  `json:"epochs"`
	Shuffle      bool                 `json:"shuffle"`
	Budget       int                  `json:"budget"`
	Drop         string               `json:"drop"`
	ClassWeights params.ClassWeights  `json:"class_weights,omitempty"`
	Costs        evaluation.Costs     `json:"costs,omitempty"`
	RejectBelow  evaluation.Rejection `json:"reject_below,omitempty"`
	Features     features.Params      `json:"features"`
	blocks.Size
}

// Parameters declares the parameters.
func (p *Params) Parameters() []params.Parameter {
	return append(p.Declare(kernels.Polynomial),
		params.Choice("form", &p.Form, "", formAveraged, formPlain, formVoted).Missing("averaged, plain with a budget").
			Says("Decision function: the mean of those after each record, the last one, or a vote of all."),
		params.Flag("bias", &p.Bias, true).Says("Adds the offset b.").From("Smola and Vishwanathan, Algorithm 4."),
		params.Whole("epochs", &p.Epochs, 10, 1, maxEpochs).
			Says("Most passes over the training records; one without a mistake is the last."),
		params.Flag("shuffle", &p.Shuffle, true).
			Says("Draws another order for each epoch; without it records come in the order of the input."),
		p.BlockParameter("A shuffle orders the blocks, and the records within each."),
		params.Whole("budget", &p.Budget, 0, 0, maxBudget).
			Says("Most support vectors at a time; 0 for no bound. A model of form averaged or voted has all of them."),
		params.Choice("drop", &p.Drop, dropOldest, dropOldest, dropSmallest).
			Says("The support vector that a new one replaces when the budget is full."),
		p.ClassWeights.Parameter(),
		p.Costs.Parameter(evaluation.CostsJudge),
		p.RejectBelow.Parameter(),
		p.Features.Section(),
	)
}

// Check rejects parameters that contradict each other.
func (p *Params) Check() error {
	if err := p.RejectBelow.Check(p.Costs, "", true); err != nil {
		return err
	}
	return p.Params.Check()
}

// Complete writes in the defaults of the kernel and of the form.
func (p *Params) Complete() {
	p.Params = p.WithDefaults()
	switch {
	case p.Form == "" && p.Budget > 0:
		p.Form = formPlain
	case p.Form == "":
		p.Form = formAveraged
	}
}

// Bounds of what is learned: support vectors are dense, sparse records are filled up.
const (
	maxSparseWidth = 1 << 17
	maxClasses     = 1 << 12
)

// begin begins with f = 0. It checks the parameters that name labels, and what the records are.
func (j job) begin(_ jobs.Arrays, space *features.Space, plan jobs.Plan) (jobs.Next, error) {
	if plan.Blocks == 0 {
		return jobs.Next{}, blocks.Empty()
	}
	if err := j.check(space); err != nil {
		return jobs.Next{}, err
	}
	kernel, err := j.Params.Of(space.Width)
	if err != nil {
		return jobs.Next{}, err
	}
	s := newState(space, kernels.NewFunction(kernel, space), j.Params)
	return jobs.Next{Phase: trainName, State: jobs.ArraysOf(s), Trees: []int{1}}, nil
}

func (j job) check(space *features.Space) error {
	labels := space.Labels.List()
	if _, err := j.Params.ClassWeights.By(labels); err != nil {
		return err
	}
	if _, err := j.Params.Costs.Rule(labels); err != nil {
		return err
	}
	if space.Sparse && space.Width > maxSparseWidth || len(labels) > maxClasses {
		return protocol.InputFault(protocol.CodeInputLimit,
			"%d columns and %d classes are too many: %s takes up to %d columns of sparse vectors, which it fills "+
				"up, and %d classes",
			space.Width, len(labels), KindName, maxSparseWidth, maxClasses).
			WithHint("Make the vectors narrower (for text: max_features, min_df); kind Perceptron takes any width.")
	}
	return nil
}
