package knn

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/evaluation"
)

// lookUp is the phase that looks up the records of a few mistakes.
func (p *plan) lookUp() *evaluation.LookUp {
	source := jobs.Input
	if p.queries {
		source = jobs.Queries
	}
	return &evaluation.LookUp{From: source, Finish: p.finish}
}
