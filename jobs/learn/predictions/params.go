package predictions

import (
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/jobs/params"
)

// Params say what is written of each record.
type Params struct {
	Format string `json:"format"`
	Scores bool   `json:"scores"`
}

// Parameters declares the parameters.
func (p *Params) Parameters() []params.Parameter {
	return []params.Parameter{
		params.Choice("format", &p.Format, parts.CSV, parts.CSV, parts.JSONL, parts.NPY).
			Says("Format of the predictions. npy has a number for each record: that of its label in the index, " +
				"-1 where it is rejected, or the predicted value."),
		params.Flag("scores", &p.Scores, false).Says("Adds a column for every score that the model gives."),
	}
}
