package supportvectormachine

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/calibration"
)

// sigmoidFields lists the sigmoids of the machines, A and B of each, if the model has them.
func (m *model) sigmoidFields(f *jobs.Fields) {
	jobs.Optional(f, "probability.sigmoids", &m.sigmoids, m.classes().Machines(), 2)
	f.Require(jobs.Finite(m.sigmoids) && (m.sigmoids == nil || m.classifies()), "sigmoids of %v", m.sigmoids)
}

// sigmoid is that of a machine.
func (m *model) sigmoid(k int) calibration.Sigmoid {
	return calibration.Sigmoid{A: m.sigmoids[2*k], B: m.sigmoids[2*k+1]}
}

// probabilities are those of the classes at the decisions of the machines: of two classes by the sigmoid of the
// machine, of more by coupling those of all machines.
func (p *predictor) probabilities() []float64 {
	scores := make([]float64, len(p.labels))
	if len(p.labels) == 2 {
		scores[0], scores[1] = p.sigmoid(0).Probabilities(p.decisions[0])
		return scores
	}
	if p.pairs == nil {
		p.pairs = calibration.NewPairs(len(p.labels))
	}
	for k, d := range p.decisions {
		first, second := p.classes().Pair(k)
		ofFirst, ofSecond := p.sigmoid(k).Probabilities(d)
		p.pairs.Set(first, second, ofFirst, ofSecond)
	}
	p.pairs.Couple(scores)
	return scores
}
