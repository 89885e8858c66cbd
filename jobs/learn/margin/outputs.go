package margin

import "github.com/gram-compute/gram/jobs/params"

// Outputs are the parameters that say what a job tells beside its model.
type Outputs struct {
	Margin         bool `json:"margin"`
	SupportVectors bool `json:"support_vectors"`
}

// Parameters declares the parameters; check refuses them where there is no margin.
func (o *Outputs) Parameters(check func() error) []params.Parameter {
	margin := params.Flag("margin", &o.Margin, false).Checked(check).
		Says("Keeps the proved bounds on the largest margin in the model; the report has them in any case.")
	support := params.Flag("support_vectors", &o.SupportVectors, false).Checked(check).
		Says("Writes the records with a coefficient above 0 beside the model, below support/, in one more pass: with label, " +
			"machine, alpha, margin and slack. Of each block at most 2^18 rows are written.")
	return []params.Parameter{margin, support}
}

// Asked reports whether one of them is.
func (o *Outputs) Asked() bool { return o.Margin || o.SupportVectors }
