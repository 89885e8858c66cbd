package evaluation

import (
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// RejectBelowParameter declares the posterior below which a record is rejected.
func RejectBelowParameter(at *float64) params.Parameter {
	return params.Number("reject_below", at, 0, "[0, 1)").
		Says("Rejects a record whose best posterior is below this.")
}

// Parameter declares costs of which doc says what they are for.
func (c *Costs) Parameter(doc string) params.Parameter {
	return params.Value("costs", c).Missing("0 if right, 1 if wrong").Says(doc).
		Checked(func() error { return c.Check() })
}

// What costs are for.
const (
	// CostsDecide is for classifiers with probabilities.
	CostsDecide = "Costs of decisions, by true label and label decided; the class of least expected cost is decided."
	// CostsJudge is for those without.
	CostsJudge = "Costs of decisions, by true label and label decided, to judge by. They do not change the decisions."
)

// CheckRule rejects two rules to decide by.
func (c Costs) CheckRule(rejectBelow float64) error {
	if c != nil && rejectBelow > 0 {
		return protocol.SpecFault("costs and reject_below exclude each other: each is a rule of its own to decide by")
	}
	return nil
}
