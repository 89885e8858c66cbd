package kernelmean

import (
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// MeanParams of a job of kind KernelNearestMean.
type MeanParams struct {
	kernels.Params
	Costs     evaluation.Costs `json:"costs,omitempty"`
	StoreBase bool             `json:"store_base"`
	Features  features.Params  `json:"features"`
}

// Parameters declares the parameters.
func (p *MeanParams) Parameters() []params.Parameter {
	return append(p.Declare(kernels.Linear),
		p.Costs.Parameter(evaluation.CostsJudge),
		storeBase(&p.StoreBase),
		p.Features.Section(),
	)
}

// Complete writes in the defaults of the kernel.
func (p *MeanParams) Complete() { p.Params = p.WithDefaults() }

func storeBase(at *bool) params.Parameter {
	return params.Flag("store_base", at, true).
		Says("Leaves the training records in the model, which can then predict. Without them the model stays small, and " +
			"the job decides the records that it judges on and writes predictions/. Either way they must fit into " +
			"run.max_state_bytes while it trains.")
}

// The rules of thumb for a bandwidth.
const (
	ruleScott     = "scott"
	ruleSilverman = "silverman"
)

// Bounds of a bandwidth, far from overflow of its squares and powers.
const (
	minBandwidth = 1e-30
	maxBandwidth = 1e30
)

// DensityParams of a job of kind KernelDensityBayes.
type DensityParams struct {
	Bandwidth     float64          `json:"bandwidth,omitempty"`
	BandwidthRule string           `json:"bandwidth_rule,omitempty"`
	Prior         string           `json:"prior"`
	RejectBelow   float64          `json:"reject_below"`
	Costs         evaluation.Costs `json:"costs,omitempty"`
	StoreBase     bool             `json:"store_base"`
	Features      features.Params  `json:"features"`
}

// Parameters declares the parameters.
func (p *DensityParams) Parameters() []params.Parameter {
	return []params.Parameter{
		params.Number("bandwidth", &p.Bandwidth, 0, "[1e-30, 1e30]").Missing("by bandwidth_rule").
			Says("Bandwidth of all classes, after scaling."),
		params.Choice("bandwidth_rule", &p.BandwidthRule, "", ruleScott, ruleSilverman).Missing("scott").
			Says("Rule of thumb that finds a bandwidth for each class."),
		evaluation.PriorParameter(&p.Prior),
		evaluation.RejectBelowParameter(&p.RejectBelow),
		p.Costs.Parameter(evaluation.CostsDecide),
		storeBase(&p.StoreBase),
		p.Features.Section(),
	}
}

// Check rejects parameters that contradict each other.
func (p *DensityParams) Check() error {
	if p.Bandwidth != 0 && p.BandwidthRule != "" {
		return protocol.SpecFault("bandwidth and bandwidth_rule exclude each other")
	}
	return p.Costs.CheckRule(p.RejectBelow)
}

// Complete chooses a rule where no bandwidth is given.
func (p *DensityParams) Complete() {
	if p.Bandwidth == 0 && p.BandwidthRule == "" {
		p.BandwidthRule = ruleScott
	}
}

func validBandwidth(h float64) bool { return h >= minBandwidth && h <= maxBandwidth }
