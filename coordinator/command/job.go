// Package command makes the commands of the log from what is asked: a spec becomes a job, a definition a schedule.
package command

import (
	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Maker makes commands by the rules of one cluster.
type Maker struct {
	StoreURI string // where job objects live
	// Validate writes a spec's defaults in and refuses a bad one.
	Validate func(protocol.JobSpec) (protocol.JobSpec, error)
}

// Job writes the defaults into a spec, and what its references mean, and makes it a command.
func (m Maker) Job(view state.State, id string, spec protocol.JobSpec) (*pb.SubmitJob, error) {
	reference, err := "", error(nil)
	if protocol.IsReference(spec.Spec.Model) {
		reference = spec.Spec.Model
		if spec.Spec, err = pinModel(view, id, spec.Spec); err != nil {
			return nil, err
		}
	}
	if spec, err = m.Validate(spec); err == nil { // after that, so that it sees the URI
		err = m.checkOutput(spec.Spec.Output.URI)
	}
	if err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	run := spec.Spec.Run
	cmd := &pb.SubmitJob{
		Id: id, Name: spec.Metadata.Name, Kind: spec.Kind,
		// within their bounds by Validate
		Priority: int32(run.Priority), MaxWorkers: uint32(run.MaxWorkers), Needs: run.Needs,
		KeepMs: int64(run.Keep), AuditPpm: run.AuditPPM(), ModelUri: spec.Spec.Model, ModelJob: spec.Spec.ModelJob,
		ModelReference: reference,
	}
	if cmd.SpecJson, err = spec.Canonical(); err != nil {
		return nil, err
	}
	if cmd.SpecHash, err = spec.Hash(); err != nil {
		return nil, err
	}
	cmd.ResultHash, err = spec.ResultHash()
	return cmd, err
}
