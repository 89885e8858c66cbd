package kernelmean

import (
	"encoding/json"

	"github.com/gram-compute/gram/jobs/evaluation"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/kernels"
	"github.com/gram-compute/gram/jobs/validate"
	"github.com/gram-compute/gram/protocol"
)

// MeanParams of a job of kind KernelNearestMean.
type MeanParams struct {
	kernels.Params // linear unless told
	// Costs of decisions, by true label and label decided, to judge by: a mean has a distance and no
	// probability, so the decisions themselves do not change.
	Costs evaluation.Costs `json:"costs,omitempty"`
	// StoreBase, the default, puts the training records into the model, which can then predict. They
	// must fit into run.max_state_bytes. Without it the job decides the records that it judges on.
	StoreBase bool            `json:"store_base"`
	Features  features.Params `json:"features"`
}

// MeanDefaults returns params with every default written in; a *protocol.Fault of
// CodeSpecInvalid says what is wrong with them.
func MeanDefaults(params json.RawMessage) (json.RawMessage, error) {
	p, err := parseMean(params)
	if err != nil {
		return nil, err
	}
	return json.Marshal(p)
}

func parseMean(params json.RawMessage) (MeanParams, error) {
	p := MeanParams{Params: kernels.Params{Kernel: kernels.Linear}, StoreBase: true, Features: features.DefaultParams()}
	if err := validate.Decode(params, &p); err != nil {
		return MeanParams{}, err
	}
	for _, err := range []error{p.Params.Check(), p.Costs.Check()} {
		if err != nil {
			return MeanParams{}, validate.In("spec.params", err)
		}
	}
	p.Params = p.Params.WithDefaults()
	return p, validate.In("spec.params.features", p.Features.Check())
}

// The rules of thumb for a bandwidth.
const (
	ruleScott     = "scott"
	ruleSilverman = "silverman"
)

// The ways to come by a prior.
const (
	priorLearned = "learned"
	priorUniform = "uniform"
)

// Bounds of a bandwidth, far from overflow of its squares and powers.
const (
	minBandwidth = 1e-30
	maxBandwidth = 1e30
)

// DensityParams of a job of kind KernelDensityBayes.
type DensityParams struct {
	// Bandwidth of all classes, in [1e-30, 1e30], after scaling; without it BandwidthRule finds one for each.
	Bandwidth float64 `json:"bandwidth,omitempty"`
	// BandwidthRule is "scott" (the default) or "silverman".
	BandwidthRule string `json:"bandwidth_rule,omitempty"`
	// Prior is "learned" (the classes' shares of the weight of the training records) or "uniform".
	Prior string `json:"prior"`
	// RejectBelow, in [0, 1), rejects a record whose best posterior is below it.
	RejectBelow float64 `json:"reject_below"`
	// Costs of decisions, by true label and label decided: with them the class of
	// least expected cost is decided. A pair that is not named costs 1, a right decision 0.
	Costs evaluation.Costs `json:"costs,omitempty"`
	// StoreBase, the default, puts the training records into the model, which can then predict. They
	// must fit into run.max_state_bytes. Without it the job decides the records that it judges on.
	StoreBase bool            `json:"store_base"`
	Features  features.Params `json:"features"`
}

// DensityDefaults is MeanDefaults for kind KernelDensityBayes.
func DensityDefaults(params json.RawMessage) (json.RawMessage, error) {
	p, err := parseDensity(params)
	if err != nil {
		return nil, err
	}
	return json.Marshal(p)
}

func parseDensity(params json.RawMessage) (DensityParams, error) {
	p := DensityParams{Prior: priorLearned, StoreBase: true, Features: features.DefaultParams()}
	if err := validate.Decode(params, &p); err != nil {
		return DensityParams{}, err
	}
	for _, err := range []error{p.check(), p.Costs.Check()} {
		if err != nil {
			return DensityParams{}, validate.In("spec.params", err)
		}
	}
	if p.Bandwidth == 0 && p.BandwidthRule == "" {
		p.BandwidthRule = ruleScott
	}
	return p, validate.In("spec.params.features", p.Features.Check())
}

func (p DensityParams) check() error {
	switch {
	case p.Bandwidth != 0 && !validBandwidth(p.Bandwidth):
		return protocol.SpecFault("bandwidth is from %g to %g, not %v", minBandwidth, maxBandwidth, p.Bandwidth)
	case p.Bandwidth != 0 && p.BandwidthRule != "":
		return protocol.SpecFault("bandwidth and bandwidth_rule exclude each other")
	case p.BandwidthRule != "" && p.BandwidthRule != ruleScott && p.BandwidthRule != ruleSilverman:
		return protocol.SpecFault(`bandwidth_rule is "scott" or "silverman", not %q`, p.BandwidthRule)
	case p.Prior != priorLearned && p.Prior != priorUniform:
		return protocol.SpecFault(`prior is "learned" or "uniform", not %q`, p.Prior)
	case !(p.RejectBelow >= 0 && p.RejectBelow < 1):
		return protocol.SpecFault("reject_below is in [0, 1), not %v", p.RejectBelow)
	case p.Costs != nil && p.RejectBelow > 0:
		return protocol.SpecFault("costs and reject_below exclude each other: each is a rule of its own to decide by")
	}
	return nil
}

func validBandwidth(h float64) bool { return h >= minBandwidth && h <= maxBandwidth }
