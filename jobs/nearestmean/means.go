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

// Arrays of a partial.
const (
	sumsArray    = "sums"    // F64 [classes, width]
	weightsArray = "weights" // F64 [classes]: numbers of records, or their weights
)

// meansPhase sums the vectors of each class.
type meansPhase struct {
	params Params
	train  jobs.Records
	judged bool // another phase follows
}

func (meansPhase) Name() string { return meansName }

// totals are the sums of a node.
type totals struct {
	sums    []float64 // classes x width
	weights []float64
}

// Map sums one leaf in the order of its records: linear in its values.
func (p meansPhase) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays, ops *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	space, err := features.ReadSpace(state)
	if err != nil {
		return nil, nil, err
	}
	classes := space.Labels.Len()
	t := totals{make([]float64, classes*space.Width), make([]float64, classes)}
	reader, train := space.NewReader(), p.train()
	for block, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, nil, err
		}
		v, err := reader.Read(block, train)
		if err != nil {
			return nil, nil, err
		}
		t.add(v, space, ops)
	}
	return t.arrays(space.Width), nil, nil
}

func (t totals) add(v features.Vectors, space *features.Space, ops *kernelops.Set) {
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

func (t totals) addSparse(v features.Vectors, width int) {
	for i, y := range v.Class {
		sums, w := t.sums[int(y)*width:(int(y)+1)*width], weightOf(v, i)
		indices, values := v.Sparse.Row(i)
		for e, j := range indices {
			sums[j] += float64(w * float64(values[e]))
		}
	}
}

func (t totals) arrays(width int) jobs.Arrays {
	a := jobs.Arrays{}
	jobs.Put(a, sumsArray, t.sums, len(t.weights), width)
	jobs.Put(a, weightsArray, t.weights)
	return a
}

func readTotals(a jobs.Arrays) (t totals, width int, err error) {
	if t.weights, err = jobs.Get[float64](a, weightsArray); err != nil {
		return totals{}, 0, err
	}
	if t.sums, err = jobs.Get[float64](a, sumsArray, len(t.weights), -1); err != nil {
		return totals{}, 0, err
	}
	return t, a[sumsArray].Shape[1], nil
}

// Merge adds two neighbours.
func (meansPhase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	a, width, err := readTotals(left)
	if err != nil {
		return nil, err
	}
	b, other, err := readTotals(right)
	if err != nil {
		return nil, err
	}
	if width != other || len(a.weights) != len(b.weights) {
		return nil, jobs.Malformed("means: sums of %d x %d and %d x %d", len(a.weights), width, len(b.weights), other)
	}
	return totals{plus(a.sums, b.sums), plus(a.weights, b.weights)}.arrays(width), nil
}

func plus(a, b []float64) []float64 {
	sum := make([]float64, len(a))
	for i := range sum {
		sum[i] = a[i] + b[i]
	}
	return sum
}

// Step divides the sums.
func (p meansPhase) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	root, err := round.Only(ctx)
	if err != nil {
		return jobs.Next{}, err
	}
	t, width, err := readTotals(root)
	if err != nil {
		return jobs.Next{}, err
	}
	space, err := features.ReadSpace(state)
	if err != nil {
		return jobs.Next{}, err
	}
	if width != space.Width || len(t.weights) != space.Labels.Len() {
		return jobs.Next{}, jobs.Malformed("means: sums of %d x %d for %d classes of width %d", len(t.weights), width, space.Labels.Len(), space.Width)
	}
	if err := p.checkLabels(space); err != nil {
		return jobs.Next{}, err
	}
	m, err := newModel(space, t)
	if err != nil {
		return jobs.Next{}, err
	}
	next := jobs.Next{Done: true, State: m.arrays(), Metrics: []jobs.Metric{jobs.CountMetric("means.records", space.Records)}}
	if p.judged {
		next = evaluation.After(next, round.Plan)
	}
	return next, nil
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
