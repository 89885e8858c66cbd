package gaussiannb

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/classify"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// momentsName is the name of the phase that computes means and variances.
const momentsName = "moments"

// momentsPhase computes the mean and the variance of each column in each class.
type momentsPhase struct{ classify.Job[Params] }

func (p momentsPhase) phase() jobs.Phase {
	return jobs.MapReduce[*features.Space, *sums.Moments]{
		Name: momentsName, State: readSpace, Partial: func() *sums.Moments { return new(sums.Moments) },
		Map: p.count, Merge: (*sums.Moments).Plus, Step: p.model,
	}.Phase()
}

// count computes the moments of one leaf, in time linear in its values and memory linear in classes times width.
func (p momentsPhase) count(
	ctx context.Context, space *features.Space, leaf jobs.Leaf, ops *kernelops.Set,
) (*sums.Moments, error) {
	if space.Omits() {
		return p.countPresent(ctx, space, leaf, ops)
	}
	m := sums.NewMomentAdder(space.Labels.Len(), space.Width, ops)
	for rows, err := range space.Rows(leaf.Blocks(ctx), p.Train()) {
		if err != nil {
			return nil, err
		}
		m.Dense(rows.Dense, rows.Class, rows.Weights)
	}
	return m.Moments(), nil
}

// countPresent is count of vectors that miss numbers. Each has twice the columns: its numbers, 0 where one is missing,
// and then 1 where there is one, else 0. The sums of the latter are the weights of the former.
func (p momentsPhase) countPresent(
	ctx context.Context, space *features.Space, leaf jobs.Leaf, ops *kernelops.Set,
) (*sums.Moments, error) {
	m, width := sums.NewMomentAdder(space.Labels.Len(), 2*space.Width, ops), space.Width
	var data []float32
	for rows, err := range space.Rows(leaf.Blocks(ctx), p.Train()) {
		if err != nil {
			return nil, err
		}
		data = kernelops.Resize(data, 2*width*rows.Rows)
		clear(data)
		x := kernelops.Matrix{Data: data, Rows: rows.Rows, Cols: 2 * width, Stride: 2 * width}
		for i := range rows.Rows {
			to := x.Row(i)
			for j, v := range rows.Dense.Row(i) {
				if v == v {
					to[j], to[width+j] = v, 1
				}
			}
		}
		m.Dense(x, rows.Class, rows.Weights)
	}
	return m.Moments(), nil
}

// readSpace reads the space from the state. Sparse vectors are a fault, because a normal density needs dense ones.
func readSpace(state jobs.Arrays) (*features.Space, error) {
	space, err := features.ReadSpace(state)
	if err == nil && space.Sparse {
		return nil, protocol.SpecFault("%s takes dense vectors; texts go to kind NaiveBayes", KindName)
	}
	return space, err
}

// model computes the model. It is a fault of CodeInputEmpty if every column is constant, or if the records of a class
// all weigh 0: nothing can be learned from them.
func (p momentsPhase) model(
	_ context.Context, space *features.Space, root *sums.Moments, round jobs.Round,
) (jobs.Next, error) {
	m, err := newModel(p.Params, space, root)
	if err != nil {
		return jobs.Next{}, err
	}
	smoothing, err := jobs.NewMetric("moments.smoothing", p.Params.smoothing(space))
	if err != nil {
		return jobs.Next{}, err
	}
	return p.Judge.End(jobs.Next{State: jobs.ArraysOf(m), Metrics: []jobs.Metric{smoothing}}, round.Plan), nil
}

// smoothing returns the constant that is added to every variance.
func (p Params) smoothing(space *features.Space) float64 {
	largest := 0.0
	for _, v := range space.Variance {
		largest = max(largest, v)
	}
	return float64(p.VarSmoothing * largest)
}
