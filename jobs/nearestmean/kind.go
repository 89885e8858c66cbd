package nearestmean

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/protocol"
)

// KindName is the kind in a spec.
const KindName = "NearestMean"

// Kind is the nearest-mean classifier as a declared kind of job.
func Kind() jobs.Kind {
	return jobs.Kind{Name: KindName, Defaults: Defaults, New: New, Describe: Describe, Predict: NewPredictor}
}

type algorithm []jobs.Phase

func (a algorithm) Phases() []jobs.Phase { return a }

// New makes the algorithm: phases "features" and "means".
func New(spec protocol.JobSpec) (jobs.Algorithm, error) {
	params, err := parseParams(spec.Spec.Params)
	if err != nil {
		return nil, err
	}
	space, err := features.New(params.Features, spec, meansName, features.Classes(2))
	if err != nil {
		return nil, err
	}
	return algorithm{space, meansPhase{jobs.TrainingRecords(spec)}}, nil
}
