package perceptron

import (
	"encoding/json"
	"maps"
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs/evaluation"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/validate"
	"github.com/gram-compute/gram/protocol"
)

// The ways over shards, and of mixing.
const (
	overChained = "chained"
	overMixed   = "mixed"

	mixChanged  = "changed"
	mixUniform  = "uniform"
	mixMistakes = "mistakes"
)

// Bounds of parameters.
const (
	maxEpochs      = 1_000
	maxVectorsEver = 1 << 20
	maxWeight      = 1e6
)

// Params of a job of kind Perceptron.
type Params struct {
	Form string `json:"form"` // "averaged", "plain", "voted" or "unweighted"
	// Classes is the rule for more than two classes: "argmax" or "one_vs_rest".
	Classes string `json:"classes"`
	Epochs  int    `json:"epochs"` // at most; an epoch without a mistake is the last
	// Over is "chained" (exactly the serial algorithm, one shard after the other) or "mixed" (all shards
	// at once, their weights mixed after each epoch).
	Over    string `json:"over"`
	Mixing  string `json:"mixing"` // of mixed: "changed", "uniform" or "mistakes"
	Shuffle bool   `json:"shuffle"`
	// ClassWeights multiply the updates of records by their label; 1 where none is given.
	ClassWeights map[string]float64 `json:"class_weights,omitempty"`
	Bias         bool               `json:"bias"`
	// Distinct, if above 0, gives each training record a feature of its own of that size.
	Distinct float64 `json:"distinct"`
	// MaxVectors is the most vectors that vote, beside the last; fewer, where a state has no room for that many. Of more
	// those with the most votes are kept.
	MaxVectors int `json:"max_vectors"`
	// Costs judge the decisions on test records, by true label and label decided. A perceptron
	// has no probabilities to decide by them: class_weights make mistakes dearer.
	Costs    evaluation.Costs `json:"costs,omitempty"`
	Features features.Params  `json:"features"`
}

// DefaultParams are five epochs of the averaged perceptron, chained and shuffled.
func DefaultParams() Params {
	return Params{Form: Averaged.String(), Classes: ArgMax.String(), Epochs: 5, Over: overChained, Mixing: mixChanged,
		Shuffle: true, Bias: true, MaxVectors: 10_000, Features: features.DefaultParams()}
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
	if err := p.check(); err != nil {
		return Params{}, validate.In("spec.params", err)
	}
	return p, nil
}

func (p Params) check() error {
	for _, err := range []error{
		validate.OneOf("form", p.Form, formNames...),
		validate.OneOf("classes", p.Classes, ruleNames[1:]...),
		validate.OneOf("over", p.Over, overChained, overMixed),
		validate.OneOf("mixing", p.Mixing, mixChanged, mixUniform, mixMistakes),
		validate.Within("epochs", p.Epochs, 1, maxEpochs),
		validate.Within("max_vectors", p.MaxVectors, 1, maxVectorsEver),
		p.checkDistinct(), p.checkWeights(), p.Costs.Check(), validate.In("features", p.Features.Check()),
	} {
		if err != nil {
			return err
		}
	}
	if p.Over == overMixed && p.form().votes() {
		return protocol.SpecFault("form %s is chained only: a mean of weights has no vote of its own", p.Form)
	}
	return nil
}

func (p Params) checkDistinct() error {
	switch {
	case !(p.Distinct == 0 || p.Distinct >= 1e-6 && p.Distinct <= maxWeight):
		return protocol.SpecFault("distinct is 0, or from 1e-6 to 1e6, not %v", p.Distinct)
	case p.Distinct > 0 && p.Over == overMixed:
		return protocol.SpecFault(
			"distinct is chained only: a record's own feature is in one shard, and mixing would shrink its weight")
	case p.Distinct > 0 && p.form().votes():
		return protocol.SpecFault("distinct needs form plain or averaged, not %s", p.Form)
	}
	return nil
}

func (p Params) checkWeights() error {
	for _, label := range slices.Sorted(maps.Keys(p.ClassWeights)) {
		if w := p.ClassWeights[label]; !(w >= 1e-6 && w <= maxWeight) {
			return protocol.SpecFault("the class weight of %q is from 1e-6 to 1e6, not %v", label, w)
		}
	}
	return nil
}

// form of parameters that were checked.
func (p Params) form() Form { return Form(max(0, slices.Index(formNames, p.Form))) }

// setup is that of the parameters over a space; a class weight of an unknown label is a fault.
func (p Params) setup(space *features.Space) (Setup, error) {
	s := Setup{Rule: Signed, Form: p.form(), Classes: space.Labels.Len(), Width: space.Width, Sparse: space.Sparse,
		Bias: p.Bias, Distinct: float32(p.Distinct), MaxVectors: p.MaxVectors}
	if s.Classes > 2 {
		s.Rule = Rule(slices.Index(ruleNames, p.Classes))
	}
	if s.Distinct > 0 && s.Rule != Signed {
		return Setup{}, protocol.SpecFault(
			"spec.params: distinct is for two classes; the training records have %d", s.Classes)
	}
	if len(p.ClassWeights) > 0 {
		s.ClassWeights = slices.Repeat([]float32{1}, s.Classes)
	}
	for _, label := range slices.Sorted(maps.Keys(p.ClassWeights)) {
		class := space.Class([]byte(label))
		if class < 0 {
			return Setup{}, unknownLabel(label, space)
		}
		s.ClassWeights[class] = float32(p.ClassWeights[label])
	}
	return s, s.checkSize()
}

// maxNumbers bounds the weights of all classes.
const maxNumbers = 1 << 27

func (s Setup) checkSize() error {
	if s.Width > math.MaxInt32 || s.rows() > maxNumbers/s.stride() {
		return protocol.InputFault(protocol.CodeInputLimit,
			"%d classes of %d columns are more than 2^27 weights", s.Classes, s.Width).
			WithHint("Make the vectors narrower (for text: max_features, min_df).")
	}
	return nil
}

func unknownLabel(label string, space *features.Space) error {
	return protocol.SpecFault("spec.params: class_weights name the label %q, which no training record has", label).
		Suggest(label, space.Labels.List())
}
