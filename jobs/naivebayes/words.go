package naivebayes

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/vocabulary"
	"github.com/gram-compute/gram/kernelops"
)

// vocabularyPhase counts on from a model where there is one, and holds the labels found against the parameters before
// anything is counted for them.
type vocabularyPhase struct {
	*vocabulary.Phase
	params Params
	grown  bool // the state of the first round is a model
}

// Map refuses a model that the parameters contradict before it reads a record.
func (p *vocabularyPhase) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, carry jobs.Arrays, ops *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	if p.grown {
		if err := p.params.agreeWith(state); err != nil {
			return nil, nil, err
		}
	}
	return p.Phase.Map(ctx, state, leaf, carry, ops)
}

// Step finds the dictionary of all records, those of the model before too, and renumbers its counts.
func (p *vocabularyPhase) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	root, err := round.Only(ctx)
	if err != nil {
		return jobs.Next{}, err
	}
	var before *model
	if p.grown {
		if before, err = readModel(state); err != nil {
			return jobs.Next{}, err
		}
		if root, err = p.Merge(before.vocabulary(), root); err != nil {
			return jobs.Next{}, err
		}
	}
	next, err := p.Phase.Step(ctx, nil, jobs.RoundOf(round.Plan, root))
	if err != nil {
		return jobs.Next{}, err
	}
	labels, err := vocabulary.ReadLabels(next.State)
	if err != nil {
		return jobs.Next{}, err
	}
	if err := p.params.checkLabels(labels.List()); err != nil {
		return jobs.Next{}, err
	}
	return next, p.handOver(next.State, root, before, labels)
}

// handOver adds to the state what growing needs.
func (p *vocabularyPhase) handOver(state, root jobs.Arrays, before *model, labels jobs.Strings) error {
	if !p.params.Grows && before == nil {
		return nil
	}
	dictionary, err := vocabulary.ReadDictionary(state)
	if err != nil {
		return err
	}
	if before != nil {
		before.renumbered(dictionary, labels).put(state)
	}
	if p.params.Grows {
		return p.params.putGrowth(state, root, dictionary)
	}
	return nil
}
