package gaussiannb

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/classify"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// momentsName is the name of the phase that computes means and variances.
const momentsName = "moments"

// momentsPhase computes the mean and the variance of each column in each class.
type momentsPhase struct{ classify.Job[Params] }

func (p momentsPhase) phase() jobs.Phase {
	return jobs.MapReduce[*features.Space, *moments]{
		Name: momentsName, State: readSpace, Partial: func() *moments { return new(moments) },
		Map: p.count, Merge: (*moments).plus, Step: p.model,
	}.Phase()
}

// count computes the moments of one leaf, in time linear in its values and memory linear in classes times width.
func (p momentsPhase) count(
	ctx context.Context, space *features.Space, leaf jobs.Leaf, _ *kernelops.Set,
) (*moments, error) {
	m := newMoments(space.Labels.Len(), space.Width)
	for rows, err := range space.Rows(leaf.Blocks(ctx), p.Train()) {
		if err != nil {
			return nil, err
		}
		m.addRows(rows)
	}
	return m, nil
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
	_ context.Context, space *features.Space, root *moments, round jobs.Round,
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

// moments are, for each class, the weight of its records and, for each column, the mean and the
// weighted sum of the squared distances from the mean.
type moments struct {
	width    int
	weight   []float64 // [classes]
	mean, m2 []float64 // [classes x width]
}

func newMoments(classes, width int) *moments {
	return &moments{width, make([]float64, classes), make([]float64, classes*width), make([]float64, classes*width)}
}

// Fields lists the arrays of a partial.
func (m *moments) Fields(f *jobs.Fields) {
	jobs.List(f, "weight", &m.weight)
	f.Dim("mean", 1, &m.width)
	jobs.List(f, "mean", &m.mean, len(m.weight), m.width)
	jobs.List(f, "m2", &m.m2, len(m.weight), m.width)
}

func (m *moments) addRows(rows features.Vectors) {
	for i := range rows.Rows {
		weight := 1.0
		if rows.Weights != nil {
			weight = float64(rows.Weights[i])
		}
		class := int(rows.Class[i])
		if weight > 0 {
			m.add(class, rows.Dense.Row(i), weight)
		}
	}
}

// add adds a record to a class: West's update.
func (m *moments) add(class int, row []float32, weight float64) {
	m.weight[class] += weight
	share := weight / m.weight[class]
	mean, m2 := m.of(class)
	for j, v := range row {
		d := float64(v) - mean[j]
		mean[j] += float64(d * share)
		m2[j] += float64(float64(weight*d) * (float64(v) - mean[j]))
	}
}

// of returns the columns of a class.
func (m *moments) of(class int) (mean, m2 []float64) {
	begin, end := class*m.width, (class+1)*m.width
	return m.mean[begin:end], m.m2[begin:end]
}

// plus merges the moments to the right, by Chan's formula.
func (m *moments) plus(right *moments) (*moments, error) {
	if len(m.weight) != len(right.weight) || m.width != right.width {
		return nil, jobs.Malformed("moments of %d classes x %d columns meet %d x %d",
			len(m.weight), m.width, len(right.weight), right.width)
	}
	sum := newMoments(len(m.weight), m.width)
	for y := range sum.weight {
		a, b := m.weight[y], right.weight[y]
		sum.weight[y] = a + b
		mean, m2 := sum.of(y)
		meanA, m2A := m.of(y)
		meanB, m2B := right.of(y)
		if b == 0 {
			copy(mean, meanA)
			copy(m2, m2A)
			continue
		}
		share := b / (a + b) // 1 if the left has no weight
		for j := range mean {
			d := meanB[j] - meanA[j]
			mean[j] = meanA[j] + float64(d*share)
			m2[j] = m2A[j] + m2B[j] + float64(float64(d*d)*float64(a*share))
		}
	}
	return sum, nil
}
