package noveltydetector

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// KindName is the kind in a spec.
const KindName = "NoveltyDetector"

// Kind is the detector of novel records as a declared kind of job.
func Kind() jobs.Kind {
	return jobs.Kind{Name: KindName, UsesQueries: true, Params: params.Of[Params](),
		Summary: "Tells how unlike the training records a record is, by neighbors or by density.",
		New:     New, Describe: describe.Of(jobs.Load[model], (*model).describe),
		Predict: NewPredictor, Figures: evaluation.Figures}
}

// The detectors.
const (
	byNeighbors = "knn"
	byDensity   = "kernel_density"
)

// The rules of thumb for a bandwidth.
const (
	ruleScott     = "scott"
	ruleSilverman = "silverman"
)

const (
	defaultK = 5
	maxK     = 1 << 16
)

// Params of a job of kind NoveltyDetector.
type Params struct {
	Detector      string                    `json:"detector"`
	K             int                       `json:"k,omitempty"`
	Bandwidth     float64                   `json:"bandwidth,omitempty"`
	BandwidthRule string                    `json:"bandwidth_rule,omitempty"`
	Novelty       *evaluation.NoveltyParams `json:"novelty,omitempty"`
	Features      features.Params           `json:"features"`
}

// Parameters declares the parameters.
func (p *Params) Parameters() []params.Parameter {
	return []params.Parameter{
		params.Choice("detector", &p.Detector, byNeighbors, byNeighbors, byDensity).
			Says("What makes a record novel: its distance from the k-th nearest training record, or a low density of them."),
		params.Whole("k", &p.K, 0, 1, maxK).Missing("5 with knn").Says("Number of the neighbor, for knn."),
		params.Number("bandwidth", &p.Bandwidth, 0, "[1e-30, 1e30]").Missing("by bandwidth_rule").
			Says("Bandwidth for kernel_density, after scaling."),
		params.Choice("bandwidth_rule", &p.BandwidthRule, "", ruleScott, ruleSilverman).
			Missing("scott with kernel_density").Says("Rule of thumb that finds a bandwidth."),
		params.SectionAt("novelty", &p.Novelty),
		p.Features.Section(),
	}
}

// Check rejects parameters of the other detector.
func (p *Params) Check() error {
	switch {
	case p.Detector != byNeighbors && p.K != 0:
		return protocol.SpecFault("k is of detector knn, not of %s", p.Detector)
	case p.Detector != byDensity && (p.Bandwidth != 0 || p.BandwidthRule != ""):
		return protocol.SpecFault("bandwidth and bandwidth_rule are of detector kernel_density, not of %s", p.Detector)
	case p.Bandwidth != 0 && p.BandwidthRule != "":
		return protocol.SpecFault("bandwidth and bandwidth_rule exclude each other")
	}
	return p.Features.CheckUnseen(KindName)
}

// Complete writes in the defaults of the detector.
func (p *Params) Complete() {
	switch {
	case p.Detector == byNeighbors && p.K == 0:
		p.K = defaultK
	case p.Detector == byDensity && p.Bandwidth == 0 && p.BandwidthRule == "":
		p.BandwidthRule = ruleScott
	}
}

// New makes the algorithm: phases "features", "base", "threshold" and "evaluate".
func New(spec protocol.JobSpec) (jobs.Algorithm, error) {
	p, err := params.Parse[Params](spec.Spec.Params)
	if err != nil {
		return nil, err
	}
	if p.Detector == byNeighbors && !spec.Spec.Input.Weight.IsZero() {
		return nil, protocol.SpecFault("spec.input.weight: detector knn counts neighbors, which have no weight").
			WithHint("Leave it out, or take detector kernel_density.")
	}
	detection, err := evaluation.DetectionOf(spec, p.Novelty, load, withThreshold)
	if err != nil {
		return nil, err
	}
	space, err := features.New(p.Features, spec, baseName, features.NoClasses(), features.Compares(),
		features.Of(detection.Train(), detection.Novel))
	if err != nil {
		return nil, params.In("spec.params", err)
	}
	return append(jobs.Phases{space, newBasePhase(spec, p, detection).phase()}, detection.Phases()...), nil
}

func load(a jobs.Arrays, ops *kernelops.Set) (evaluation.Detector, error) {
	return newPredictor(a, ops)
}

func withThreshold(a jobs.Arrays, threshold float64) (jobs.Arrays, error) {
	m, err := jobs.Load[model](a)
	if err != nil {
		return nil, err
	}
	m.threshold = []float64{threshold}
	return jobs.ArraysOf(m), nil
}
