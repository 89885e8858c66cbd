package jobs

import (
	"context"

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

// Next is the result of Step: another round (Phase and Trees set), or the end of the job (Done).
type Next struct {
	Phase string // phase of the next round
	Trees []int  // leaves of each tree of its forest; nil means one tree over the shards
	State Arrays // the next state; the model when Done
	Done  bool
	// Metrics are facts for people and reports, collected over the job under unique names.
	Metrics []Metric
}
