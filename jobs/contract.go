package jobs

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// Kind is a declared kind of job: a name and a way to make an Algorithm from parameters.
type Kind struct {
	Name string // as in the spec, e.g. "NaiveBayes"
	// Defaults returns params with every default written in; it refuses unknown or
	// senseless ones with a *protocol.Fault of CodeSpecInvalid.
	Defaults func(params json.RawMessage) (json.RawMessage, error)
	// New makes the algorithm for a spec that passed Defaults.
	New func(spec protocol.JobSpec) (Algorithm, error)
	// Describe renders a model for people (`gram model show`).
	Describe func(model Arrays, opt DescribeOptions) (string, error)
	// Classify loads a model for prediction (`gram model classify`); nil where there is none.
	Classify func(model Arrays) (Classifier, error)
}

// DescribeOptions bounds what Describe prints.
type DescribeOptions struct {
	Classes []string // only these; empty means a few
	Top     int      // words per class
}

// Classifier predicts one text at a time.
type Classifier interface {
	Classify(text string) (Prediction, error)
}

// Prediction is a decision with its posterior probabilities, best first.
type Prediction struct {
	Label    string       `json:"label"` // empty when rejected
	Rejected bool         `json:"rejected"`
	Scores   []ClassScore `json:"scores"`
}

// ClassScore is one class and its posterior probability.
type ClassScore struct {
	Label     string  `json:"label"`
	Posterior float64 `json:"posterior"`
}

// Algorithm is a list of phases. The first round runs the first phase with an
// empty state over one tree whose leaves are the shards in order.
type Algorithm interface {
	Phases() []Phase
}

// Phase is one map-reduce computation, repeated until Step moves on. All methods
// are pure functions of their arguments: no clock, no randomness but
// philox keyed by the seed, no map order, no goroutine order.
type Phase interface {
	Name() string
	// Map computes one leaf. carry is what this phase returned for the same leaf in its last round.
	Map(ctx context.Context, state Arrays, leaf Leaf, carry Arrays, ops *kernelops.Set) (partial, newCarry Arrays, err error)
	// Merge folds two neighbours, left before right. Associative; not assumed commutative.
	Merge(left, right Arrays) (Arrays, error)
	// Step turns the roots of a round's trees, in order, into what comes next.
	Step(ctx context.Context, state Arrays, roots []Arrays) (Next, error)
}

// Leaf is one unit of Map.
type Leaf struct {
	Tree, Index int
	// Blocks reads the leaf's records in order; it may be called more than once.
	Blocks func(ctx context.Context) iter.Seq2[*dataset.Block, error]
}

// Next is Step's answer: another round (Phase and Trees set), or the end (Done).
type Next struct {
	Phase string // phase of the next round
	Trees []int  // leaves of each tree of its forest; nil means one tree over the shards
	State Arrays // the next state; the model when Done
	Done  bool
	// Metrics are facts for people and reports, collected over the job under unique names.
	Metrics []Metric
}

// Metric is a named value of a round, kept in the run report; never read back by a phase.
type Metric struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}
