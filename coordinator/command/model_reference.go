package command

import (
	"encoding/hex"
	"fmt"
	"strings"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
)

// pinModel puts what a reference means now in its place: the model's URI, its digest, and its job. A submit
// that is repeated means what it meant the first time, wherever an alias has moved since.
func pinModel(view state.State, id string, spec protocol.Spec) (protocol.Spec, error) {
	if old, ok := view.Job(id); ok && old.ModelReference == spec.Model {
		before, err := protocol.ParseSpec(old.SpecJSON)
		spec.Model, spec.ModelSHA256, spec.ModelJob = before.Spec.Model, before.Spec.ModelSHA256, before.Spec.ModelJob
		return spec, err
	}
	job, refused := view.Resolve(spec.Model)
	if refused != nil {
		return spec, refused
	}
	model, ok := job.ModelOutput()
	if !ok {
		return spec, connect.NewError(connect.CodeFailedPrecondition,
			fmt.Errorf("spec.model: job %s has no model: it has not succeeded, or leaves none", job.ID))
	}
	digest := hex.EncodeToString(model.Ref.SHA256[:])
	if spec.ModelSHA256 != "" && spec.ModelSHA256 != digest || spec.ModelJob != "" && spec.ModelJob != job.ID {
		return spec, connect.NewError(connect.CodeFailedPrecondition,
			fmt.Errorf("spec.model: %s is job %s with SHA-256 %s, not what the spec asks for", spec.Model, job.ID,
				digest))
	}
	spec.Model, spec.ModelSHA256, spec.ModelJob = model.URI, digest, job.ID
	return spec, nil
}

// checkOutput refuses outputs among what the cluster sweeps.
func (m Maker) checkOutput(uri string) error {
	store := strings.TrimRight(m.StoreURI, "/") + "/"
	for _, own := range []string{protocol.JobsPrefix, protocol.ModelsPrefix} {
		rest, inside := strings.CutPrefix(strings.TrimRight(uri, "/")+"/", store+own)
		if inside && (own == protocol.JobsPrefix || rest != "") {
			return fmt.Errorf("spec.output.uri %s lies where the cluster keeps what is its own; leave it out, or "+
				"name another place", uri)
		}
	}
	return nil
}
