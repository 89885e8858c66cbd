package perceptron

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/classify"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// KindName is the kind in a spec.
const KindName = "Perceptron"

// Kind is the perceptron as a declared kind of job.
func Kind() jobs.Kind {
	return jobs.Kind{Name: KindName, UsesQueries: true, UsesModel: true, Params: params.Of[Params](),
		Summary: "Linear perceptrons: averaged, plain or voted, serial or mixed over shards.",
		New:     New, Describe: describe.Of(readModel, (*model).describe),
		Predict: NewPredictor, Learn: learn,
		Figures: jobs.FiguresOf(readModel, (*model).figures), LeastState: leastState}
}

func learn(model jobs.Arrays, ops *kernelops.Set) (jobs.Learner, error) { return Load(model, ops) }

// job is what all phases of a job know.
type job struct{ classify.Job[Params] }

// New makes the algorithm: the phases of the package.
func New(spec protocol.JobSpec) (jobs.Algorithm, error) {
	read, err := classify.JobOf(spec, NewPredictor, func(p Params) evaluation.Costs { return p.Costs })
	if err != nil {
		return nil, err
	}
	j := job{read}
	if least := leastState(spec); j.MaxState > 0 && least > j.MaxState {
		return nil, protocol.SpecFault(
			"form %s keeps at least %d bytes of weights for the columns of this spec; spec.run.max_state_bytes is %d",
			j.Params.Form, least, j.MaxState).
			WithHint("Raise spec.run.max_state_bytes, or make the vectors narrower (fewer bits for hashing).")
	}
	phases := jobs.Phases{(&warmPhase{j}).phase()}
	if spec.Spec.Model == "" {
		space, err := features.NewBuilder(j.Params.Features, spec, features.Classes(2), features.Compares())
		if err != nil {
			return nil, params.In("spec.params", err)
		}
		phases = jobs.Phases{space.Phase(j.begin)}
	}
	if j.Params.Over == overChained {
		phases = append(phases, (&chainedPhase{j}).phase())
	} else {
		phases = append(phases, (&mixedPhase{j}).phase())
	}
	phases = append(phases, (&marginPhase{j}).phase())
	return append(phases, j.Judge.Phases()...), nil
}
