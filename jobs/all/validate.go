package all

import (
	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/protocol"
)

// Validate writes every default into a spec, the kind's own included, and refuses a
// bad one with a *protocol.Fault of CodeSpecInvalid. It is what the coordinator is given.
func Validate(spec protocol.JobSpec) (protocol.JobSpec, error) {
	spec = spec.WithDefaults()
	if err := spec.Validate(); err != nil {
		return spec, err
	}
	if err := dataset.CheckURI("spec.input.uri", spec.Spec.Input.URI); err != nil {
		return spec, err
	}
	if out := spec.Spec.Output.URI; out != "" {
		if err := dataset.CheckURI("spec.output.uri", out); err != nil {
			return spec, err
		}
	}
	kind, err := Lookup(spec.Kind)
	if err != nil {
		return spec, err
	}
	if spec.Spec.Params, err = kind.Defaults(spec.Spec.Params); err != nil {
		return spec, err
	}
	_, err = kind.New(spec)
	return spec, err
}
