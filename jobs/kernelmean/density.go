package kernelmean

import (
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/evaluation"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/kernelops/fmath"
	"github.com/gram-compute/gram/protocol"
)

// modelVersion is the version of the layout of KernelDensityBayes. That of KernelNearestMean is its kernel's.
const modelVersion = 1

// Arrays of a model of KernelDensityBayes, beside its space, base and costs.
const (
	densityBandwidth   = "bandwidth"    // F64 [classes]
	densityPrior       = "prior"        // U8 text: learned or uniform
	densityRejectBelow = "reject_below" // F64 scalar
)

// densityModel is a model of KernelDensityBayes.
type densityModel struct {
	groups
	space       *features.Space
	bandwidth   []float64
	prior       string
	rejectBelow float64
	rule        *evaluation.Rule // nil without costs
}

func newDensityModel(
	params DensityParams, space *features.Space, g groups, deviationOf func(class int) float64,
) (*densityModel, error) {
	m := &densityModel{groups: g, space: space, prior: params.Prior, rejectBelow: params.RejectBelow}
	var err error
	if params.Costs != nil {
		if m.rule, err = params.Costs.Rule(space.Labels.List()); err != nil {
			return nil, err
		}
	}
	m.bandwidth, err = params.bandwidths(space, g.weights, deviationOf)
	return m, err
}

// bandwidths are those of all classes. A class without two different records has none by a rule: a
// fault of CodeInputEmpty.
func (p DensityParams) bandwidths(
	space *features.Space, weights []float64, deviationOf func(class int) float64,
) ([]float64, error) {
	h := make([]float64, space.Labels.Len())
	if p.Bandwidth != 0 {
		for y := range h {
			h[y] = p.Bandwidth
		}
		return h, nil
	}
	d := float64(space.Width)
	for y, n := range weights {
		factor := n
		if p.BandwidthRule == ruleSilverman {
			factor = float64(n * ((d + 2) / 4))
		}
		deviation := deviationOf(y)
		h[y] = float64(deviation * fmath.Exp(-fmath.Log(factor)/(d+4)))
		if !validBandwidth(h[y]) {
			return nil, protocol.EmptyFault(
				"the records of class %q spread by %v, which gives no bandwidth by the rule %s", space.Labels.At(y),
				deviation, p.BandwidthRule).
				WithHint("Give params.bandwidth, or leave the class out.")
		}
	}
	return h, nil
}

// deviation is the root of the mean over the columns of their variances in the rows from up to, not including, to,
// which weigh n together: two passes.
func (b *base) deviation(from, to int, n float64) float64 {
	mean := make([]float64, b.Width)
	var row []float32
	for i := from; i < to; i++ {
		w := b.weight(i)
		for j, x := range b.Tile(i, i+1, &row).Row(0) {
			mean[j] += float64(w * float64(x))
		}
	}
	for j := range mean {
		mean[j] /= n
	}
	sum := 0.0
	for i := from; i < to; i++ {
		squares := 0.0
		for j, x := range b.Tile(i, i+1, &row).Row(0) {
			d := float64(x) - mean[j]
			squares += float64(d * d)
		}
		sum += float64(b.weight(i) * squares)
	}
	return rootSpread(sum, n, b.Width)
}

// rootSpread is the deviation of rows whose weighted squared distances from their mean add up to sum.
func rootSpread(sum, n float64, width int) float64 {
	return math.Sqrt(sum / n / float64(max(1, width)))
}

// Fields lists the model.
func (m *densityModel) Fields(f *jobs.Fields) {
	f.Kind(DensityName, modelVersion)
	spaceField(f, &m.space)
	m.groups.Fields(f, m.space)
	classes := len(m.weights)
	jobs.List(f, densityBandwidth, &m.bandwidth, classes)
	f.Choice(densityPrior, &m.prior, evaluation.PriorLearned, evaluation.PriorUniform)
	jobs.Scalar(f, densityRejectBelow, &m.rejectBelow)
	evaluation.RuleFields(f, &m.rule, classes)
	f.Require(m.rejectBelow >= 0 && m.rejectBelow < 1 && (m.rule == nil || m.rejectBelow == 0),
		"a model rejects below %v", m.rejectBelow)
	for y, h := range m.bandwidth {
		f.Require(validBandwidth(h), "class %d has bandwidth %v", y, h)
	}
}

// readDensityModel reads a model, in time linear in its bytes; what training would not have written is a
// *protocol.Fault of CodeCorrupt.
func readDensityModel(a jobs.Arrays) (*densityModel, error) { return jobs.Read(a, &densityModel{}) }
