package pairwise

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
)

// Truth is what the labels of queries are.
type Truth int

// The truths.
const (
	NoTruth Truth = iota
	Classes
	Values // numbers
)

// queryNumber is an array of a partial with the first leaf of its tree: the record of each query within its shard.
const queryNumber = "query.number"

// Number reads a label as a number.
type Number func(id dataset.Identity, label []byte) (float64, error)

// Asked is who the queries of a tree are.
type Asked struct {
	numbers []int64      // of each query, its record within the shard
	draws   []uint64     // of each query, what chooses among mistakes; nil where nothing is judged
	names   jobs.Strings // the ids of the queries, where they have any
	named   bool
	shard   int64 // records of the shard
	truth   Truth // NoTruth where a label is missing
	labels  jobs.Strings
	values  []float64
}

// Fields lists the queries.
func (q *Asked) Fields(f *jobs.Fields) {
	jobs.List(f, queryNumber, &q.numbers)
	jobs.Scalar(f, "query.shard", &q.shard) // records of the shard
	n := len(q.numbers)
	jobs.Optional(f, "query.draws", &q.draws, n)
	if f.Has("query.names.bytes", q.named) {
		f.Strings("query.names", &q.names)
		f.Require(q.names.Len() == n, "%d queries with %d ids", n, q.names.Len())
		q.named = true
	}
	switch {
	case f.Has("query.labels.bytes", q.truth == Classes):
		f.Strings("query.labels", &q.labels) // where classes are known
		f.Require(q.labels.Len() == n, "%d queries with %d labels", n, q.labels.Len())
		q.is(f, Classes)
	case f.Has("query.values", q.truth == Values):
		jobs.List(f, "query.values", &q.values) // where values are
		f.Require(len(q.values) == n, "%d queries with %d labels", n, len(q.values))
		q.is(f, Values)
	}
}

func (q *Asked) is(f *jobs.Fields, truth Truth) {
	if f.Reading() {
		q.truth = truth
	}
}

// Ask reads the queries of a tree. Add keeps those of a block that keep chooses, all if it is nil, and returns their
// places in the block.
func (s Sides) Ask(
	ctx context.Context, leaf jobs.Leaf, truth Truth,
	add func(block *dataset.Block, keep jobs.Choice) (places []int, err error),
) (*Asked, error) {
	q := &Asked{truth: truth, named: s.QueriesNamed}
	drawn := evaluation.MistakeDraws()
	var keep jobs.Choice
	if s.Own != nil {
		keep = s.Own()
	}
	for block, err := range leaf.Read(ctx, s.Source(), leaf.Tree) {
		if err != nil {
			return nil, err
		}
		places, err := add(block, keep)
		if err != nil {
			return nil, err
		}
		for _, i := range places {
			q.numbers = append(q.numbers, q.shard+int64(i))
			if truth == Classes || truth == Values && s.Drawn {
				q.draws = append(q.draws, drawn.Uint64(block.IDs[i]))
			}
			if q.named {
				q.names.Append([]byte(block.IDs[i].Object))
			}
		}
		q.shard += int64(len(block.IDs))
		if err := q.learn(block, places, s.Number); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// learn takes in the labels of some records of a block.
func (q *Asked) learn(block *dataset.Block, places []int, number Number) error {
	if block.Labels == nil && len(block.IDs) > 0 {
		q.truth = NoTruth
	}
	for _, i := range places {
		switch q.truth {
		case Classes:
			q.labels.Append(block.Labels[i])
		case Values:
			value, err := number(block.IDs[i], block.Labels[i])
			if err != nil {
				return err
			}
			q.values = append(q.values, value)
		}
	}
	return nil
}
