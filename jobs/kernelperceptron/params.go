package kernelperceptron

import (
	"encoding/json"
	"maps"
	"slices"
	"sort"

	"github.com/gram-compute/gram/jobs/evaluation"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/kernels"
	"github.com/gram-compute/gram/jobs/validate"
	"github.com/gram-compute/gram/protocol"
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
	minWeight = 1e-6
	maxWeight = 1e6
)

// Params of a job of kind KernelPerceptron.
type Params struct {
	kernels.Params
	// Form is "averaged" (the default without a budget), "plain" (the default with one) or "voted".
	Form string `json:"form"`
	// Bias adds the offset b of Algorithm 4.
	Bias bool `json:"bias"`
	// Epochs is the most passes over the training records; one without a mistake is the last.
	Epochs int `json:"epochs"`
	// Shuffle draws another order for each epoch; without it records come in the order of the input.
	Shuffle bool `json:"shuffle"`
	// Budget bounds the support vectors that f has at a time, 0 for no bound. Drop says which one a new one
	// replaces, "oldest" or "smallest". A model of form averaged or voted has all that there were.
	Budget int    `json:"budget"`
	Drop   string `json:"drop"`
	// ClassWeights scale the steps of mistakes on records of a label; 1 where it is not named.
	ClassWeights map[string]float64 `json:"class_weights,omitempty"`
	// Costs of decisions are added up by the evaluation. They do not change the decisions, as scores
	// are no probabilities; class_weights do.
	Costs    evaluation.Costs `json:"costs,omitempty"`
	Features features.Params  `json:"features"`
}

// DefaultParams are ten epochs with the polynomial kernel of degree 2.
func DefaultParams() Params {
	return Params{Params: kernels.Params{Kernel: kernels.Polynomial}, Bias: true, Epochs: 10,
		Shuffle: true, Drop: dropOldest, Features: features.DefaultParams()}
}

// Defaults returns params with every default written in; a *protocol.Fault of
// CodeSpecInvalid says what is wrong with them.
func Defaults(params json.RawMessage) (json.RawMessage, error) {
	p, err := parseParams(params)
	if err != nil {
		return nil, err
	}
	return json.Marshal(p)
}

func parseParams(params json.RawMessage) (Params, error) {
	p := DefaultParams()
	if err := validate.Decode(params, &p); err != nil {
		return Params{}, err
	}
	p.Params = p.WithDefaults()
	switch {
	case p.Form == "" && p.Budget > 0:
		p.Form = formPlain
	case p.Form == "":
		p.Form = formAveraged
	}
	if err := p.check(); err != nil {
		return Params{}, validate.In("spec.params", err)
	}
	return p, nil
}

func (p Params) check() error {
	for _, err := range []error{
		p.Params.Check(),
		validate.OneOf("form", p.Form, formAveraged, formPlain, formVoted),
		validate.OneOf("drop", p.Drop, dropOldest, dropSmallest),
		validate.Within("epochs", p.Epochs, 1, maxEpochs),
		validate.Within("budget", p.Budget, 0, maxBudget),
		p.checkWeights(), p.Costs.Check(), validate.In("features", p.Features.Check()),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func (p Params) checkWeights() error {
	for _, label := range slices.Sorted(maps.Keys(p.ClassWeights)) {
		if w := p.ClassWeights[label]; !(w >= minWeight && w <= maxWeight) {
			return protocol.SpecFault(
				"class_weights: the weight of %q is from %g to %g, not %v", label, minWeight, maxWeight, w)
		}
	}
	return nil
}

// steps are the class weights by the number of their labels, which are in byte order.
func (p Params) steps(labels []string) ([]float64, error) {
	steps := make([]float64, len(labels))
	for i := range steps {
		steps[i] = 1
	}
	for _, label := range slices.Sorted(maps.Keys(p.ClassWeights)) {
		i := sort.SearchStrings(labels, label)
		if i == len(labels) || labels[i] != label {
			const unknown = "spec.params: class_weights name the label %q, which no training record has"
			return nil, protocol.SpecFault(unknown, label).Suggest(label, labels)
		}
		steps[i] = p.ClassWeights[label]
	}
	return steps, nil
}
