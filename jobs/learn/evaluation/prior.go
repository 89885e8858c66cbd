package evaluation

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops/fmath"
	"github.com/gram-compute/gram/protocol"
)

// The ways to find a prior.
const (
	PriorLearned = "learned"
	PriorUniform = "uniform"
	PriorGiven   = "given"
)

// priorTolerance is how far given priors may sum from 1.
const priorTolerance = 1e-9

// Prior is how probable the classes are before a record is looked at: "learned" or "uniform", or an object of label to
// probability.
type Prior struct {
	Kind  string
	Given map[string]float64
}

// Parameter declares the prior of a classifier. shares is what is learned.
func (p *Prior) Parameter(shares string) params.Parameter {
	return params.Words("prior", p, Prior{Kind: PriorLearned}, PriorLearned, PriorUniform).Checked(p.check).
		Says("Prior of the classes: their shares of the " + shares + ", equal, or a probability by label.")
}

// MarshalJSON writes the name, or the object of a given prior.
func (p Prior) MarshalJSON() ([]byte, error) {
	if p.Kind == PriorGiven {
		return json.Marshal(p.Given)
	}
	return json.Marshal(p.Kind)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *Prior) UnmarshalJSON(data []byte) error {
	*p = Prior{}
	if len(data) > 0 && data[0] == '{' {
		p.Kind = PriorGiven
		return json.Unmarshal(data, &p.Given)
	}
	if err := json.Unmarshal(data, &p.Kind); err != nil || p.Kind != PriorLearned && p.Kind != PriorUniform {
		return fmt.Errorf(`prior is "learned", "uniform" or an object of label to probability, not %s`, data)
	}
	return nil
}

// check refuses what is not a probability, and a sum other than 1.
func (p *Prior) check() error {
	if p.Kind != PriorGiven {
		return nil
	}
	// Labels in byte order, so that the sum has one value.
	sum := 0.0
	for _, label := range slices.Sorted(maps.Keys(p.Given)) {
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

// CheckLabels refuses a given prior of other labels than those, in byte order, of the training records.
func (p *Prior) CheckLabels(labels []string) error {
	if p.Kind != PriorGiven {
		return nil
	}
	if given := slices.Sorted(maps.Keys(p.Given)); !slices.Equal(given, labels) {
		return protocol.SpecFault("spec.params: prior names the labels %s; the training records have %s", quoted(given),
			quoted(labels))
	}
	return nil
}

// quoted shows the first labels of a list.
func quoted(labels []string) string {
	const shown = 5
	if len(labels) <= shown {
		return fmt.Sprintf("%q", labels)
	}
	return fmt.Sprintf("%q and %d more", labels[:shown], len(labels)-shown)
}

// Log returns log p(y) of each class, given the weight of its training records.
func (p *Prior) Log(labels jobs.Strings, weights []float64) []float64 {
	prior, total := make([]float64, len(weights)), sums.Total(weights)
	for y, w := range weights {
		switch p.Kind {
		case PriorGiven:
			prior[y] = fmath.Log(p.Given[string(labels.At(y))])
		case PriorUniform:
			prior[y] = -fmath.Log(float64(len(prior)))
		default:
			prior[y] = fmath.Log(w) - fmath.Log(total)
		}
	}
	return prior
}

// Fields lists the prior of a model with those labels.
func (p *Prior) Fields(f *jobs.Fields, labels jobs.Strings) {
	f.Choice("prior", &p.Kind, PriorLearned, PriorUniform, PriorGiven)
	if p.Kind != PriorGiven {
		return
	}
	given := make([]float64, labels.Len())
	for y := range given {
		given[y] = p.Given[string(labels.At(y))]
	}
	jobs.List(f, "prior.given", &given, labels.Len())
	if f.Reading() {
		p.Given = make(map[string]float64, len(given))
		for y, q := range given {
			p.Given[string(labels.At(y))] = q
		}
	}
	f.Check(func() error {
		if err := p.check(); err != nil {
			return jobs.Malformed("a model's prior: %v", err)
		}
		return nil
	})
}
