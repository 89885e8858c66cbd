package kernelmean

import (
	"context"
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/classify"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/fmath"
	"github.com/gram-compute/gram/protocol"
)

// densityModel is a model of KernelDensityBayes.
type densityModel struct {
	groups
	classify.Decision
	space     *features.Space
	bandwidth []float64 // of each class
}

func newDensityModel(
	params DensityParams, space *features.Space, g groups, deviationOf func(class int) float64,
) (m *densityModel, err error) {
	m = &densityModel{groups: g, space: space}
	m.Decision, err = classify.NewDecision(params.Prior, params.RejectBelow, params.Costs, space.Labels.List())
	if err == nil {
		m.bandwidth, err = params.bandwidths(space, g.weights, deviationOf)
	}
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
	if b.anyGap(from, to) {
		return b.presentDeviation(from, to)
	}
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
	return math.Sqrt(sum / n / float64(max(1, b.Width)))
}

// leaveBase leaves the base out of the model.
func (m *densityModel) leaveBase() { m.groups = unstored(m.space, m.weights) }

// Fields lists the model.
func (m *densityModel) Fields(f *jobs.Fields) {
	f.Kind(DensityName, 1)
	spaceField(f, &m.space)
	m.groups.Fields(f, m.space)
	f.Require(m.base == nil || !m.base.Gaps || m.base.withoutWhole(len(m.weights)) < 0,
		"a class of the base has no record without a gap")
	jobs.List(f, "bandwidth", &m.bandwidth, len(m.weights))
	for y, h := range m.bandwidth {
		f.Require(validBandwidth(h), "class %d has bandwidth %v", y, h)
	}
	m.Decision.Fields(f, m.space.Labels)
}

// describe tells how decisions are made, and of each class the records and the bandwidth.
func (m *densityModel) describe(p *describe.Page) error {
	p.Text("Bayes by kernel densities: %s\n", m.size(m.space))
	p.Text("kernel: normal density; prior: %s; decision: %s\n", m.Prior(), m.Decision.String())
	if m.space.Omits() {
		p.Text("missing numbers: left out\n")
	}
	p.Text("\n")
	m.list(p, m.space, "bandwidth", m.bandwidth)
	return nil
}

// densityPredictor decides by posteriors; one goroutine at a time.
type densityPredictor struct {
	*parzen
	tile   []float32
	labels []string
	logged bool // outcomes have the logarithms of posteriors
}

// densityVectors lets the outcomes of a densityPredictor have logarithms.
type densityVectors struct {
	*classify.Vectors
	p *densityPredictor
}

// GiveLogs lets outcomes have the logarithms of posteriors.
func (v densityVectors) GiveLogs() { v.p.logged = true }

// Answers describes the outcomes.
func (v densityVectors) Answers() jobs.Answers {
	answers := v.Vectors.Answers()
	answers.Logs = v.p.logged
	return answers
}

// NewDensityPredictor loads a model of KernelDensityBayes. One that does not hold its base is a
// *protocol.Fault of CodeSpecInvalid. One prediction takes a distance from each record of the base.
func NewDensityPredictor(a jobs.Arrays, ops *kernelops.Set) (jobs.Predictor, error) {
	m, err := jobs.Load[densityModel](a)
	if err == nil {
		err = m.needBase()
	}
	if err != nil {
		return nil, err
	}
	p := &densityPredictor{parzen: newParzen(m, ops), labels: m.space.Labels.List()}
	answers := classify.Scored(p.labels, "log_density").Of(jobs.Probabilities)
	return densityVectors{classify.NewVectors(m.space, answers, p.predict), p}, nil
}

// predict decides every record. Equal posteriors go to the label that is first in byte order. The value is the
// logarithm of the density p(x) of the record; the scores are the posteriors.
func (p *densityPredictor) predict(
	ctx context.Context, list []jobs.Outcome, v features.Vectors,
) ([]jobs.Outcome, error) {
	queries, classes := rows.Of(v), len(p.labels)
	for _, x := range queries.Tiles(0, v.Rows, p.queryRows(), &p.tile) {
		joint := make([]float64, x.Rows*classes)
		if err := p.joint(ctx, joint, x); err != nil {
			return nil, err
		}
		for i := range x.Rows {
			list = append(list, p.outcome(joint[i*classes:(i+1)*classes]))
		}
	}
	return list, nil
}

// queryRows is how many queries have their distances from the largest class in memory at a time.
func (p *densityPredictor) queryRows() int {
	largest := 1
	for y := range p.weights {
		largest = max(largest, p.first[y+1]-p.first[y])
	}
	return max(1, min(rows.QueryRows, rows.TileFloats/largest))
}

// outcome turns log p(x, y) of each class into posteriors.
func (p *densityPredictor) outcome(joint []float64) jobs.Outcome {
	var logs []float64
	if p.logged {
		logs = make([]float64, len(joint))
		classify.LogPosteriors(logs, joint)
	}
	class, rejected, density := p.Decide(joint, joint)
	o := jobs.Outcome{Rejected: rejected, Value: density, Scores: joint, Logs: logs}
	if !rejected {
		o.Label = p.labels[class]
	}
	return o
}
