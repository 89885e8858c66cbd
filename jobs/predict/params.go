package predict

import (
	"encoding/json"

	"github.com/gram-compute/gram/jobs/parts"
	"github.com/gram-compute/gram/jobs/validate"
	"github.com/gram-compute/gram/protocol"
)

// Params of a job of kind Predict.
type Params struct {
	// Format of the output objects: "csv", "jsonl" or "npy" (a number for each record: that of its
	// label in the index, -1 where it is rejected, or the predicted value).
	Format string `json:"format"`
	// Scores adds a column for every score that the model gives.
	Scores bool `json:"scores"`
}

// Defaults returns params with every default written in; a *protocol.Fault of
// CodeSpecInvalid says what is wrong with them.
func Defaults(params json.RawMessage) (json.RawMessage, error) {
	p, err := parseParams(params)
	if err != nil {
		return nil, err
	}
	return json.Marshal(p)
}

func parseParams(params json.RawMessage) (Params, error) {
	p := Params{Format: parts.CSV}
	if err := validate.Decode(params, &p); err != nil {
		return Params{}, err
	}
	switch p.Format {
	case parts.CSV, parts.JSONL, parts.NPY:
		return p, nil
	}
	return Params{}, protocol.SpecFault("spec.params: format is csv, jsonl or npy, not %q", p.Format)
}
