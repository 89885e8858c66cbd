package kernelmean

import (
	"context"
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/classify"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
)

// meanModel is a model of KernelNearestMean.
type meanModel struct {
	groups
	space  *features.Space
	kernel kernels.Function
	norms  []float64 // |mu_y|^2
	reject evaluation.Rejection
}

// newMeanModel is a model whose norms are not known yet.
func newMeanModel(params MeanParams, space *features.Space, g groups) (*meanModel, error) {
	if _, err := params.Costs.Rule(space.Labels.List()); err != nil {
		return nil, err
	}
	kernel, err := params.Of(space.Width)
	if err != nil {
		return nil, err
	}
	return &meanModel{groups: g, space: space, kernel: kernels.NewFunction(kernel, space),
		norms: make([]float64, space.Labels.Len()), reject: params.RejectBelow}, nil
}

// leaveBase leaves the base out of the model.
func (m *meanModel) leaveBase() { m.groups = unstored(m.space, m.weights) }

// Fields lists the model.
func (m *meanModel) Fields(f *jobs.Fields) {
	kernels.KindField(f, MeanName, m.kernel, false)
	spaceField(f, &m.space)
	f.Require(!m.space.Omits(), "a mean in the space of a kernel over missing numbers")
	m.groups.Fields(f, m.space)
	m.kernel.Fields(f, m.space)
	jobs.List(f, "norms", &m.norms, len(m.weights))
	m.reject.Fields(f)
	for y, v := range m.norms {
		f.Require(v-v == 0, "the norm of class %d is %v", y, v)
	}
}

// describe tells the kernel, and of each class the records and the length of its mean in feature space.
func (m *meanModel) describe(p *describe.Page) error {
	p.Text("Nearest mean in feature space: %s\nkernel: %s\n\n", m.size(m.space), m.kernel.Text())
	if m.reject > 0 {
		m.reject.Describe(p)
		p.Text("\n")
	}
	m.list(p, m.space, "squared norm of the mean", m.norms)
	if len(m.weights) == 2 {
		labels := m.space.Labels.List()
		p.Text("\nf(x) = sum of alpha_i k(x_i, x) + b is above 0 for %s: "+
			"alpha is %.6g for its records and %.6g for those of %s (times\ntheir weight where they have one), and b = %.6g\n",
			labels[1], 1/m.weights[1], -1/m.weights[0], labels[0], float64((m.norms[0]-m.norms[1])/2))
	}
	return nil
}

// meanPredictor decides by the closest mean; one goroutine at a time.
type meanPredictor struct {
	*meanModel
	sum    summer
	tile   []float32
	labels []string
}

// NewMeanPredictor loads a model of KernelNearestMean. One that does not hold its base is a
// *protocol.Fault of CodeSpecInvalid. One prediction takes a kernel value for each record of the base.
func NewMeanPredictor(a jobs.Arrays, ops *kernelops.Set) (jobs.Predictor, error) {
	m, err := jobs.Load[meanModel](a)
	if err == nil {
		err = m.needBase()
	}
	if err != nil {
		return nil, err
	}
	p := &meanPredictor{meanModel: m, sum: newSummer(ops, m.kernel, len(m.weights)), labels: m.space.Labels.List()}
	return m.reject.Of(
		classify.NewVectors(m.space, classify.Scored(p.labels, "distance").Of(jobs.Distances), p.predict))
}

// predict gives each record the label of the closest mean in feature space, of equally close ones the first. The value
// is the distance to it; the scores are the distances to all.
func (p *meanPredictor) predict(
	ctx context.Context, list []jobs.Outcome, v features.Vectors,
) ([]jobs.Outcome, error) {
	queries, classes := rows.Of(v), len(p.labels)
	for from, x := range queries.Tiles(0, v.Rows, rows.QueryRows, &p.tile) {
		sums := make([]float64, x.Rows*classes)
		if err := p.sum.add(ctx, sums, x, p.base, 0, p.base.N); err != nil {
			return nil, err
		}
		for i := range x.Rows {
			self, err := p.sum.self(x.RowRange(i, i+1))
			if err != nil {
				return nil, err
			}
			o, ok := p.outcome(self, sums[i*classes:(i+1)*classes])
			if !ok {
				return nil, kernels.Beyond(v.IDs[from+i], p.kernel.Kernel)
			}
			list = append(list, o)
		}
	}
	return list, nil
}

// outcome turns the sums of one query into distances; false where one is no number.
func (p *meanPredictor) outcome(self float64, sums []float64) (jobs.Outcome, bool) {
	best := 0
	for y, sum := range sums {
		sums[y] = self - float64(2*(sum/p.weights[y])) + p.norms[y]
		if sums[y]-sums[y] != 0 {
			return jobs.Outcome{}, false
		}
		if sums[y] < sums[best] {
			best = y
		}
	}
	for y, squared := range sums {
		sums[y] = math.Sqrt(max(0, squared))
	}
	return jobs.Outcome{Label: p.labels[best], Value: sums[best], Scores: sums}, true
}
