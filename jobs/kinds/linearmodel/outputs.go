package linearmodel

import (
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// Outputs are the parameters that say what a job tells beside the weights.
type Outputs struct {
	Margin bool `json:"margin"`
}

func (o *Outputs) marginParameter(check func() error) params.Parameter {
	return params.Flag("margin", &o.Margin, false).Checked(check).
		Says("Keeps the proved bounds on the largest margin in the model; the report has them in any case.")
}

// needMargin refuses outputs about margins for a loss that has none.
func (p *Params) needMargin() error {
	if p.Margin && !p.loss().HasMargin() {
		return protocol.SpecFault("margin is true with loss %s, which has no margin", p.Loss).
			WithHint("Take loss: hinge or squared_hinge, or leave margin out.")
	}
	return nil
}
