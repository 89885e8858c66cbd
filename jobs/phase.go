package jobs

import (
	"context"
	"iter"
	"maps"

	"github.com/gram-compute/gram/kernelops"
)

// Algorithm is a list of phases. The first round runs the first phase over one tree
// whose leaves are the shards of spec.input in order. Its state is the model that spec.model
// names, or empty.
type Algorithm interface {
	Phases() []Phase
}

// Phases is an algorithm whose list of phases is known from the start.
type Phases []Phase

// Phases returns the list.
func (p Phases) Phases() []Phase { return p }

// OnceEach is Phases of which each is one round, in their order, whatever the data.
type OnceEach []Phase

// Phases returns the list.
func (p OnceEach) Phases() []Phase { return p }

// RoundsOf returns how many rounds an algorithm has, and false if the data decide.
func RoundsOf(algorithm Algorithm) (int, bool) {
	p, ok := algorithm.(OnceEach)
	return len(p), ok
}

// Phase is one map-reduce computation, repeated until Step moves on. All methods
// are pure functions of their arguments: no clock, no randomness but
// philox keyed by the seed, no map order, no goroutine order.
type Phase interface {
	Name() string
	// Map computes one leaf. carry is what this phase returned for the same leaf in its last round.
	Map(ctx context.Context, state Arrays, leaf Leaf, carry Arrays, ops *kernelops.Set) (partial, newCarry Arrays,
		err error)
	// Merge folds two neighbors, left before right. Associative; not assumed commutative.
	Merge(left, right Arrays) (Arrays, error)
	// Step turns a finished round into what comes next.
	Step(ctx context.Context, state Arrays, round Round) (Next, error)
}

// Gatherer is a phase whose Map keeps whole shards in memory. A worker begins no more of its tasks at
// a time than fit into its budget; other phases are taken to hold a block of each data set.
type Gatherer interface {
	Phase
	// Gathers estimates what Map keeps in memory for a leaf, in bytes, beside state and carry. records
	// estimates what the records of a shard take when they are decoded.
	Gathers(leaf Leaf, records func(from Source, shard int) int64) int64
}

// Repeater is a phase that bounds how often it is repeated.
type Repeater interface {
	Phase
	// MostRounds returns the most rounds of the phase in a job, and a number below 0 where only the data bound them.
	// Plan.Blocks is 0 where it is not known yet.
	MostRounds(plan Plan) int64
}

// MostRounds returns the most rounds that phases take in a job, and false if only the data bound them.
func MostRounds(phases []Phase, plan Plan) (int64, bool) {
	total := int64(0)
	for _, p := range phases {
		r, ok := p.(Repeater)
		if !ok {
			return 0, false
		}
		most := r.MostRounds(plan)
		if most < 0 {
			return 0, false
		}
		total += most
	}
	return total, true
}

// Most returns a MapReduce.Rounds for a phase of at most that many rounds, whatever the plan.
func Most(rounds int64) func(Plan) int64 { return func(Plan) int64 { return rounds } }

// Unbounded is a MapReduce.Rounds for a phase whose rounds only the data bound.
func Unbounded(Plan) int64 { return -1 }

// Passer is a phase that says whether it reads records that no later round reads, if what the phase remembers of them
// is kept. A worker then keeps no copies of the records.
type Passer interface {
	Phase
	Passes() bool
}

// Carrier is a phase that says whether it passes arrays from one round to the next, leaf by leaf. Others may.
type Carrier interface {
	Phase
	Carries() bool
}

// Next is the result of Step: another round (Phase and Trees set), or the end of the job (Done).
type Next struct {
	Phase string // phase of the next round
	Trees []int  // leaves of each tree of its forest; nil means one tree over the shards
	State Arrays // the next state; the model when Done
	Done  bool
	// Metrics are facts for people and reports, collected over the job under unique names.
	Metrics []Metric
}

// MapReduce is a phase whose state and partials are Go values, S and P. It decodes and encodes them, so a kind contains
// only its mathematics.
type MapReduce[S any, P Stored] struct {
	Name string
	// State decodes the state, for each leaf and for Step; nil if the phase reads no state.
	State func(Arrays) (S, error)
	// Partial returns an empty partial to read into.
	Partial func() P
	// Map computes the partial of one leaf. A phase sets either Map or Carry.
	Map func(ctx context.Context, state S, leaf Leaf, ops *kernelops.Set) (P, error)
	// Carry is Map for a phase that passes arrays from one round to the next, leaf by leaf: carry is what it returned
	// as its second result for the same leaf in the phase's last round.
	Carry func(ctx context.Context, state S, leaf Leaf, carry Arrays, ops *kernelops.Set) (P, Arrays, error)
	// Merge folds two neighbors, left before right. It may assign to the fields of either, but must not write to their
	// slices, which share the memory of the arrays they were read from. It is nil if each round has one leaf.
	Merge func(left, right P) (P, error)
	// Step turns the root of a phase of one tree into what comes next. A phase sets either Step or Forest.
	Step func(ctx context.Context, state S, root P, round Round) (Next, error)
	// Forest is Step for a phase of several trees. The roots are read one at a time, on demand, because all of them may
	// not fit into memory.
	Forest func(ctx context.Context, state S, roots iter.Seq2[P, error], round Round) (Next, error)
	// Gathers estimates the bytes that Map keeps in memory, see Gatherer; nil means 0.
	Gathers func(leaf Leaf, records func(Source, int) int64) int64
	// Passes says that no later round reads the records, see Passer.
	Passes bool
	// Rounds bounds how often the phase is repeated, see Repeater; nil means one round.
	Rounds func(Plan) int64
}

// Phase returns the phase.
func (m MapReduce[S, P]) Phase() Phase { return mapReduce[S, P]{m} }

type mapReduce[S any, P Stored] struct{ of MapReduce[S, P] }

func (m mapReduce[S, P]) Name() string { return m.of.Name }

func (m mapReduce[S, P]) Carries() bool { return m.of.Carry != nil }

func (m mapReduce[S, P]) Passes() bool { return m.of.Passes }

func (m mapReduce[S, P]) Gathers(leaf Leaf, records func(Source, int) int64) int64 {
	if m.of.Gathers == nil {
		return 0
	}
	return m.of.Gathers(leaf, records)
}

func (m mapReduce[S, P]) MostRounds(plan Plan) int64 {
	if m.of.Rounds == nil {
		return 1
	}
	return m.of.Rounds(plan)
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
	if m.of.Merge == nil {
		return nil, Malformed("phase %q has one leaf a round", m.of.Name)
	}
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

// roots yields the roots in the order of their trees, and ends with the error of the first that cannot be read.
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

// Itself is a State function that returns the arrays undecoded.
func Itself(a Arrays) (Arrays, error) { return a, nil }

// Undecoded is a partial that Step decodes.
type Undecoded struct{ Arrays }

// Fields lists the arrays as they are.
func (u *Undecoded) Fields(f *Fields) {
	if f.reading {
		u.Arrays = f.arrays
	} else {
		maps.Copy(f.arrays, u.Arrays)
	}
}
