package naivebayes

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/gram-compute/gram/jobs/evaluation"
	"github.com/gram-compute/gram/jobs/validate"
	"github.com/gram-compute/gram/jobs/vocabulary"
	"github.com/gram-compute/gram/protocol"
)

// Params of a job of kind NaiveBayes.
type Params struct {
	// Form is "multinomial", "bernoulli" or "complement".
	Form string `json:"form"`
	// Alpha is added to every count, in (0, 1e9].
	Alpha float64 `json:"alpha"`
	// Prior is "learned" (the classes' shares of the training documents), "uniform", or
	// a probability for each label.
	Prior Prior `json:"prior"`
	// Positive, with two classes, is decided iff the likelihood ratio
	// p(positive|x)/p(other|x) is above Ratio, the threshold c of Algorithm 1.
	Positive string  `json:"positive,omitempty"`
	Ratio    float64 `json:"ratio"`
	// RejectBelow, in [0, 1), rejects a document whose best posterior is below it.
	RejectBelow float64 `json:"reject_below"`
	// Costs of decisions, by true label and label decided: with them the class of
	// least expected cost is decided. A pair that is not named costs 1, a right decision 0.
	Costs evaluation.Costs `json:"costs,omitempty"`
	// Grows has the model keep what a later job, whose spec.model it is, needs to add to it.
	Grows bool              `json:"grows,omitempty"`
	Text  vocabulary.Params `json:"text"`
}

// maxAlpha keeps alpha times the number of terms far from overflow.
const maxAlpha = 1e9

// priorTolerance is how far given priors may sum from 1.
const priorTolerance = 1e-9

// DefaultParams are Laplace smoothing, the learned prior and the largest posterior.
func DefaultParams() Params {
	return Params{Form: formMultinomial, Alpha: 1, Prior: Prior{Kind: priorLearned}, Ratio: 1, Text: vocabulary.DefaultParams()}
}

// The ways to come by a prior.
const (
	priorLearned = "learned"
	priorUniform = "uniform"
	priorGiven   = "given"
)

// Prior is "learned" or "uniform", or an object of label to probability.
type Prior struct {
	Kind  string
	Given map[string]float64
}

// MarshalJSON writes the name, or the object of a given prior.
func (p Prior) MarshalJSON() ([]byte, error) {
	if p.Kind == priorGiven {
		return json.Marshal(p.Given)
	}
	return json.Marshal(p.Kind)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *Prior) UnmarshalJSON(data []byte) error {
	*p = Prior{}
	if len(data) > 0 && data[0] == '{' {
		p.Kind = priorGiven
		return json.Unmarshal(data, &p.Given)
	}
	if err := json.Unmarshal(data, &p.Kind); err != nil || p.Kind != priorLearned && p.Kind != priorUniform {
		return fmt.Errorf(`prior is "learned", "uniform" or an object of label to probability, not %s`, data)
	}
	return nil
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
	case !(p.Alpha > 0 && p.Alpha <= maxAlpha):
		return protocol.SpecFault(
			"alpha is above 0 and at most %g, not %v; for next to no smoothing write 1e-10", maxAlpha, p.Alpha)
	case !(p.Ratio > 0) || math.IsInf(p.Ratio, 0):
		return protocol.SpecFault("ratio is a number above 0, not %v", p.Ratio)
	case p.Ratio != 1 && p.Positive == "":
		return protocol.SpecFault("ratio needs positive, the label that it is a ratio for")
	case !(p.RejectBelow >= 0 && p.RejectBelow < 1):
		return protocol.SpecFault("reject_below is in [0, 1), not %v", p.RejectBelow)
	case p.RejectBelow > 0 && p.Positive != "":
		return protocol.SpecFault(
			"positive and reject_below exclude each other: the one decides by a ratio, the other rejects by a " +
				"posterior")
	case p.Costs != nil && (p.Positive != "" || p.RejectBelow > 0):
		return protocol.SpecFault("costs exclude positive and reject_below: each is a rule of its own to decide by")
	}
	for _, err := range []error{validate.OneOf("form", p.Form, forms()...), p.Prior.check(), p.Costs.Check(), validate.In("text", p.Text.Check()), p.checkGrowth()} {
		if err != nil {
			return err
		}
	}
	return nil
}

func (p Prior) check() error {
	if p.Kind != priorGiven {
		return nil
	}
	// Labels in byte order, so that the sum has one value.
	sum := 0.0
	for _, label := range sortedKeys(p.Given) {
		q := p.Given[label]
		if !(q > 0 && q <= 1) {
			return protocol.SpecFault("prior of %q is in (0, 1], not %v", label, q)
		}
		sum += q
	}
	if math.Abs(sum-1) > priorTolerance {
		return protocol.SpecFault("the priors sum to %v, not to 1", sum)
	}
	return nil
}
