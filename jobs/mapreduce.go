package jobs

import (
	"context"
	"iter"

	"github.com/gram-compute/gram/kernelops"
)

// MapReduce is a phase whose state and partials are Go values, S and P. Phase decodes and encodes them, so that a kind
// writes its mathematics alone.
type MapReduce[S any, P Stored] struct {
	Name string
	// State reads the state, for each leaf and for Step; nil where the phase reads none.
	State func(Arrays) (S, error)
	// Partial makes a partial to read into.
	Partial func() P
	Map     func(ctx context.Context, state S, leaf Leaf, ops *kernelops.Set) (P, error)
	// Carry is Map for a phase that gets back, for the same leaf, what it returned in its last round.
	Carry func(ctx context.Context, state S, leaf Leaf, carry Arrays, ops *kernelops.Set) (P, Arrays, error)
	// Merge folds two neighbors, left before right. It may set the fields of either, but their memory is that of the arrays
	// they were read from and must not be written to.
	Merge func(left, right P) (P, error)
	Step  func(ctx context.Context, state S, root P, round Round) (Next, error)
	// Forest is Step for a phase of several trees. Their roots are read one after the other, when they are asked for:
	// all of them may be more than fits into memory.
	Forest func(ctx context.Context, state S, roots iter.Seq2[P, error], round Round) (Next, error)
	// Gathers estimates what Map keeps in memory, as Gatherer says; nil for nothing.
	Gathers func(leaf Leaf, records func(Source, int) int64) int64
}

// Phase returns the phase.
func (m MapReduce[S, P]) Phase() Phase { return mapReduce[S, P]{m} }

type mapReduce[S any, P Stored] struct{ of MapReduce[S, P] }

func (m mapReduce[S, P]) Name() string { return m.of.Name }

func (m mapReduce[S, P]) Gathers(leaf Leaf, records func(Source, int) int64) int64 {
	if m.of.Gathers == nil {
		return 0
	}
	return m.of.Gathers(leaf, records)
}

func (m mapReduce[S, P]) state(a Arrays) (state S, err error) {
	if m.of.State != nil {
		return m.of.State(a)
	}
	return state, nil
}

func (m mapReduce[S, P]) Map(
	ctx context.Context, a Arrays, leaf Leaf, carry Arrays, ops *kernelops.Set,
) (partial, newCarry Arrays, err error) {
	state, err := m.state(a)
	if err != nil {
		return nil, nil, err
	}
	var p P
	if m.of.Carry != nil {
		p, newCarry, err = m.of.Carry(ctx, state, leaf, carry, ops)
	} else {
		p, err = m.of.Map(ctx, state, leaf, ops)
	}
	if err != nil {
		return nil, nil, err
	}
	return ArraysOf(p), newCarry, nil
}

func (m mapReduce[S, P]) Merge(left, right Arrays) (Arrays, error) {
	a, err := Read(left, m.of.Partial())
	if err != nil {
		return nil, err
	}
	b, err := Read(right, m.of.Partial())
	if err != nil {
		return nil, err
	}
	sum, err := m.of.Merge(a, b)
	if err != nil {
		return nil, err
	}
	return ArraysOf(sum), nil
}

func (m mapReduce[S, P]) Step(ctx context.Context, a Arrays, round Round) (Next, error) {
	if m.of.Forest != nil {
		state, err := m.state(a)
		if err != nil {
			return Next{}, err
		}
		return m.of.Forest(ctx, state, m.roots(ctx, round), round)
	}
	only, err := round.Only(ctx)
	if err != nil {
		return Next{}, err
	}
	root, err := Read(only, m.of.Partial())
	if err != nil {
		return Next{}, err
	}
	state, err := m.state(a)
	if err != nil {
		return Next{}, err
	}
	return m.of.Step(ctx, state, root, round)
}

// roots reads the roots in order of tree, and ends at the first that cannot be read.
func (m mapReduce[S, P]) roots(ctx context.Context, round Round) iter.Seq2[P, error] {
	return func(yield func(P, error) bool) {
		for tree := range round.Trees {
			root, err := round.Root(ctx, tree)
			var p P
			if err == nil {
				p, err = Read(root, m.of.Partial())
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// Itself is the State of a phase that takes it as it is.
func Itself(a Arrays) (Arrays, error) { return a, nil }
