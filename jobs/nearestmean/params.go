package nearestmean

import (
	"encoding/json"
	"errors"

	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/protocol"
)

// Params of a job of kind NearestMean.
type Params struct {
	Features features.Params `json:"features"`
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
	p := Params{Features: features.DefaultParams()}
	if len(params) > 0 {
		if err := protocol.StrictDecode(params, &p); err != nil {
			return Params{}, err
		}
	}
	return p, inParams(p.Features.Check())
}

// inParams says where in the spec the fault lies.
func inParams(err error) error {
	var fault *protocol.Fault
	if errors.As(err, &fault) {
		fault.What = "params.features: " + fault.What
	}
	return err
}
