package noveltydetector

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/protocol"
)

// model is the training records with a detector.
type model struct {
	space     *features.Space
	base      *base
	detector  string
	k         int       // of knn
	bandwidth float64   // of kernel_density
	threshold []float64 // the one novelty above which a record is an outlier; nil for none
}

// Fields lists the model.
func (m *model) Fields(f *jobs.Fields) {
	f.Kind(KindName, 1)
	spaceField(f, &m.space)
	f.Choice("detector", &m.detector, byNeighbors, byDensity)
	b := jobs.Make(f, &m.base)
	b.Fields(f)
	f.Check(func() error { return b.Check(rows.FormOf(m.space), m.space.Width) })
	if m.detector == byNeighbors {
		f.Int("k", &m.k, 1, maxK)
		f.Require(m.k <= b.N, "a neighbor of number %d among %d", m.k, b.N)
	} else {
		jobs.Scalar(f, "bandwidth", &m.bandwidth)
		f.Require(validBandwidth(m.bandwidth) && b.N > 0, "a bandwidth of %v over %d records", m.bandwidth, b.N)
	}
	jobs.Optional(f, "threshold", &m.threshold, 1)
	f.Require(jobs.Finite(m.threshold), "a threshold of %v", m.threshold)
}

// describe tells people what a model is.
func (m *model) describe(p *describe.Page) error {
	p.Line("kind", "%s", KindName)
	if m.detector == byNeighbors {
		p.Line("novelty", "the distance from training record of number %d, the nearest first", m.k)
	} else {
		p.Line("novelty", "less the logarithm of the density, by a bandwidth of %.6g", m.bandwidth)
	}
	p.Line("records", "%s of %s, scale %s", protocol.Counted(m.base.N, "training record"),
		protocol.Counted(m.space.Width, "column"), m.space.Scale())
	if m.threshold == nil {
		p.Line("outlier", "no threshold: see params.novelty.validation")
		return nil
	}
	p.Line("outlier", "where the novelty is above %.6g", m.threshold[0])
	return nil
}
