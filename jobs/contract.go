package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// Kind is a declared kind of job: a name and a way to make an Algorithm from parameters.
type Kind struct {
	Name string // as in the spec, e.g. "NaiveBayes"
	// Summary describes the kind to people in one sentence.
	Summary string
	Params  params.Set
	// New makes the algorithm for a spec that passed Defaults.
	New func(spec protocol.JobSpec) (Algorithm, error)
	// Describe renders a model for people (`gram model show`).
	Describe func(model Arrays, opt DescribeOptions) (string, error)
	// Classify loads a model for prediction one text at a time (`gram model classify`); nil if the kind cannot.
	Classify func(model Arrays) (Classifier, error)
	// Figures returns the figures of a finished job for its report; nil if the kind has none.
	Figures func(model Arrays, metrics []Metric) ([]Figure, error)
	// Certify checks a finished model by means whose last digits differ from build to build, such as the
	// eigenvalues of a matrix. Its result is written into the report and is not part of the model. It is nil if
	// there is nothing to check.
	Certify func(model Arrays) (any, error)
	// UsesQueries and UsesModel report that the kind reads spec.queries and spec.model. For other kinds, a spec
	// that has them is rejected. New rejects a spec that lacks what the kind needs.
	UsesQueries, UsesModel bool
	// Accepts returns a *protocol.Fault of CodeSpecInvalid for a model that the kind does not take as spec.model; nil
	// accepts the models of this kind. See CheckModel.
	Accepts func(model Arrays) error
	// LeastState returns a lower bound, in bytes, on the size of the job's state or model; nil if the spec alone gives
	// none. A cluster rejects the job if no worker has that much memory.
	LeastState func(spec protocol.JobSpec) int64
	// Predict loads a model to predict whole blocks; nil if the kind does not predict.
	Predict func(model Arrays, ops *kernelops.Set) (Predictor, error)
	// Learn loads a model for online updates (`gram model learn`); nil if the kind has none.
	Learn func(model Arrays, ops *kernelops.Set) (Learner, error)
}

// Defaults returns params with every default filled in. Invalid params are a *protocol.Fault of CodeSpecInvalid.
func (k Kind) Defaults(params json.RawMessage) (json.RawMessage, error) {
	return k.Params.Defaults(params)
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

// Predictor predicts the records of a block. Only one goroutine at a time may use it.
type Predictor interface {
	// Answers describes the outcomes.
	Answers() Answers
	// Predict returns one outcome for each record, valid until the next call. A record
	// that the model cannot take is a *protocol.Fault with its position.
	Predict(ctx context.Context, block *dataset.Block) ([]Outcome, error)
}

// Learner predicts a record, is given its label and learns from it, one record at a time. Only one
// goroutine at a time may use it.
type Learner interface {
	// Predict predicts a block of one record, and remembers it for Update.
	Predict(block *dataset.Block) (Outcome, error)
	// Update gives the learner the label of the record last predicted, and reports whether the
	// model changed. A label that the model does not have is a *protocol.Fault of CodeBadRecord.
	Update(label string) (changed bool, err error)
	// Model returns the current model.
	Model() Arrays
}

// Answers describes the outcomes of a model.
type Answers struct {
	Labels []string // every possible Label; nil if Value alone is the answer
	Value  string   // the meaning of Value, such as "distance"; empty if it has none
	Scores []string // a name for each of Scores; nil if there are none
	// Clusters reports that Labels name clusters, so records have no true label to compare with.
	Clusters bool
}

// Outcome is the result of predicting one record.
type Outcome struct {
	Label    string    // of a class or cluster; empty if rejected or if Value is the answer
	Rejected bool      // no class is likely enough
	Value    float64   // regression: the prediction; clustering: the distance to the center
	Scores   []float64 // in the order of Answers.Scores
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

// Algorithm is a list of phases. The first round runs the first phase over one tree
// whose leaves are the shards of spec.input in order. Its state is the model that spec.model
// names, or empty.
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
	// Merge folds two neighbors, left before right. Associative; not assumed commutative.
	Merge(left, right Arrays) (Arrays, error)
	// Step turns a finished round into what comes next.
	Step(ctx context.Context, state Arrays, round Round) (Next, error)
}

// Source is one of the data sets of a spec.
type Source int

// The data sets of a spec.
const (
	Input   Source = iota // spec.input
	Queries               // spec.queries
)

func (s Source) known() bool { return s == Input || s == Queries }

// String is the field of the spec.
func (s Source) String() string {
	switch s {
	case Input:
		return "spec.input"
	case Queries:
		return "spec.queries"
	}
	return fmt.Sprintf("data set %d", int(s))
}

// Plan has the number of shards of each data set; QueryShards is 0 without spec.queries.
type Plan struct{ Shards, QueryShards int }

// Emit writes an output file of the job, named relative to the model's folder, and returns what
// an index needs to find and verify it. The same name must always get the same bytes, because a
// file may be written more than once. CheckFileName defines the allowed names.
type Emit func(ctx context.Context, name string, data []byte) (File, error)

// File is an output file beside the model.
type File struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"` // in hexadecimal
	Size   int64  `json:"size"`
}

// Leaf is one unit of Map.
type Leaf struct {
	Tree, Index int
	Plan        Plan
	// Blocks reads, in order, the records of shard Index of spec.input. It may be called more than
	// once. A block must not be written to, and is valid until the pass moves on to the next one,
	// unless it is Lasting. Passes may nest, in one goroutine.
	Blocks func(ctx context.Context) iter.Seq2[*dataset.Block, error]
	// Read reads any shard of any data set in the same way.
	Read BlockReader
	Emit Emit
}

// Round is a finished round as Step sees it.
type Round struct {
	Plan  Plan
	Trees int
	// Root reads the root of a tree. Roots are read on demand, because all of them may not fit
	// into memory.
	Root func(ctx context.Context, tree int) (Arrays, error)
	Emit Emit
}

// Only returns the root of a round of one tree.
func (r Round) Only(ctx context.Context) (Arrays, error) {
	if r.Trees != 1 {
		return nil, Malformed("the round has %d trees, not one", r.Trees)
	}
	return r.Root(ctx, 0)
}

// RoundOf returns a round whose roots are in memory.
func RoundOf(plan Plan, roots ...Arrays) Round {
	return Round{Plan: plan, Trees: len(roots), Root: func(_ context.Context, tree int) (Arrays, error) {
		if tree < 0 || tree >= len(roots) {
			return nil, Malformed("the round has no tree %d", tree)
		}
		return roots[tree], nil
	}}
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

// Metric is a named value of a round, kept in the run report; never read back by a phase.
type Metric struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}
