package nearestmean

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/evaluation"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// meansName names the phase that sums.
const meansName = "means"

// meansPhase sums the vectors of each class.
type meansPhase struct {
	params Params
	train  jobs.Records
	judge  evaluation.Judge
}

func (p meansPhase) phase() jobs.Phase {
	return jobs.MapReduce[*features.Space, *totals]{
		Name: meansName, State: features.ReadSpace, Partial: func() *totals { return new(totals) },
		Map: p.sum, Merge: (*totals).plus, Step: p.divide,
	}.Phase()
}

// totals are the sums of a node.
type totals struct {
	width   int
	sums    []float64 // classes x width
	weights []float64 // numbers of records, or their weights
}

// Fields lists the arrays of a partial.
func (t *totals) Fields(f *jobs.Fields) {
	jobs.List(f, "weights", &t.weights)
	f.Dim("sums", 1, &t.width)
	jobs.List(f, "sums", &t.sums, len(t.weights), t.width)
}

// sum sums one leaf in the order of its records: linear in its values.
func (p meansPhase) sum(
	ctx context.Context, space *features.Space, leaf jobs.Leaf, ops *kernelops.Set,
) (*totals, error) {
	classes := space.Labels.Len()
	t := &totals{space.Width, make([]float64, classes*space.Width), make([]float64, classes)}
	for rows, err := range space.Rows(leaf.Blocks(ctx), p.train()) {
		if err != nil {
			return nil, err
		}
		t.add(rows, space, ops)
	}
	return t, nil
}

func (t *totals) add(v features.Vectors, space *features.Space, ops *kernelops.Set) {
	for i, y := range v.Class {
		t.weights[y] += weightOf(v, i)
	}
	switch {
	case space.Sparse:
		t.addSparse(v, space.Width)
	case v.Weights == nil:
		ops.AccumulateRows(t.sums, v.Dense, v.Class)
	default:
		for i, y := range v.Class {
			sums, w := t.sums[int(y)*space.Width:], float64(v.Weights[i])
			for j, x := range v.Dense.Row(i) {
				sums[j] += float64(w * float64(x))
			}
		}
	}
}

func (t *totals) addSparse(v features.Vectors, width int) {
	for i, y := range v.Class {
		sums, w := t.sums[int(y)*width:(int(y)+1)*width], weightOf(v, i)
		indices, values := v.Sparse.Row(i)
		for e, j := range indices {
			sums[j] += float64(w * float64(values[e]))
		}
	}
}

// plus adds the sums to the right.
func (t *totals) plus(right *totals) (*totals, error) {
	if t.width != right.width || len(t.weights) != len(right.weights) {
		return nil, jobs.Malformed("means: sums of %d x %d and %d x %d",
			len(t.weights), t.width, len(right.weights), right.width)
	}
	return &totals{t.width, plus(t.sums, right.sums), plus(t.weights, right.weights)}, nil
}

func plus(a, b []float64) []float64 {
	sum := make([]float64, len(a))
	for i := range sum {
		sum[i] = a[i] + b[i]
	}
	return sum
}

// divide makes the model of the sums.
func (p meansPhase) divide(
	_ context.Context, space *features.Space, t *totals, round jobs.Round,
) (jobs.Next, error) {
	if t.width != space.Width || len(t.weights) != space.Labels.Len() {
		return jobs.Next{}, jobs.Malformed("means: sums of %d x %d for %d classes of width %d",
			len(t.weights), t.width, space.Labels.Len(), space.Width)
	}
	if err := p.checkLabels(space); err != nil {
		return jobs.Next{}, err
	}
	m, err := newModel(space, t)
	if err != nil {
		return jobs.Next{}, err
	}
	records := jobs.CountMetric("means.records", space.Records)
	return p.judge.End(jobs.Next{State: jobs.ArraysOf(m), Metrics: []jobs.Metric{records}}, round.Plan), nil
}

// checkLabels holds what was asked for against the classes that there are.
func (p meansPhase) checkLabels(space *features.Space) error {
	if p.params.Pairs && space.Labels.Len() > maxPairClasses {
		return protocol.InputFault(protocol.CodeInputLimit,
			"spec.params: pairs takes up to %d classes; the training records have %d", maxPairClasses,
			space.Labels.Len())
	}
	_, err := p.params.Costs.Rule(space.Labels.List())
	return err
}

// weightOf is what a row counts.
func weightOf(v features.Vectors, row int) float64 {
	if v.Weights == nil {
		return 1
	}
	return float64(v.Weights[row])
}
