package kernelperceptron

import (
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/params"
)

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
	Form         string              `json:"form"`
	Bias         bool                `json:"bias"`
	Epochs       int                 `json:"epochs"`
	Shuffle      bool                `json:"shuffle"`
	Budget       int                 `json:"budget"`
	Drop         string              `json:"drop"`
	ClassWeights params.ClassWeights `json:"class_weights,omitempty"`
	Costs        evaluation.Costs    `json:"costs,omitempty"`
	Features     features.Params     `json:"features"`
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
		params.Whole("budget", &p.Budget, 0, 0, maxBudget).
			Says("Most support vectors at a time; 0 for no bound. A model of form averaged or voted has all of them."),
		params.Choice("drop", &p.Drop, dropOldest, dropOldest, dropSmallest).
			Says("The support vector that a new one replaces when the budget is full."),
		p.ClassWeights.Parameter(),
		p.Costs.Parameter(evaluation.CostsJudge),
		p.Features.Section(),
	)
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
