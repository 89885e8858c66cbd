package jobs

import (
	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/protocol"
)

// Records chooses records by identity. A call makes a function for one goroutine.
type Records func() func(dataset.Identity) bool

// TrainingRecords are those that spec.input.split does not hold out.
func TrainingRecords(spec protocol.JobSpec) Records {
	if spec.Spec.Input.Split.Test == 0 {
		return func() func(dataset.Identity) bool {
			return func(dataset.Identity) bool { return true }
		}
	}
	test := TestRecords(spec)
	return func() func(dataset.Identity) bool {
		heldOut := test()
		return func(id dataset.Identity) bool { return !heldOut(id) }
	}
}

// TestRecords are those that spec.input.split holds out for evaluation.
func TestRecords(spec protocol.JobSpec) Records {
	return func() func(dataset.Identity) bool {
		return dataset.NewSplit(spec.Spec.Repro.Seed, spec.Spec.Input.Split.Test).InTest
	}
}
