package naivebayes

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/kernelops"
)

// vocabularyPhase makes the dictionary. It counts on from a model where there is one, and holds the labels found
// against the parameters before anything is counted for them.
type vocabularyPhase struct {
	*vocabulary.Builder
	params Params
	grown  bool // the state of the first round is a model
}

func (p *vocabularyPhase) phase() jobs.Phase {
	return jobs.MapReduce[jobs.Arrays, *vocabulary.Counts]{
		Name: vocabulary.Name, State: jobs.Itself, Partial: func() *vocabulary.Counts { return new(vocabulary.Counts) },
		Map: p.count, Merge: (*vocabulary.Counts).Plus, Step: p.finish,
	}.Phase()
}

// count refuses a model that the parameters contradict before it reads a record.
func (p *vocabularyPhase) count(
	ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, _ *kernelops.Set,
) (*vocabulary.Counts, error) {
	if p.grown {
		if err := p.params.agreeWith(state); err != nil {
			return nil, err
		}
	}
	return p.Count(ctx, leaf)
}

// words is the state between the two phases.
type words struct {
	vocabulary.Found
	growth []int64        // of each term; nil where the model does not grow
	before *partialCounts // the counts of the model before; nil where there is none
}

// Fields lists the state.
func (w *words) Fields(f *jobs.Fields) {
	w.Found.Fields(f)
	jobs.Optional(f, modelGrowth, &w.growth, w.Dictionary.Len())
	if f.Has(classDocuments, w.before != nil) {
		jobs.Make(f, &w.before).Fields(f)
	}
}

// finish finds the dictionary of all records, those of the model before too, and renumbers its counts.
func (p *vocabularyPhase) finish(
	_ context.Context, state jobs.Arrays, root *vocabulary.Counts, _ jobs.Round,
) (jobs.Next, error) {
	var before *model
	if p.grown {
		var err error
		if before, err = jobs.Load[model](state); err != nil {
			return jobs.Next{}, err
		}
		if root, err = before.vocabulary().Plus(root); err != nil {
			return jobs.Next{}, err
		}
	}
	found, metrics, err := p.Finish(root)
	if err != nil {
		return jobs.Next{}, err
	}
	if err := p.params.checkLabels(found.Labels.Keys.List()); err != nil {
		return jobs.Next{}, err
	}
	w := &words{Found: *found}
	if before != nil {
		w.before = before.renumbered(found.Dictionary, found.Labels.Keys)
	}
	if p.params.Grows {
		w.growth = p.params.growth(root.Terms, found.Dictionary)
	}
	return jobs.Next{Phase: countsName, State: jobs.ArraysOf(w), Metrics: metrics}, nil
}
