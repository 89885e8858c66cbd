package nearestmean

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/classify"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/onevsone"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// meansName is the name of the phase that sums the vectors of each class.
const meansName = "means"

// meansPhase sums the vectors of each class.
type meansPhase struct{ classify.Job[Params] }

func (p meansPhase) phase() jobs.Phase {
	return jobs.MapReduce[*features.Space, *totals]{
		Name: meansName, State: features.ReadSpace, Partial: func() *totals { return new(totals) },
		Map: p.sum, Merge: (*totals).plus, Step: p.divide,
	}.Phase()
}

// totals are the sums of a node.
type totals struct{ *sums.Rows }

// Fields lists the arrays of a partial.
func (t *totals) Fields(f *jobs.Fields) { jobs.Make(f, &t.Rows).Fields(f, "sums", "weights") }

// sum sums one leaf, in time linear in its values.
func (p meansPhase) sum(
	ctx context.Context, space *features.Space, leaf jobs.Leaf, ops *kernelops.Set,
) (*totals, error) {
	a := sums.NewAdder(space.Labels.Len(), space.Width, ops)
	for v, err := range space.Rows(leaf.Blocks(ctx), p.Train()) {
		switch {
		case err != nil:
			return nil, err
		case space.Sparse:
			a.Sparse(v.Sparse, v.Class, v.Weights)
		default:
			a.Dense(v.Dense, v.Class, v.Weights)
		}
	}
	return &totals{a.Rows()}, nil
}

// plus returns these sums plus those to the right.
func (t *totals) plus(right *totals) (*totals, error) {
	rows, err := t.Plus(right.Rows)
	return &totals{rows}, err
}

// divide computes the model from the sums.
func (p meansPhase) divide(
	_ context.Context, space *features.Space, t *totals, round jobs.Round,
) (jobs.Next, error) {
	if t.Width != space.Width || t.Classes() != space.Labels.Len() {
		return jobs.Next{}, jobs.Malformed("means: sums of %d x %d for %d classes of width %d",
			t.Classes(), t.Width, space.Labels.Len(), space.Width)
	}
	if err := p.checkLabels(space); err != nil {
		return jobs.Next{}, err
	}
	m, err := newModel(space, t)
	if err != nil {
		return jobs.Next{}, err
	}
	m.reject = p.Params.RejectBelow
	records := jobs.CountMetric("means.records", space.Records)
	return p.Judge.End(jobs.Next{State: jobs.ArraysOf(m), Metrics: []jobs.Metric{records}}, round.Plan), nil
}

// checkLabels rejects parameters that do not fit the classes of the training records.
func (p meansPhase) checkLabels(space *features.Space) error {
	if p.Params.Pairs && space.Labels.Len() > onevsone.MaxClasses {
		return protocol.InputFault(protocol.CodeInputLimit,
			"spec.params: pairs takes up to %d classes; the training records have %d", onevsone.MaxClasses,
			space.Labels.Len())
	}
	_, err := p.Params.Costs.Rule(space.Labels.List())
	return err
}
