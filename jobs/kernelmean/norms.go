package kernelmean

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/evaluation"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/kernels"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// normsName names the phase that finds |mu_y|^2.
const normsName = "norms"

// normSums is the array of a partial: F64 [classes], the sums of the weighted kernel values of two records of a class.
const normSums = "sums"

// normsPhase sums the kernel over every two records of a class. Leaf i of n takes the i-th of n shares of the rows of the base.
type normsPhase struct{ judge evaluation.Judge }

func (normsPhase) Name() string { return normsName }

// Map takes time in proportion to the rows of its share times those of their classes.
func (normsPhase) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays, ops *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	m, err := readMeanModel(state)
	if err != nil {
		return nil, nil, err
	}
	rows, leaves := m.base.rows(), leaf.Plan.Shards
	from, to := share(rows, leaf.Index, leaves), share(rows, leaf.Index+1, leaves)
	sums, all := make([]float64, len(m.weights)), m.base.vectors()
	all.Class = make([]int32, rows) // each class is summed by itself, as one group
	s := newSummer(ops, m.kernel, 1)
	for y := range sums {
		if err := m.addNorm(ctx, &sums[y], &s, all, y, max(from, m.first[y]), min(to, m.first[y+1])); err != nil {
			return nil, nil, err
		}
	}
	a := jobs.Arrays{}
	jobs.Put(a, normSums, sums)
	s.Roads.Put(a, m.kernel)
	return a, nil, nil
}

// share is where the i-th of n shares of the rows begins; the product stays below rows * n.
func share(rows, i, n int) int { return rows/n*i + min(i, rows%n) }

// addNorm adds the values of the rows from up to, not including, to with all rows of their class.
func (m *meanModel) addNorm(ctx context.Context, sum *float64, s *summer, all features.Vectors, class, from, to int) error {
	var spread kernels.Rows
	step := tileRows(m.space.Width, queryRows)
	for ; from < to; from += step {
		end := min(to, from+step)
		sums := make([]float64, end-from)
		if err := s.add(ctx, sums, spread.Of(all, from, end), all, m.first[class], m.first[class+1]); err != nil {
			return err
		}
		for i, v := range sums {
			*sum += float64(m.base.weight(from+i) * v)
		}
	}
	return nil
}

// Merge adds two neighbours.
func (normsPhase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	return addNorms(left, right)
}

// addNorms adds two partials of sums over every two records.
func addNorms(left, right jobs.Arrays) (jobs.Arrays, error) {
	out, err := addArrays(left, right, normSums)
	if err != nil {
		return nil, err
	}
	return out, kernels.MergeRoads(out, left, right)
}

// Step divides the sums. A sum beyond all numbers is a fault of CodeBadRecord.
func (p normsPhase) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	root, err := round.Only(ctx)
	if err != nil {
		return jobs.Next{}, err
	}
	m, err := readMeanModel(state)
	if err != nil {
		return jobs.Next{}, err
	}
	sums, err := jobs.Get[float64](root, normSums, len(m.weights))
	if err != nil {
		return jobs.Next{}, err
	}
	if err := m.setNorms(sums); err != nil {
		return jobs.Next{}, err
	}
	roads, err := kernels.ReadRoads(root, m.kernel)
	if err != nil {
		return jobs.Next{}, err
	}
	next := jobs.Next{State: m.arrays()}
	if next.Metrics, err = roads.Metrics(m.kernel, "norms"); err != nil {
		return jobs.Next{}, err
	}
	return p.judge.End(next, round.Plan), nil
}

// setNorms divides the sums over every two records of a class.
func (m *meanModel) setNorms(sums []float64) error {
	m.norms = make([]float64, len(sums))
	for y, v := range sums {
		if m.norms[y] = v / m.weights[y] / m.weights[y]; m.norms[y]-m.norms[y] != 0 {
			return m.beyond(y)
		}
	}
	return nil
}

func (m *meanModel) beyond(class int) error {
	return protocol.InputFault(protocol.CodeBadRecord,
		"a kernel value of two training records of class %s is beyond the range of float32 (%s)",
		m.space.Labels.At(class), kernels.Text(m.kernel.Kernel)).
		WithHint("Scale the columns (features.scale standard, minmax or l2), or choose a smaller scale or degree.")
}
