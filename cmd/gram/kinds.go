package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// validateSpec writes every default in, the kind's own too, and refuses a bad spec. The
// client asks it before it submits, the coordinator before it accepts.
func validateSpec(spec protocol.JobSpec) (protocol.JobSpec, error) {
	spec = spec.WithDefaults()
	if err := spec.Validate(); err != nil {
		return spec, err
	}
	kind, err := all.Lookup(spec.Kind)
	if err != nil {
		return spec, err
	}
	params, err := kind.Defaults(slices.Clone(spec.Spec.Params))
	if err != nil {
		return spec, err
	}
	spec.Spec.Params = json.RawMessage(params)
	return spec, nil
}

// kernels picks the kernel set: by flag, by GRAM_KERNELS, or the best.
func (a *app) kernels(name string) (*kernelops.Set, error) {
	ops, err := kernelops.Choose(name)
	if err != nil {
		return nil, &failure{code: exitUsage, what: fmt.Sprint(err)}
	}
	return ops, nil
}
