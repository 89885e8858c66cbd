package nearestmean

import (
	"encoding/json"

	"github.com/gram-compute/gram/jobs/evaluation"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/validate"
)

// Params of a job of kind NearestMean.
type Params struct {
	// Pairs judges the linear rule of every two classes on the test records of these two as well.
	Pairs bool `json:"pairs"`
	// Costs of decisions, by true label and label decided, to judge by: a mean has a distance and no
	// probability, so the decisions themselves do not change.
	Costs    evaluation.Costs `json:"costs,omitempty"`
	Features features.Params  `json:"features"`
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
	p := Params{Features: features.DefaultParams()}
	if err := validate.Decode(params, &p); err != nil {
		return Params{}, err
	}
	if err := p.Costs.Check(); err != nil {
		return Params{}, validate.In("spec.params", err)
	}
	return p, validate.In("spec.params.features", p.Features.Check())
}
