package classify

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// Job is what the phases of a job that trains a classifier know of its spec.
type Job[P any] struct {
	Params   P
	Seed     uint64
	Train    jobs.Records // to learn from
	Judge    evaluation.Judge
	MaxState int64 // bytes of a state; 0 for no bound
}

// JobOf reads a spec whose parameters are a P. The judge loads the model with load, and counts the costs that the
// parameters name. Errors are *protocol.Fault of CodeSpecInvalid.
func JobOf[P any, T params.Pointer[P]](
	spec protocol.JobSpec, load evaluation.Load, costs func(P) evaluation.Costs,
) (Job[P], error) {
	p, err := params.Parse[P, T](spec.Spec.Params)
	if err != nil {
		return Job[P]{}, err
	}
	judge, err := evaluation.JudgeOf(spec, load, costs(p))
	return Job[P]{p, spec.Spec.Repro.Seed, jobs.TrainingRecords(spec), judge, int64(spec.Spec.Run.MaxStateBytes)}, err
}
