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
type momentsPhase struct {
	classify.Job[Params]
	grown bool // the state has the sums of spec.model
}

func (p momentsPhase) phase() jobs.Phase {
	return jobs.MapReduce[*state, *sums.Moments]{
		Name: momentsName, State: readState, Partial: func() *sums.Moments { return new(sums.Moments) },
		Map: p.count, Merge: (*sums.Moments).Plus, Step: p.model,
	}.Phase()
}

// count computes the moments of one leaf, in time linear in its values and memory linear in classes times width.
func (p momentsPhase) count(
	ctx context.Context, s *state, leaf jobs.Leaf, ops *kernelops.Set,
) (*sums.Moments, error) {
	space := s.space
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

// state is what phase "moments" begins from.
type state struct {
	space  *features.Space
	growth *features.Growth // nil where the model does not grow
	before *sums.Moments    // of the records of spec.model, by the labels of the space; nil without a model
}

// Fields lists the state.
func (s *state) Fields(f *jobs.Fields) {
	jobs.Make(f, &s.space).Fields(f)
	if features.HasGrowth(f, s.growth != nil) {
		jobs.Make(f, &s.growth).Fields(f, s.space)
	}
	if f.Has("before.sums", s.before != nil) {
		jobs.Make(f, &s.before).Named(f, "before.")
	}
}

// readState reads the state. Sparse vectors are a fault, because a normal density needs dense ones.
func readState(arrays jobs.Arrays) (*state, error) {
	s, err := jobs.Load[state](arrays)
	if err == nil && s.space.Sparse {
		return nil, protocol.SpecFault("%s takes dense vectors; texts go to kind NaiveBayes", KindName)
	}
	return s, err
}

// model computes the model. It is a fault of CodeInputEmpty if every column is constant, or if the records of a class
// all weigh 0: nothing can be learned from them.
func (p momentsPhase) model(
	_ context.Context, s *state, root *sums.Moments, round jobs.Round,
) (jobs.Next, error) {
	root, err := p.with(s, root)
	if err != nil {
		return jobs.Next{}, err
	}
	m, err := newModel(p.Params, s.space, root)
	if err != nil {
		return jobs.Next{}, err
	}
	if p.Params.Grows {
		m.growth = &growth{s.growth, root, p.Params.VarSmoothing}
	}
	smoothing, err := jobs.NewMetric("moments.smoothing", smoothing(p.Params.VarSmoothing, s.space))
	if err != nil {
		return jobs.Next{}, err
	}
	return p.Judge.End(jobs.Next{State: jobs.ArraysOf(m), Metrics: []jobs.Metric{smoothing}}, round.Plan), nil
}

// smoothing returns the constant that is added to every variance.
func smoothing(varSmoothing float64, space *features.Space) float64 {
	largest := 0.0
	for _, v := range space.Variance {
		largest = max(largest, v)
	}
	return float64(varSmoothing * largest)
}
