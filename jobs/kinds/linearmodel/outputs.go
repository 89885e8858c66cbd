package linearmodel

import (
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// Outputs are the parameters that say what a job tells beside the weights.
type Outputs struct {
	Margin         bool `json:"margin"`
	SupportVectors bool `json:"support_vectors"`
}

// parameters declares the parameters; check refuses them for a loss without a margin.
func (o *Outputs) parameters(check func() error) []params.Parameter {
	margin := params.Flag("margin", &o.Margin, false).Checked(check).
		Says("Keeps the proved bounds on the largest margin in the model; the report has them in any case. Where " +
			"none is above 0, one more pass looks for an exact proof that the classes are not separable.")
	support := params.Flag("support_vectors", &o.SupportVectors, false).Checked(check).
		Says("Writes the records with a coefficient above 0 beside the model, below support/, in one more pass: with label, " +
			"machine, alpha, margin and slack. A block has at most 2^18 rows.")
	return []params.Parameter{margin, support}
}

// needMargin refuses outputs about margins for a loss that has none.
func (p *Params) needMargin() error {
	if (p.Margin || p.SupportVectors) && !p.loss().HasMargin() {
		return protocol.SpecFault("margin or support_vectors is true with loss %s, which has no margin", p.Loss).
			WithHint("Take loss: hinge or squared_hinge, or leave margin and support_vectors out.")
	}
	return nil
}
