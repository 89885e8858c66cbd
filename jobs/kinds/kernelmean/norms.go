package kernelmean

import (
	"context"
	"iter"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/learn/pairwise"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// The phases that find |mu_y|^2: of a base in the model, and of one that is not held.
const (
	normsName = "norms"
	pairsName = "pairs"
)

// norms are the sums of the weighted kernel values of two records of each class.
type norms struct {
	sums  []float64
	roads *kernels.Roads // nil for kernels that have none
}

func newNorms(sums []float64, roads kernels.Roads, kernel kernels.Function) *norms {
	if !kernel.HasRoads() {
		return &norms{sums: sums}
	}
	return &norms{sums, &roads}
}

// Fields lists the sums and how they were found.
func (n *norms) Fields(f *jobs.Fields) {
	jobs.List(f, "sums", &n.sums)
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
	n.sums, err = sums.Of(n.sums, right.sums)
	return n, err
}

// set divides the sums, which are then the norms of the model, and returns the figures about them. A sum beyond all
// numbers is a fault of CodeBadRecord.
func (n *norms) set(m *meanModel) ([]jobs.Metric, error) {
	if len(n.sums) != len(m.weights) || (n.roads != nil) != m.kernel.HasRoads() {
		return nil, jobs.Malformed("%d sums of %d classes, or of another kernel", len(n.sums), len(m.weights))
	}
	m.norms = make([]float64, len(n.sums))
	for y, v := range n.sums {
		if m.norms[y] = v / m.weights[y] / m.weights[y]; m.norms[y]-m.norms[y] != 0 {
			return nil, protocol.InputFault(protocol.CodeBadRecord,
				"a kernel value of two training records of class %s is beyond the range of float32 (%s)",
				m.space.Labels.At(y), kernels.Text(m.kernel.Kernel)).
				WithHint("Scale the columns (features.scale standard, minmax or l2), or choose a smaller scale or degree.")
		}
	}
	if n.roads == nil {
		return nil, nil
	}
	return n.roads.Metrics(m.kernel, "norms")
}

// normsPhase sums the kernel over every two records of a class. Leaf i of n takes the i-th of n shares of the rows of
// the base.
func normsPhase(judge evaluation.Judge) jobs.Phase {
	return jobs.MapReduce[*meanModel, *norms]{
		Name: normsName, State: readMeanModel, Partial: func() *norms { return new(norms) },
		Map: sumShare, Merge: (*norms).plus,
		Step: func(_ context.Context, m *meanModel, root *norms, round jobs.Round) (jobs.Next, error) {
			metrics, err := root.set(m)
			if err != nil {
				return jobs.Next{}, err
			}
			return judge.End(jobs.Next{State: jobs.ArraysOf(m), Metrics: metrics}, round.Plan), nil
		},
	}.Phase()
}

// sumShare takes time in proportion to the rows of its share times those of their classes.
func sumShare(ctx context.Context, m *meanModel, leaf jobs.Leaf, ops *kernelops.Set) (*norms, error) {
	n, leaves := m.base.N, leaf.Plan.Shards
	from, to := share(n, leaf.Index, leaves), share(n, leaf.Index+1, leaves)
	sums := make([]float64, len(m.weights))
	s := newSummer(ops, m.kernel, 1) // each class is summed by itself, as one group
	for y := range sums {
		if err := m.addNorm(ctx, &sums[y], &s, y, max(from, m.first[y]), min(to, m.first[y+1])); err != nil {
			return nil, err
		}
	}
	return newNorms(sums, s.Roads, m.kernel), nil
}

// share is where the i-th of n shares of the rows begins; the product stays below rows * n.
func share(rows, i, n int) int { return rows/n*i + min(i, rows%n) }

// addNorm adds the values of the rows from up to, not including, to with all rows of their class.
func (m *meanModel) addNorm(ctx context.Context, sum *float64, s *summer, class, from, to int) error {
	var spread []float32
	for from, x := range m.base.Tiles(from, to, rows.QueryRows, &spread) {
		sums := make([]float64, x.Rows)
		if err := s.add(ctx, sums, x, m.base, m.first[class], m.first[class+1]); err != nil {
			return err
		}
		for i, v := range sums {
			*sum += float64(m.base.weight(from+i) * v)
		}
	}
	return nil
}

// pairsPhase sums the kernel over every two records of a class: tree t holds those of shard t, its leaf i reads those
// of shard i, i <= t. A pair of two shards counts twice, for either order.
type pairsPhase struct {
	train jobs.Records
	// next makes what follows a model with its norms.
	next func(m *meanModel, plan jobs.Plan) jobs.Next
}

func (p pairsPhase) phase() jobs.Phase {
	return jobs.MapReduce[*meanModel, *norms]{
		Name: pairsName, State: readMeanModel, Partial: func() *norms { return new(norms) },
		Map: p.sum, Merge: (*norms).plus, Forest: p.finish,
		Gathers: pairwise.Gathers(jobs.Input, grown, chunkBytes),
	}.Phase()
}

// triangle is the trees over so many shards.
func triangle(shards int) []int {
	trees := make([]int, shards)
	for t := range trees {
		trees[t] = t + 1
	}
	return trees
}

// sum takes time in proportion to the pairs of records of a class.
func (p pairsPhase) sum(ctx context.Context, m *meanModel, leaf jobs.Leaf, ops *kernelops.Set) (*norms, error) {
	held, err := gathered(leaf.Read(ctx, jobs.Input, leaf.Tree), m.space, p.train(), rows.Bound{})
	if err != nil {
		return nil, err
	}
	held = held.byClass()
	s := &pairSums{summer: newSummer(ops, m.kernel, 1), held: held, first: held.bounds(len(m.weights)),
		sums: make([]float64, held.N)}
	err = chunks(leaf.Blocks(ctx), m.space, p.train(), chunkRows(m.space.Width),
		func(chunk *base) error { return s.add(ctx, chunk.byClass()) })
	if err != nil {
		return nil, err
	}
	sums, times := make([]float64, len(m.weights)), 2.0
	if leaf.Index == leaf.Tree {
		times = 1
	}
	for i, v := range s.sums {
		sums[held.class[i]] += float64(held.weight(i) * v)
	}
	for y := range sums {
		sums[y] = float64(sums[y] * times)
	}
	if times == 2 {
		s.Roads.Differences *= 2
	}
	return newNorms(sums, s.Roads, m.kernel), nil
}

// pairSums are the sums of held rows over all rows of their classes.
type pairSums struct {
	summer
	held  *base
	first []int
	sums  []float64
	tile  []float32
}

// add adds the values of rows that lie class after class.
func (s *pairSums) add(ctx context.Context, chunk *base) error {
	first := chunk.bounds(len(s.first) - 1)
	for y := range len(s.first) - 1 {
		if first[y] == first[y+1] {
			continue
		}
		for from, x := range s.held.Tiles(s.first[y], s.first[y+1], rows.QueryRows, &s.tile) {
			if err := s.summer.add(ctx, s.sums[from:from+x.Rows], x, chunk, first[y], first[y+1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// finish adds the trees, the first first.
func (p pairsPhase) finish(
	_ context.Context, m *meanModel, roots iter.Seq2[*norms, error], round jobs.Round,
) (jobs.Next, error) {
	all := newNorms(make([]float64, len(m.weights)), kernels.Roads{}, m.kernel)
	for root, err := range roots {
		if err != nil {
			return jobs.Next{}, err
		}
		if _, err := all.plus(root); err != nil {
			return jobs.Next{}, err
		}
	}
	found, err := all.set(m)
	if err != nil {
		return jobs.Next{}, err
	}
	next := p.next(m, round.Plan)
	next.Metrics = append(next.Metrics, found...)
	return next, nil
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
