package gaussiannb

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/evaluation"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// momentsName names the phase that finds the means and variances.
const momentsName = "moments"

// momentsPhase finds the mean and the variance of each column in each class.
type momentsPhase struct {
	params Params
	train  jobs.Records
	judged bool // there are records to judge the model on
}

func (p *momentsPhase) Name() string { return momentsName }

// Map reads one leaf: linear in its values, memory in classes times width.
func (p *momentsPhase) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays, _ *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	space, err := readSpace(state)
	if err != nil {
		return nil, nil, err
	}
	m := newMoments(space.Labels.Len(), space.Width)
	reader, train := space.NewReader(), p.train()
	for block, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, nil, err
		}
		rows, err := reader.Read(block, train)
		if err != nil {
			return nil, nil, err
		}
		if err := m.addRows(rows); err != nil {
			return nil, nil, err
		}
	}
	return m.arrays(), nil, nil
}

// readSpace reads the space of the state; a normal density takes dense vectors.
func readSpace(state jobs.Arrays) (*features.Space, error) {
	space, err := features.ReadSpace(state)
	if err == nil && space.Sparse {
		return nil, protocol.SpecFault("%s takes dense vectors; texts go to kind NaiveBayes", KindName)
	}
	return space, err
}

// Merge joins the moments of two neighbours.
func (p *momentsPhase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	a, err := readMoments(left)
	if err != nil {
		return nil, err
	}
	b, err := readMoments(right)
	if err != nil {
		return nil, err
	}
	if len(a.weight) != len(b.weight) || a.width != b.width {
		return nil, jobs.Malformed("moments of %d classes x %d columns meet %d x %d", len(a.weight), a.width, len(b.weight), b.width)
	}
	return a.plus(b).arrays(), nil
}

// Step makes the model. Columns that are all constant, and a class whose records all weigh 0, are
// faults of CodeInputEmpty: nothing can be learned from them.
func (p *momentsPhase) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	only, err := round.Only(ctx)
	if err != nil {
		return jobs.Next{}, err
	}
	root, err := readMoments(only)
	if err != nil {
		return jobs.Next{}, err
	}
	space, err := readSpace(state)
	if err != nil {
		return jobs.Next{}, err
	}
	m, err := newModel(p.params, space, root)
	if err != nil {
		return jobs.Next{}, err
	}
	smoothing, err := jobs.NewMetric("moments.smoothing", p.params.smoothing(space))
	if err != nil {
		return jobs.Next{}, err
	}
	next := jobs.Next{Done: true, State: m.arrays(), Metrics: []jobs.Metric{smoothing}}
	if p.judged {
		next = evaluation.After(next, round.Plan)
	}
	return next, nil
}

// smoothing is what is added to every variance.
func (p Params) smoothing(space *features.Space) float64 {
	largest := 0.0
	for _, v := range space.Variance {
		largest = max(largest, v)
	}
	return float64(p.VarSmoothing * largest)
}

// moments are, for each class, the weight of its records, the mean of each column and the weighted
// sum of its squared distances from it.
type moments struct {
	width    int
	weight   []float64 // [classes]
	mean, m2 []float64 // [classes x width]
}

// Arrays of a partial.
const (
	partWeight = "weight"
	partMean   = "mean"
	partM2     = "m2"
)

func newMoments(classes, width int) moments {
	return moments{width, make([]float64, classes), make([]float64, classes*width), make([]float64, classes*width)}
}

func (m moments) addRows(rows features.Vectors) error {
	for i := range rows.Rows {
		weight := 1.0
		if rows.Weights != nil {
			weight = float64(rows.Weights[i])
		}
		class := int(rows.Class[i])
		if class < 0 {
			return features.Unseen(rows.IDs[i])
		}
		if weight > 0 {
			m.add(class, rows.Dense.Row(i), weight)
		}
	}
	return nil
}

// add adds a record to a class: West's update.
func (m moments) add(class int, row []float32, weight float64) {
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
func (m moments) of(class int) (mean, m2 []float64) {
	begin, end := class*m.width, (class+1)*m.width
	return m.mean[begin:end], m.m2[begin:end]
}

// plus joins the moments to the right: Chan's formula.
func (m moments) plus(right moments) moments {
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
		share := b / (a + b) // 1 where there is nothing on the left
		for j := range mean {
			d := meanB[j] - meanA[j]
			mean[j] = meanA[j] + float64(d*share)
			m2[j] = m2A[j] + m2B[j] + float64(float64(d*d)*float64(a*share))
		}
	}
	return sum
}

func (m moments) arrays() jobs.Arrays {
	a := jobs.Arrays{}
	jobs.Put(a, partWeight, m.weight)
	jobs.Put(a, partMean, m.mean, len(m.weight), m.width)
	jobs.Put(a, partM2, m.m2, len(m.weight), m.width)
	return a
}

func readMoments(a jobs.Arrays) (m moments, err error) {
	if m.weight, err = jobs.Get[float64](a, partWeight); err != nil {
		return moments{}, err
	}
	if m.mean, err = jobs.Get[float64](a, partMean, len(m.weight), -1); err != nil {
		return moments{}, err
	}
	m.width = len(m.mean) / max(1, len(m.weight))
	m.m2, err = jobs.Get[float64](a, partM2, len(m.weight), m.width)
	return m, err
}
