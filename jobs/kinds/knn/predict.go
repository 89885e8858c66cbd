package knn

import (
	"context"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// predictor decides by the stored base; one goroutine at a time.
type predictor struct {
	*model
	ops    *kernelops.Set
	reader *reader
	voter  *voter
	out    []jobs.Outcome
	shares []float64 // of all outcomes
	hash   *hashing  // nil where all records are compared
	kept   kernelops.Base
}

// Load loads a model that holds its base and is of mode classify or regress; any other is a
// *protocol.Fault of CodeSpecInvalid.
func Load(a jobs.Arrays, ops *kernelops.Set) (jobs.Predictor, error) {
	m, err := jobs.Load[model](a)
	if err != nil {
		return nil, err
	}
	switch {
	case m.base == nil:
		return nil, protocol.SpecFault(
			"the model does not hold its base: train with params.store_base, or search with spec.queries")
	case m.params.Mode == modeSearch:
		return nil, protocol.SpecFault(
			"the model was made in mode search, which predicts nothing: use classify or regress")
	}
	p := &predictor{model: m, ops: ops, reader: m.newReader(0), voter: newVoter(m.params, m.labels.Len())}
	if m.params.Index == indexLSH {
		p.hash = m.newHashing(m.hashed)
	}
	return p, nil
}

// Answers are the labels with the share of the votes of each and the distance of the nearest
// neighbor, or values.
func (p *predictor) Answers() jobs.Answers {
	return p.params.answers(p.labels)
}

func (p Params) answers(labels jobs.Strings) jobs.Answers {
	if p.Mode == modeRegress {
		return jobs.Answers{Value: "value"}
	}
	return jobs.Answers{Labels: labels.List(), Value: "share", Scale: jobs.Probabilities}
}

// Predict searches the base for each record. A record without a neighbor, by radius or, under index lsh, without a
// candidate, is rejected.
func (p *predictor) Predict(ctx context.Context, block *dataset.Block) ([]jobs.Outcome, error) {
	queries := p.newPoints()
	if _, err := p.reader.add(queries, block, nil); err != nil {
		return nil, err
	}
	if p.dims > 0 {
		queries = p.project(p.ops, queries)
	}
	found := &lists{rule: p.params.rule(), of: p.params.Metric}
	s := p.params.searcher(p.ops, queries, found)
	s.kept = &p.kept
	if p.hash != nil {
		s.hashing = p.hash.forget()
	}
	if err := s.search(ctx, p.base); err != nil {
		return nil, err
	}
	s.found.sort()
	p.out, p.shares = p.out[:0], slices.Grow(p.shares[:0], len(s.found.rows)*p.labels.Len())
	for _, row := range s.found.rows {
		p.out = append(p.out, p.outcome(row))
	}
	return p.out, nil
}

func (p *predictor) outcome(row []neighbor) jobs.Outcome {
	if p.params.Mode == modeRegress {
		value, ok := p.voter.regress(row)
		return jobs.Outcome{Value: value, Rejected: !ok}
	}
	class, share := p.voter.classify(row)
	begin := len(p.shares)
	p.shares = append(p.shares, p.voter.votes...)
	o := jobs.Outcome{Value: share, Scores: p.shares[begin:]}
	if class < 0 {
		o.Rejected = true
		return o
	}
	o.Label = string(p.labels.At(class))
	return o
}

// voter decides by a list of neighbors: the last line of Algorithm 2. One goroutine at a time.
type voter struct {
	params  Params
	classes int
	votes   []float64 // of each class
	first   []int     // of each class: its first place in the list
}

func newVoter(p Params, classes int) *voter {
	return &voter{params: p, classes: classes, votes: make([]float64, classes), first: make([]int, classes)}
}

// weights calls add with each neighbor of a list and the weight of its vote, in the
// order of the list.
func (v *voter) weights(list []neighbor, add func(place int, weight float64)) {
	of := v.params.Metric
	switch {
	case v.params.Weights != weightsDistance:
		for i := range list {
			add(i, 1)
		}
	case len(list) > 0 && of.distance(list[0].key) == 0:
		for i, n := range list {
			if of.distance(n.key) == 0 {
				add(i, 1)
			}
		}
	default:
		for i, n := range list {
			add(i, 1/of.distance(n.key))
		}
	}
}

// classify returns the class that wins and its share of the votes; class -1 means refused. It leaves the shares of all
// classes in votes, 0 where the list is empty.
func (v *voter) classify(list []neighbor) (class int, share float64) {
	clear(v.votes)
	for y := range v.first {
		v.first[y] = len(list)
	}
	total := 0.0
	v.weights(list, func(place int, weight float64) {
		y := int(list[place].target) //lint:checked the number of a label
		v.votes[y] += weight
		v.first[y] = min(v.first[y], place)
		total += weight
	})
	if !(total > 0) {
		return -1, 0
	}
	best := 0
	for y := range v.votes {
		if v.before(y, best) {
			best = y
		}
	}
	for y := range v.votes {
		v.votes[y] /= total
	}
	share = v.votes[best]
	if share < v.params.RejectBelow {
		return -1, share
	}
	return best, share
}

// before reports whether class y wins over class z, which has the lesser number: classes are
// numbered in the byte order of their labels.
func (v *voter) before(y, z int) bool {
	if v.votes[y] != v.votes[z] {
		return v.votes[y] > v.votes[z]
	}
	return v.params.Ties == tiesNearest && v.first[y] < v.first[z]
}

// regress returns the weighted mean of the neighbors' values; ok is false without neighbors.
func (v *voter) regress(list []neighbor) (value float64, ok bool) {
	total, weightSum := 0.0, 0.0
	v.weights(list, func(place int, weight float64) {
		total += float64(weight * list[place].target)
		weightSum += weight
	})
	if !(weightSum > 0) {
		return 0, false
	}
	return total / weightSum, true
}
