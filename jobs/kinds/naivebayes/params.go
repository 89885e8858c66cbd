package naivebayes

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// Params of a job of kind NaiveBayes.
type Params struct {
	Form        string            `json:"form"`
	Alpha       float64           `json:"alpha"`
	Prior       Prior             `json:"prior"`
	Positive    string            `json:"positive,omitempty"`
	Ratio       float64           `json:"ratio"`
	RejectBelow float64           `json:"reject_below"`
	Costs       evaluation.Costs  `json:"costs,omitempty"`
	Grows       bool              `json:"grows,omitempty"`
	Text        vocabulary.Params `json:"text"`
}

// maxAlpha keeps alpha times the number of terms far from overflow.
const maxAlpha = 1e9

// priorTolerance is how far given priors may sum from 1.
const priorTolerance = 1e-9

// Parameters declares the parameters.
func (p *Params) Parameters() []params.Parameter {
	return []params.Parameter{
		params.Choice("form", &p.Form, formMultinomial, forms()...).
			Says("Model of the texts: counts of words, their presence, or counts in the other classes."),
		params.Number("alpha", &p.Alpha, 1, "(0, 1e9]").Checked(p.checkAlpha).
			Says("Is added to every count; 1 is Laplace smoothing."),
		params.Words("prior", &p.Prior, Prior{Kind: priorLearned}, priorLearned, priorUniform).
			Checked(func() error { return p.Prior.check() }).
			Says("Prior of the classes: their shares of the training documents, equal, or a probability by label."),
		params.Text("positive", &p.Positive).
			Says("With two classes, the label that is decided if its likelihood ratio is above ratio."),
		params.Number("ratio", &p.Ratio, 1, "(0, Inf)").
			Says("Threshold of p(positive|x) / p(other|x).").From("Smola and Vishwanathan, Algorithm 1."),
		evaluation.RejectBelowParameter(&p.RejectBelow),
		p.Costs.Parameter(evaluation.CostsDecide),
		params.Flag("grows", &p.Grows, false).
			Says("Keeps in the model what a later job, whose spec.model it is, needs to add records."),
		params.Section("text", &p.Text),
	}
}

// The ways to come by a prior.
const (
	priorLearned = "learned"
	priorUniform = "uniform"
	priorGiven   = "given"
)

// Prior is "learned" or "uniform", or an object of label to probability.
type Prior struct {
	Kind  string
	Given map[string]float64
}

// MarshalJSON writes the name, or the object of a given prior.
func (p Prior) MarshalJSON() ([]byte, error) {
	if p.Kind == priorGiven {
		return json.Marshal(p.Given)
	}
	return json.Marshal(p.Kind)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *Prior) UnmarshalJSON(data []byte) error {
	*p = Prior{}
	if len(data) > 0 && data[0] == '{' {
		p.Kind = priorGiven
		return json.Unmarshal(data, &p.Given)
	}
	if err := json.Unmarshal(data, &p.Kind); err != nil || p.Kind != priorLearned && p.Kind != priorUniform {
		return fmt.Errorf(`prior is "learned", "uniform" or an object of label to probability, not %s`, data)
	}
	return nil
}

// Check rejects parameters that contradict each other.
func (p *Params) Check() error {
	switch {
	case p.Ratio != 1 && p.Positive == "":
		return protocol.SpecFault("ratio needs positive, the label that it is a ratio for")
	case p.RejectBelow > 0 && p.Positive != "":
		return protocol.SpecFault(
			"positive and reject_below exclude each other: the one decides by a ratio, the other rejects by a " +
				"posterior")
	case p.Costs != nil && (p.Positive != "" || p.RejectBelow > 0):
		return protocol.SpecFault("costs exclude positive and reject_below: each is a rule of its own to decide by")
	}
	return p.checkGrowth()
}

func (p *Params) checkAlpha() error {
	if !(p.Alpha > 0 && p.Alpha <= maxAlpha) {
		return protocol.SpecFault(
			"alpha is above 0 and at most %g, not %v; for next to no smoothing write 1e-10", maxAlpha, p.Alpha)
	}
	return nil
}

func (p Prior) check() error {
	if p.Kind != priorGiven {
		return nil
	}
	// Labels in byte order, so that the sum has one value.
	sum := 0.0
	for _, label := range sortedKeys(p.Given) {
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
