package gaussiannb

import (
	"encoding/json"

	"github.com/gram-compute/gram/jobs/evaluation"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/validate"
	"github.com/gram-compute/gram/protocol"
)

// The ways to come by a prior.
const (
	priorLearned = "learned"
	priorUniform = "uniform"
)

// Params of a job of kind GaussianNaiveBayes.
type Params struct {
	// Prior is "learned" (the classes' shares of the weight of the training records) or "uniform".
	Prior string `json:"prior"`
	// VarSmoothing times the largest variance of a column is added to every variance; in [1e-30, 1].
	VarSmoothing float64 `json:"var_smoothing"`
	// RejectBelow, in [0, 1), rejects a record whose best posterior is below it.
	RejectBelow float64 `json:"reject_below"`
	// Costs of decisions, by true label and label decided: with them the class of
	// least expected cost is decided. A pair that is not named costs 1, a right decision 0.
	Costs    evaluation.Costs `json:"costs,omitempty"`
	Features features.Params  `json:"features"`
}

// minSmoothing keeps variances far from underflow.
const minSmoothing = 1e-30

// DefaultParams are the learned prior, scikit-learn's smoothing and the largest posterior.
func DefaultParams() Params {
	return Params{Prior: priorLearned, VarSmoothing: 1e-9, Features: features.Params{Scale: features.ScaleNone}}
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
	switch {
	case p.Prior != priorLearned && p.Prior != priorUniform:
		return protocol.SpecFault(`prior is "learned" or "uniform", not %q`, p.Prior)
	case !(p.VarSmoothing >= minSmoothing && p.VarSmoothing <= 1):
		return protocol.SpecFault("var_smoothing is from %g to 1, not %v", minSmoothing, p.VarSmoothing)
	case !(p.RejectBelow >= 0 && p.RejectBelow < 1):
		return protocol.SpecFault("reject_below is in [0, 1), not %v", p.RejectBelow)
	case p.Costs != nil && p.RejectBelow > 0:
		return protocol.SpecFault("costs and reject_below exclude each other: each is a rule of its own to decide by")
	case p.Features.Text != nil:
		return protocol.SpecFault(
			"features.text is for texts, which have no normal density; kind NaiveBayes takes them")
	}
	if err := p.Costs.Check(); err != nil {
		return err
	}
	return validate.In("features", p.Features.Check())
}
