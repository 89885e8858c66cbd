package kernelmean

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// normsName names the phase that finds |mu_y|^2.
const normsName = "norms"

// norms are the sums of the weighted kernel values of two records of each class.
type norms struct {
	sums  *sums.Exact
	roads *kernels.Roads // nil for kernels that have none
}

func newNorms(sums *sums.Exact, roads kernels.Roads, kernel kernels.Function) *norms {
	if !kernel.HasRoads() {
		return &norms{sums: sums}
	}
	return &norms{sums, &roads}
}

// Fields lists the sums and how they were found.
func (n *norms) Fields(f *jobs.Fields) {
	jobs.Make(f, &n.sums).Fields(f, "sums")
	kernels.PartialRoads(f, &n.roads)
}

// plus adds the sums to the right.
func (n *norms) plus(right *norms) (_ *norms, err error) {
	if n.roads != nil {
		if right.roads == nil {
			return nil, jobs.Malformed("sums of two kernels meet")
		}
		n.roads.Add(*right.roads)
	}
	n.sums, err = n.sums.Plus(right.sums)
	return n, err
}

// set divides the sums, which are then the norms of the model, and returns the figures about them.
func (n *norms) set(m *meanModel) ([]jobs.Metric, error) {
	if n.sums.Len() != len(m.weights) || (n.roads != nil) != m.kernel.HasRoads() {
		return nil, jobs.Malformed("%d sums of %d classes, or of another kernel", n.sums.Len(), len(m.weights))
	}
	m.norms = make([]float64, len(m.weights))
	for y, v := range n.sums.Floats() {
		m.norms[y] = v / m.weights[y] / m.weights[y]
	}
	if n.roads == nil {
		return nil, nil
	}
	return n.roads.Metrics(m.kernel, "norms")
}

// normsPhase sums the kernel over every two records of a class. Leaf i of n takes the i-th of n shares of the rows of
// the base.
func normsPhase(end ending) jobs.Phase {
	return jobs.MapReduce[*meanModel, *norms]{
		Name: normsName, State: jobs.Load[meanModel], Partial: func() *norms { return new(norms) },
		Map: sumShare, Merge: (*norms).plus,
		Step: func(_ context.Context, m *meanModel, root *norms, round jobs.Round) (jobs.Next, error) {
			metrics, err := root.set(m)
			if err != nil {
				return jobs.Next{}, err
			}
			return end.End(jobs.Next{State: jobs.ArraysOf(m), Metrics: metrics}, round.Plan), nil
		},
	}.Phase()
}

// sumShare takes time in proportion to the rows of its share times those of their classes.
func sumShare(ctx context.Context, m *meanModel, leaf jobs.Leaf, ops *kernelops.Set) (*norms, error) {
	n, leaves := m.base.N, leaf.Plan.Shards
	from, to := share(n, leaf.Index, leaves), share(n, leaf.Index+1, leaves)
	total := sums.NewExact(len(m.weights))
	s := newSummer(ops, m.kernel, 1) // each class is summed by itself, as one group
	for y := range m.weights {
		if err := m.addNorm(ctx, total, &s, y, max(from, m.first[y]), min(to, m.first[y+1])); err != nil {
			return nil, err
		}
	}
	return newNorms(total, s.Roads, m.kernel), nil
}

// share is where the i-th of n shares of the rows begins; the product stays below rows * n.
func share(rows, i, n int) int { return rows/n*i + min(i, rows%n) }

// addNorm adds the values of the rows from up to, not including, to with all rows of their class. A value beyond all
// numbers is a fault of CodeBadRecord.
func (m *meanModel) addNorm(ctx context.Context, total *sums.Exact, s *summer, class, from, to int) error {
	var spread []float32
	for from, x := range m.base.Tiles(from, to, rows.QueryRows, &spread) {
		sums := make([]float64, x.Rows)
		if err := s.add(ctx, sums, x, m.base, m.first[class], m.first[class+1]); err != nil {
			return err
		}
		for i, v := range sums {
			if v-v != 0 {
				return protocol.InputFault(protocol.CodeBadRecord,
					"a kernel value of two training records of class %s is beyond the range of float32 (%s)",
					m.space.Labels.At(class), kernels.Text(m.kernel.Kernel)).
					WithHint("Scale the columns (features.scale standard, minmax or l2), or choose a smaller scale or degree.")
			}
			total.Add(class, float64(m.base.weight(from+i)*v))
		}
	}
	return nil
}

// summer adds kernel values up by class. One goroutine.
type summer struct {
	kernels.Evaluator
	kernel  kernels.Function
	spread  []float32
	x, y    kernels.Points
	classes int
	zeros   []int32 // the classes of rows of one group
}

func newSummer(ops *kernelops.Set, kernel kernels.Function, classes int) summer {
	return summer{Evaluator: kernels.Evaluator{Ops: ops}, kernel: kernel, classes: classes}
}

// add adds to sums[i*classes+y], in float64 and in the order of the rows of the base, the weighted values of
// row i of x and each row of the base from up to, not including, to, y being the class of the row, or 0 if there is one
// group alone: O(x.Rows * rows * width).
func (s *summer) add(ctx context.Context, sums []float64, x kernelops.Matrix, b *base, from, to int) error {
	s.x.Set(s.kernel, s.Ops, x)
	for from, y := range b.Tiles(from, to, rows.BaseRows, &s.spread) {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.y.Set(s.kernel, s.Ops, y)
		end := from + y.Rows
		var weights []float32
		if b.weights != nil {
			weights = b.weights[from:end]
		}
		if err := s.Sums(s.kernel, sums, &s.x, &s.y, s.groupsOf(b, from, end), weights); err != nil {
			return err
		}
	}
	return nil
}

// groupsOf says which sum each of some rows counts for.
func (s *summer) groupsOf(b *base, from, to int) []int32 {
	if s.classes > 1 {
		return b.class[from:to]
	}
	if len(s.zeros) < to-from {
		s.zeros = make([]int32, to-from)
	}
	return s.zeros[:to-from]
}

// self is the kernel of a row with itself, which is 1 for rbf.
func (s *summer) self(x kernelops.Matrix) (float64, error) {
	var value [1]float32
	s.x.Set(s.kernel, s.Ops, x)
	err := s.Symmetric(s.kernel, kernelops.Matrix{Data: value[:], Rows: 1, Cols: 1, Stride: 1}, &s.x)
	return float64(value[0]), err
}
