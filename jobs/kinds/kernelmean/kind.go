package kernelmean

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// The kinds in a spec.
const (
	MeanName    = "KernelNearestMean"
	DensityName = "KernelDensityBayes"
)

// MeanKind is the nearest mean in the feature space of a kernel.
func MeanKind() jobs.Kind {
	return jobs.Kind{Name: MeanName, UsesQueries: true, Evaluates: true, Params: params.Of[MeanParams](),
		Summary: "Decides for the class whose mean in the space of a kernel is nearest.",
		New:     NewMean, Describe: describe.Of(jobs.Load[meanModel], (*meanModel).describe),
		Predict: NewMeanPredictor, Figures: evaluation.Figures}
}

// DensityKind is the Bayes classifier by kernel density estimates.
func DensityKind() jobs.Kind {
	return jobs.Kind{Name: DensityName, UsesQueries: true, Evaluates: true, Params: params.Of[DensityParams](),
		Summary: "Bayes' rule with a Parzen window density for each class.",
		New:     NewDensity, Describe: describe.Of(jobs.Load[densityModel], (*densityModel).describe),
		Predict: NewDensityPredictor, Figures: evaluation.Figures}
}

// NewMean makes the algorithm of KernelNearestMean.
func NewMean(spec protocol.JobSpec) (jobs.Algorithm, error) {
	p, err := params.Parse[MeanParams](spec.Spec.Params)
	if err != nil {
		return nil, err
	}
	end, err := newEnding(spec, p.StoreBase, NewMeanPredictor, p.Costs, jobs.Load[meanModel])
	if err != nil {
		return nil, err
	}
	model := func(space *features.Space, b *base, _ jobs.Plan) (jobs.Next, error) {
		m, err := newMeanModel(p, space, groupsOf(space, b))
		if err != nil {
			return jobs.Next{}, err
		}
		return jobs.Next{Phase: normsName, State: jobs.ArraysOf(m)}, nil
	}
	phases, err := phasesOf(spec, p.Features, model)
	if err != nil {
		return nil, err
	}
	return append(append(phases, normsPhase(end)), end.Phases()...), nil
}

// NewDensity makes the algorithm of KernelDensityBayes.
func NewDensity(spec protocol.JobSpec) (jobs.Algorithm, error) {
	p, err := params.Parse[DensityParams](spec.Spec.Params)
	if err != nil {
		return nil, err
	}
	end, err := newEnding(spec, p.StoreBase, NewDensityPredictor, p.Costs, jobs.Load[densityModel])
	if err != nil {
		return nil, err
	}
	model := func(space *features.Space, b *base, plan jobs.Plan) (jobs.Next, error) {
		if err := b.needWhole(space); err != nil {
			return jobs.Next{}, err
		}
		g := groupsOf(space, b)
		m, err := newDensityModel(p, space, g,
			func(y int) float64 { return b.deviation(g.first[y], g.first[y+1], g.weights[y]) })
		if err != nil {
			return jobs.Next{}, err
		}
		return end.End(jobs.Next{State: jobs.ArraysOf(m)}, plan), nil
	}
	phases, err := phasesOf(spec, p.Features, model)
	if err != nil {
		return nil, err
	}
	return append(phases, end.Phases()...), nil
}

// phasesOf are the phases that both kinds begin with; model makes what follows the base.
func phasesOf(spec protocol.JobSpec, params features.Params, model afterBase) (jobs.Phases, error) {
	space, err := features.New(params, spec, baseName, features.Classes(2), features.Compares())
	if err != nil {
		return nil, err
	}
	return jobs.Phases{space, newBasePhase(spec, params.Omits(), model).phase()}, nil
}

// MeanParams of a job of kind KernelNearestMean.
type MeanParams struct {
	kernels.Params
	Costs       evaluation.Costs     `json:"costs,omitempty"`
	RejectBelow evaluation.Rejection `json:"reject_below,omitempty"`
	StoreBase   bool                 `json:"store_base"`
	Features    features.Params      `json:"features"`
}

// Parameters declares the parameters.
func (p *MeanParams) Parameters() []params.Parameter {
	return append(p.Declare(kernels.Linear),
		p.Costs.Parameter(evaluation.CostsJudge),
		p.RejectBelow.Parameter(),
		storeBase(&p.StoreBase),
		p.Features.Section(),
	)
}

// Check rejects parameters that contradict each other.
func (p *MeanParams) Check() error {
	if err := p.RejectBelow.Check(p.Costs, "", true); err != nil {
		return err
	}
	return p.Params.Check()
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
	Prior         evaluation.Prior `json:"prior"`
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
		p.Prior.Parameter("weight of the training records"),
		evaluation.RejectBelowParameter(&p.RejectBelow),
		p.Costs.Parameter(evaluation.CostsDecide),
		storeBase(&p.StoreBase),
		p.Features.OmitSection(),
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
