package nearestmean

import (
	"context"
	"fmt"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/evaluation"
	"github.com/gram-compute/gram/kernelops"
)

// Bounds of what is counted for pairs of classes.
const (
	maxPairClasses    = 256
	maxPictureClasses = 16 // beyond, no misclassified record of each pair is kept
)

// Arrays of the counts of pairs in a partial, beside those of the evaluation.
const (
	pairErrors  = "pairs.errors"  // I64 [classes, classes]: records of class a that the rule of a and b gives to b
	pairRecords = "pairs.records" // I64 [classes]
)

// pairsPhase is the evaluation that also judges the rule of every two means, in the same pass.
type pairsPhase struct{ evaluation.Phase }

// Map counts the test records of one leaf, by the distances to all means.
func (p *pairsPhase) Map(ctx context.Context, model jobs.Arrays, leaf jobs.Leaf, carry jobs.Arrays, ops *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	var t *pairTally
	judge := p.Phase
	judge.Load = func(model jobs.Arrays, ops *kernelops.Set) (jobs.Predictor, error) {
		predictor, err := p.Load(model, ops)
		if err != nil {
			return nil, err
		}
		t = newPairTally(predictor.Answers().Labels)
		return &pairCounter{predictor, t}, nil
	}
	partial, carry, err := judge.Map(ctx, model, leaf, carry, ops)
	if err != nil {
		return nil, nil, err
	}
	t.put(partial)
	return partial, carry, nil
}

// pairCounter counts what it predicts.
type pairCounter struct {
	jobs.Predictor
	*pairTally
}

// Predict passes the outcomes on. Records without a label are left to the evaluation to refuse.
func (c *pairCounter) Predict(ctx context.Context, block *dataset.Block) ([]jobs.Outcome, error) {
	outcomes, err := c.Predictor.Predict(ctx, block)
	if err != nil {
		return nil, err
	}
	for i := range block.Labels {
		if y, ok := c.class[string(block.Labels[i])]; ok {
			c.add(y, outcomes[i].Scores, block, i)
		}
	}
	return outcomes, nil
}

// Merge adds the counts of two neighbours.
func (p *pairsPhase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	a, err := readPairTally(left)
	if err != nil {
		return nil, err
	}
	b, err := readPairTally(right)
	if err != nil {
		return nil, err
	}
	merged, err := p.Phase.Merge(left, right)
	if err != nil {
		return nil, err
	}
	if err := a.merge(b); err != nil {
		return nil, err
	}
	a.put(merged)
	return merged, nil
}

// Step writes the table of pairs and ends the job.
func (p *pairsPhase) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	root, err := round.Only(ctx)
	if err != nil {
		return jobs.Next{}, err
	}
	t, err := readPairTally(root)
	if err != nil {
		return jobs.Next{}, err
	}
	m, err := readModel(state)
	if err != nil {
		return jobs.Next{}, err
	}
	if len(t.records) != len(m.weight) {
		return jobs.Next{}, jobs.Malformed("pairs of %d classes in a model of %d", len(t.records), len(m.weight))
	}
	next, err := p.Phase.Step(ctx, state, round)
	if err != nil {
		return jobs.Next{}, err
	}
	metrics, err := t.report(ctx, m.space.Labels.List(), round.Emit)
	next.Metrics = append(next.Metrics, metrics...)
	return next, err
}

// pairTally counts, for each two classes, the records that the rule of their means gives to the wrong one.
type pairTally struct {
	labels   []string // nil in a merge
	class    map[string]int
	records  []int64 // [classes]
	errors   []int64 // [classes, classes], by true class, then the other
	mistakes []*evaluation.Mistakes
}

func newPairTally(labels []string) *pairTally {
	n := len(labels)
	t := &pairTally{labels: labels, class: make(map[string]int, n), records: make([]int64, n), errors: make([]int64, n*n)}
	for y, label := range labels {
		t.class[label] = y
	}
	if n <= maxPictureClasses {
		t.mistakes = make([]*evaluation.Mistakes, n*n)
	}
	return t
}

// add counts record i of a block, of class y, by its distances to all means: against class z it is wrong
// if that mean is closer, or as close and z comes first.
func (t *pairTally) add(y int, distances []float64, block *dataset.Block, i int) {
	t.records[y]++
	for z, d := range distances {
		if z == y || d > distances[y] || d == distances[y] && z > y {
			continue
		}
		at := y*len(t.records) + z
		t.errors[at]++
		picture := evaluation.PictureOf(block, i)
		if picture == nil || t.mistakes == nil {
			continue
		}
		if t.mistakes[at] == nil {
			t.mistakes[at] = evaluation.NewMistakes(1)
		}
		t.mistakes[at].Offer(evaluation.Mistake{ID: block.IDs[i], Truth: t.labels[y], Decided: t.labels[z], Picture: picture})
	}
}

func mistakesName(at int) string { return fmt.Sprintf("pairs.mistakes.%d", at) }

func (t *pairTally) put(a jobs.Arrays) {
	jobs.Put(a, pairRecords, t.records)
	jobs.Put(a, pairErrors, t.errors, len(t.records), len(t.records))
	for at, m := range t.mistakes {
		if m != nil {
			m.Put(a, mistakesName(at))
		}
	}
}

func readPairTally(a jobs.Arrays) (*pairTally, error) {
	t := &pairTally{}
	var err error
	if t.records, err = jobs.Get[int64](a, pairRecords); err != nil {
		return nil, err
	}
	n := len(t.records)
	if t.errors, err = jobs.Get[int64](a, pairErrors, n, n); err != nil {
		return nil, err
	}
	if n > maxPictureClasses {
		return t, nil
	}
	t.mistakes = make([]*evaluation.Mistakes, n*n)
	for at := range t.mistakes {
		if _, ok := a[mistakesName(at)+".size"]; !ok {
			continue
		}
		if t.mistakes[at], err = evaluation.ReadMistakes(a, mistakesName(at)); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *pairTally) merge(other *pairTally) error {
	if len(t.records) != len(other.records) {
		return jobs.Malformed("pairs of %d classes and of %d", len(t.records), len(other.records))
	}
	t.records, t.errors = counted(t.records, other.records), counted(t.errors, other.errors)
	for at, m := range other.mistakes {
		switch {
		case m == nil:
		case t.mistakes[at] == nil:
			t.mistakes[at] = m
		default:
			t.mistakes[at].Merge(m)
		}
	}
	return nil
}

func counted(a, b []int64) []int64 {
	sum := make([]int64, len(a))
	for i := range sum {
		sum[i] = a[i] + b[i]
	}
	return sum
}
