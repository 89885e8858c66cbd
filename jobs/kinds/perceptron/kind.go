package perceptron

import (
	"github.com/gram-compute/gram/jobs"
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
		New:     New, Describe: Describe,
		Predict: NewPredictor, Learn: learn, Figures: Figures, LeastState: leastState}
}

func learn(model jobs.Arrays, ops *kernelops.Set) (jobs.Learner, error) { return Load(model, ops) }

// algorithm is a list of phases.
type algorithm []jobs.Phase

func (a algorithm) Phases() []jobs.Phase { return a }

// job is what all phases of a job know.
type job struct {
	params   Params
	seed     uint64
	train    jobs.Records
	judge    evaluation.Judge
	maxState int64 // 0 for no bound
}

// New makes the algorithm: the phases of the package.
func New(spec protocol.JobSpec) (jobs.Algorithm, error) {
	p, err := params.Parse[Params](spec.Spec.Params)
	if err != nil {
		return nil, err
	}
	judge, err := evaluation.JudgeOf(spec, NewPredictor, p.Costs)
	if err != nil {
		return nil, err
	}
	j := job{params: p, seed: spec.Spec.Repro.Seed, train: jobs.TrainingRecords(spec), judge: judge,
		maxState: int64(spec.Spec.Run.MaxStateBytes)}
	if least := leastState(spec); j.maxState > 0 && least > j.maxState {
		return nil, protocol.SpecFault(
			"form %s keeps at least %d bytes of weights for the columns of this spec; spec.run.max_state_bytes is %d",
			p.Form, least, j.maxState).
			WithHint("Raise spec.run.max_state_bytes, or make the vectors narrower (fewer bits for hashing).")
	}
	phases := algorithm{&warmPhase{j}}
	if spec.Spec.Model == "" {
		space, err := features.NewBuilder(p.Features, spec, features.Classes(2), features.Compares())
		if err != nil {
			return nil, params.In("spec.params", err)
		}
		phases = algorithm{space.Phase(j.begin)}
	}
	if p.Over == overChained {
		phases = append(phases, &chainedPhase{j})
	} else {
		phases = append(phases, (&mixedPhase{j}).phase())
	}
	phases = append(phases, (&marginPhase{j}).phase())
	return append(phases, judge.Phases()...), nil
}
