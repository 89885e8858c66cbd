package command

import (
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Retirement is a job as RetireJobs names it.
func Retirement(job *state.Job) *pb.RetireJob {
	spec, err := protocol.ParseSpec(job.SpecJSON)
	// A spec that cannot be read names a place, for all we know: what lies there stays.
	return &pb.RetireJob{Id: job.ID, OwnOutput: err == nil && spec.Spec.Output.URI == ""}
}
