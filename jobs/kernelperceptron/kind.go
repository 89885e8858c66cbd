package kernelperceptron

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/evaluation"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/protocol"
)

// KindName is the kind in a spec.
const KindName = "KernelPerceptron"

// Kind is the kernel perceptron as a declared kind of job.
func Kind() jobs.Kind {
	return jobs.Kind{Name: KindName, UsesQueries: true, Defaults: Defaults, New: New, Describe: Describe,
		Predict: NewPredictor, Figures: Figures}
}

// algorithm is a list of phases.
type algorithm []jobs.Phase

func (a algorithm) Phases() []jobs.Phase { return a }

// job is what all phases of a job know.
type job struct {
	params   Params
	seed     uint64
	train    jobs.Records
	queries  bool // the test records are those of spec.queries
	holdsOut bool // the test records are those of spec.input.split
}

// New makes the algorithm: phases "features", "train" and, where there are test records, "evaluate".
func New(spec protocol.JobSpec) (jobs.Algorithm, error) {
	params, err := parseParams(spec.Spec.Params)
	if err != nil {
		return nil, err
	}
	j := job{params: params, seed: spec.Spec.Repro.Seed, train: jobs.TrainingRecords(spec),
		queries: spec.Spec.Queries != nil, holdsOut: spec.Spec.Input.Split.Test > 0}
	if j.queries && j.holdsOut {
		return nil, specFault("spec.queries and input.split.test both give test records; leave one out")
	}
	space, err := features.New(params.Features, spec, trainName, features.Classes(2))
	if err != nil {
		return nil, err
	}
	phases := algorithm{&spacePhase{space, j}, &trainPhase{j}}
	if j.evaluates() {
		evaluate := &evaluation.Phase{Test: jobs.TestRecords(spec), Load: NewPredictor, Costs: params.Costs}
		if j.queries {
			evaluate.Test = everyRecord
		}
		phases = append(phases, &evaluatePhase{evaluate, j.queries})
	}
	return phases, nil
}

func (j job) evaluates() bool { return j.queries || j.holdsOut }
