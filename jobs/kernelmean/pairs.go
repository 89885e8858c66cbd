package kernelmean

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/kernels"
	"github.com/gram-compute/gram/kernelops"
)

// pairsName names the phase that finds |mu_y|^2 of a base that is not held.
const pairsName = "pairs"

// pairsPhase sums the kernel over every two records of a class: tree t holds those of shard t, its leaf i reads shard i,
// i <= t. A pair of two shards counts twice, for either order.
type pairsPhase struct {
	train jobs.Records
	// next makes what follows a model with its norms.
	next func(m *meanModel, plan jobs.Plan) jobs.Next
}

func (pairsPhase) Name() string { return pairsName }

// triangle is the trees over so many shards.
func triangle(shards int) []int {
	trees := make([]int, shards)
	for t := range trees {
		trees[t] = t + 1
	}
	return trees
}

// Map takes time in proportion to the pairs of records of a class.
func (p pairsPhase) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays, ops *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	m, err := readMeanModel(state)
	if err != nil {
		return nil, nil, err
	}
	held, err := gathered(leaf.Read(ctx, jobs.Input, leaf.Tree), m.space, p.train())
	if err != nil {
		return nil, nil, err
	}
	s := &pairSums{summer: newSummer(ops, m.kernel, 1), held: held, first: held.bounds(len(m.weights)), sums: make([]float64, held.rows())}
	err = chunks(leaf.Blocks(ctx), m.space, p.train(), chunkRows(m.space.Width), func(chunk *base) error { return s.add(ctx, chunk.byClass()) })
	if err != nil {
		return nil, nil, err
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
	a := jobs.Arrays{}
	jobs.Put(a, normSums, sums)
	if times == 2 {
		s.Roads.Differences *= 2
	}
	s.Roads.Put(a, m.kernel)
	return a, nil, nil
}

// pairSums are the sums of held rows over all rows of their classes.
type pairSums struct {
	summer
	held  *base
	first []int
	sums  []float64
	rows  kernels.Rows
}

// add adds the values of rows that lie class after class.
func (s *pairSums) add(ctx context.Context, chunk *base) error {
	first, all, held := chunk.bounds(len(s.first)-1), chunk.vectors(), s.held.vectors()
	all.Class = make([]int32, chunk.rows()) // one group
	step := tileRows(chunk.width, queryRows)
	for y := range len(s.first) - 1 {
		if first[y] == first[y+1] {
			continue
		}
		for from := s.first[y]; from < s.first[y+1]; from += step {
			end := min(s.first[y+1], from+step)
			if err := s.summer.add(ctx, s.sums[from:end], s.rows.Of(held, from, end), all, first[y], first[y+1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Merge adds two neighbours.
func (pairsPhase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	return addNorms(left, right)
}

// Step adds the trees, the first first. A sum beyond all numbers is a fault of CodeBadRecord.
func (p pairsPhase) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	m, err := readMeanModel(state)
	if err != nil {
		return jobs.Next{}, err
	}
	sums, roads := make([]float64, len(m.weights)), kernels.Roads{}
	for t := range round.Trees {
		root, err := round.Root(ctx, t)
		if err != nil {
			return jobs.Next{}, err
		}
		some, err := jobs.Get[float64](root, normSums, len(sums))
		if err != nil {
			return jobs.Next{}, err
		}
		more, err := kernels.ReadRoads(root, m.kernel)
		if err != nil {
			return jobs.Next{}, err
		}
		roads.Add(more)
		for y, v := range some {
			sums[y] += v
		}
	}
	if err := m.setNorms(sums); err != nil {
		return jobs.Next{}, err
	}
	next := p.next(m, round.Plan)
	found, err := roads.Metrics(m.kernel, "norms")
	next.Metrics = append(next.Metrics, found...)
	return next, err
}
