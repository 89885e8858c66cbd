package kernelmean

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/jobs/learn/predictions"
	"github.com/gram-compute/gram/protocol"
)

// ending is what follows a model: it is judged, or decides the records to judge on and gives up its base.
type ending struct {
	evaluation.Judge
	decide *predictions.Phase // nil where the model keeps its base
}

// withBase is a model that can do without its base.
type withBase interface {
	jobs.Stored
	leaveBase()
}

func newEnding[M withBase](
	spec protocol.JobSpec, storeBase bool, load evaluation.Load, costs evaluation.Costs,
	read func(jobs.Arrays) (M, error),
) (ending, error) {
	judge, err := evaluation.JudgeOf(spec, load, costs)
	if err != nil || storeBase {
		return ending{Judge: judge}, err
	}
	if !judge.Judges() {
		return ending{}, protocol.SpecFault(
			"spec.params: without queries and split there is nothing to decide; set store_base for a model that predicts")
	}
	return ending{judge, &predictions.Phase{Params: predictions.Params{Format: parts.CSV}, Load: load,
		From: judge.Source(), Of: judge.Test(),
		Costs: func(jobs.Arrays, []string) (evaluation.Costs, error) { return costs, nil },
		End: func(model jobs.Arrays, _ *parts.List) (jobs.Arrays, error) {
			m, err := read(model)
			if err != nil {
				return nil, err
			}
			m.leaveBase()
			return jobs.ArraysOf(m), nil
		}}}, nil
}

// End goes on from the model.
func (e ending) End(next jobs.Next, plan jobs.Plan) jobs.Next {
	next = e.Judge.End(next, plan)
	if e.decide != nil {
		next.Phase = predictions.Name
	}
	return next
}

// Phases are those that End goes on with.
func (e ending) Phases() []jobs.Phase {
	if e.decide != nil {
		return []jobs.Phase{e.decide.Phase()}
	}
	return e.Judge.Phases()
}
