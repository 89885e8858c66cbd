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
	// Summary is a sentence for people.
	Summary string
	Params  params.Set
	// New makes the algorithm for a spec that passed Defaults.
	New func(spec protocol.JobSpec) (Algorithm, error)
	// Describe renders a model for people (`gram model show`).
	Describe func(model Arrays, opt DescribeOptions) (string, error)
	// Classify loads a model for prediction (`gram model classify`); nil where there is none.
	Classify func(model Arrays) (Classifier, error)
	// Figures are pictures of a finished job for its report; nil where there are none.
	Figures func(model Arrays, metrics []Metric) ([]Figure, error)
	// Certify checks a finished model by means whose last digits differ from build to build, such as the
	// eigenvalues of a matrix: what it returns is written into the run report, and is no part of
	// the model. nil where there is nothing to check.
	Certify func(model Arrays) (any, error)
	// UsesQueries and UsesModel say that the kind reads spec.queries and spec.model. A spec that
	// has them is refused for another; New refuses one that lacks what the kind needs.
	UsesQueries, UsesModel bool
	// Accepts refuses a model as spec.model with a *protocol.Fault of CodeSpecInvalid; nil accepts the models of
	// this kind. See CheckModel.
	Accepts func(model Arrays) error
	// LeastState is how many bytes the job's state or model takes at least, as far as the spec tells; nil where it tells
	// nothing. A cluster none of whose workers has so much memory refuses the job.
	LeastState func(spec protocol.JobSpec) int64
	// Predict loads a model to predict whole blocks; nil where there is nothing to predict.
	Predict func(model Arrays, ops *kernelops.Set) (Predictor, error)
	// Learn loads a model to go on learning (`gram model learn`); nil where it does not.
	Learn func(model Arrays, ops *kernelops.Set) (Learner, error)
}

// Defaults returns params with every default written in; a *protocol.Fault of CodeSpecInvalid rejects them.
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

// Predictor predicts the records of a block; one goroutine at a time.
type Predictor interface {
	// Answers says what outcomes hold.
	Answers() Answers
	// Predict returns one outcome for each record, valid until the next call. A record
	// that the model cannot take is a *protocol.Fault with its position.
	Predict(ctx context.Context, block *dataset.Block) ([]Outcome, error)
}

// Learner predicts a record, is told its label and learns from it, one record after the other; one
// goroutine at a time.
type Learner interface {
	// Predict predicts a block of one record, and remembers it for Update.
	Predict(block *dataset.Block) (Outcome, error)
	// Update tells the label of the record last predicted, and whether that changed the model. A
	// label that the model does not have is a *protocol.Fault of CodeBadRecord.
	Update(label string) (changed bool, err error)
	// Model is the model as it is now.
	Model() Arrays
}

// Answers says what the outcomes of a model hold.
type Answers struct {
	Labels []string // every Label that may be given; nil where Value alone is the answer
	Value  string   // what Value is, such as "distance"; empty where it says nothing
	Scores []string // a name for each of Scores; nil where there are none
	// Clusters says that Labels are of clusters: no label of a record is the truth about them.
	Clusters bool
}

// Outcome is what a model says of one record.
type Outcome struct {
	Label    string    // of a class or cluster; empty when rejected or where Value is the answer
	Rejected bool      // no class is likely enough
	Value    float64   // regression: the prediction; clustering: the distance to the centre
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
	// Merge folds two neighbours, left before right. Associative; not assumed commutative.
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

// Plan says into how many shards each data set was cut; QueryShards is 0 without spec.queries.
type Plan struct{ Shards, QueryShards int }

// Emit writes an output file of the job, named below the model's folder, and returns what
// an index needs to find and to check it. The same name must always get the same bytes:
// it may be written more than once. CheckFileName says which names there may be.
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
	// Blocks reads, in order, the records of the shard of spec.input whose number is Index;
	// it may be called more than once. A block is valid until the next of its pass is asked
	// for, unless it is Lasting, and must not be written to. Passes may nest, in one goroutine.
	Blocks func(ctx context.Context) iter.Seq2[*dataset.Block, error]
	// Read reads any shard of any data set in the same way.
	Read BlockReader
	Emit Emit
}

// Round is a finished round as Step sees it.
type Round struct {
	Plan  Plan
	Trees int
	// Root reads the root of a tree. Roots are read when asked for: all of them
	// may be more than fits into memory.
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

// RoundOf is a round whose roots are in memory.
func RoundOf(plan Plan, roots ...Arrays) Round {
	return Round{Plan: plan, Trees: len(roots), Root: func(_ context.Context, tree int) (Arrays, error) {
		if tree < 0 || tree >= len(roots) {
			return nil, Malformed("the round has no tree %d", tree)
		}
		return roots[tree], nil
	}}
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
