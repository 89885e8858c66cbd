// Package pairwise compares queries with a base when memory may hold neither: by a phase that has a tree for each shard
// of queries, and in each a leaf for each run of shards of the base. Its step decides a tree after the other, writes
// the decisions out and judges those on queries with labels; a second phase looks a few mistakes up.
package pairwise

import (
	"context"
	"iter"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/kernelops"
)

// Sides says which records are compared with each other.
type Sides struct {
	Base   jobs.Records // of spec.input
	Own    jobs.Records // the queries, where they are of spec.input too; nil where they are those of spec.queries
	Number Number       // where labels of queries may be numbers
	// QueriesNamed reports that queries have ids.
	QueriesNamed bool
	// Drawn reports that the values of queries get intervals, so that draws go with them, as with classes.
	Drawn bool
}

// Source is the data set of the queries.
func (s Sides) Source() jobs.Source {
	if s.Own != nil {
		return jobs.Input
	}
	return jobs.Queries
}

// Trees is how many the phase has.
func (s Sides) Trees(cut jobs.Plan) int {
	if s.Own == nil {
		return cut.QueryShards
	}
	return cut.Shards
}

// Run is a run of shards of the base: from First to End, which is not in it.
type Run struct{ First, End int }

// RunOf returns the run of a leaf, where the shards of the base are dealt to some leaves evenly.
func RunOf(shards, leaves, leaf int) Run {
	return Run{shards * leaf / leaves, shards * (leaf + 1) / leaves}
}

// Gathers estimates what a leaf keeps in memory: the records of the shard of its tree, and a chunk of its run, which
// may be the whole base. Either takes that number of times its size, with what it grew out of.
func Gathers(from jobs.Source, times, chunk int64) func(jobs.Leaf, func(jobs.Source, int) int64) int64 {
	return func(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
		base := int64(0)
		for shard := 0; shard < leaf.Plan.Shards && base < chunk; shard++ {
			base += times * records(jobs.Input, shard)
		}
		return times*records(from, leaf.Tree) + min(chunk, base)
	}
}

// Phase is the phase: S is what its state says, P what a leaf finds of the queries of its tree.
type Phase[S any, P jobs.Stored] struct {
	Name string
	Sides
	Gathers func(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64
	State   func(jobs.Arrays) (S, error)
	Partial func() P
	// Find compares the queries of a tree with the run of shards of the base that is the leaf's.
	Find func(ctx context.Context, state S, leaf jobs.Leaf, ops *kernelops.Set) (P, *Asked, error)
	// Merge is that of jobs.MapReduce.
	Merge func(left, right P) (P, error)
	// Answers says what decisions hold.
	Answers func(state S) jobs.Answers
	Decider func(state S) Decider[P]
	Costs   evaluation.Costs
	Scoring *evaluation.Scoring // of decisions' scores; nil where they are not judged
	// Finish says what follows.
	Finish func(jobs.Next) (jobs.Next, error)
}

// Decider decides about the queries of one tree after the other.
type Decider[P jobs.Stored] interface {
	Decide(ctx context.Context, tree Tree, found P) error
	// Metrics are the facts about all decisions.
	Metrics() ([]jobs.Metric, error)
}

// Phases returns the phase and the one that looks mistakes up.
func (p Phase[S, P]) Phases() []jobs.Phase {
	return []jobs.Phase{jobs.MapReduce[state[S], *partial[P]]{
		Name: p.Name, State: p.state, Partial: func() *partial[P] { return &partial[P]{found: p.Partial()} },
		Map: p.find, Merge: p.merge, Forest: p.decide, Gathers: p.Gathers,
	}.Phase(), p.lookUp().Phase()}
}

// state keeps the arrays beside what they say.
type state[S any] struct {
	arrays jobs.Arrays
	of     S
}

func (p Phase[S, P]) state(a jobs.Arrays) (state[S], error) {
	s, err := p.State(a)
	return state[S]{a, s}, err
}

// partial is what was found, with the queries if the first leaf is in it.
type partial[P jobs.Stored] struct {
	asked *Asked
	found P
}

// Fields lists both.
func (p *partial[P]) Fields(f *jobs.Fields) {
	if f.Has(queryNumber, p.asked != nil) {
		jobs.Make(f, &p.asked).Fields(f)
	}
	p.found.Fields(f)
}

func (p Phase[S, P]) find(
	ctx context.Context, s state[S], leaf jobs.Leaf, ops *kernelops.Set,
) (*partial[P], error) {
	found, asked, err := p.Find(ctx, s.of, leaf, ops)
	if err != nil {
		return nil, err
	}
	if leaf.Index > 0 {
		asked = nil
	}
	return &partial[P]{asked, found}, nil
}

// merge keeps the queries of the first leaf.
func (p Phase[S, P]) merge(left, right *partial[P]) (_ *partial[P], err error) {
	left.found, err = p.Merge(left.found, right.found)
	return left, err
}

func (p Phase[S, P]) decide(
	ctx context.Context, s state[S], roots iter.Seq2[*partial[P], error], round jobs.Round,
) (jobs.Next, error) {
	judged, err := evaluation.NewScoredTally(p.Answers(s.of), p.Scoring)
	if err != nil {
		return jobs.Next{}, err
	}
	out, decider := &output{emit: round.Emit, judged: judged}, p.Decider(s.of)
	for root, err := range roots {
		if err != nil {
			return jobs.Next{}, err
		}
		if root.asked == nil {
			return jobs.Next{}, jobs.Malformed("array %q is missing", queryNumber)
		}
		if err := decider.Decide(ctx, out.tree(root.asked), root.found); err != nil {
			return jobs.Next{}, err
		}
	}
	next, err := p.lookUp().Before(jobs.Next{State: s.arrays}, out.judged, round.Trees)
	if err != nil {
		return jobs.Next{}, err
	}
	if err := out.index(ctx); err != nil {
		return jobs.Next{}, err
	}
	if next.Metrics, err = decider.Metrics(); err != nil || out.judged.Records() == 0 {
		return next, err
	}
	metrics, err := p.metrics(out.judged)
	next.Metrics = append(next.Metrics, metrics...)
	return next, err
}

func (p Phase[S, P]) metrics(judged *evaluation.Tally) ([]jobs.Metric, error) {
	metrics, err := judged.Metrics(p.Costs, p.Scoring)
	if err != nil {
		return nil, err
	}
	ranked, err := judged.RankMetrics(p.Scoring)
	return append(metrics, ranked...), err
}

func (p Phase[S, P]) lookUp() *evaluation.LookUp {
	return &evaluation.LookUp{From: p.Source(), Finish: p.Finish}
}
