package kernelmean

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/pairwise"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// decideName names the phase that decides without holding the base.
const decideName = "decide"

// grown is how many times its size a gathered shard takes, with what it grew out of.
const grown = 3

// predictionsFolder is where decisions are written, below the model's.
const predictionsFolder = "predictions"

// decider is how either kind decides by what it finds, of type P.
type decider[P jobs.Stored] interface {
	Answers() jobs.Answers
	spaceOf() *features.Space
	// numbers is how many are found of a query.
	numbers() int
	// find sums over the rows of one leaf. In the first leaf it finds as well what is of the queries alone.
	find(ctx context.Context, q *queries, ops *kernelops.Set, first bool, each eachChunk) (P, error)
	// decide decides n queries.
	decide(found P, n int) ([]jobs.Outcome, error)
}

// eachChunk visits the rows of a leaf.
type eachChunk func(visit func(*base) error) error

// queries are those of a tree.
type queries struct {
	*base
	ids []dataset.Identity
}

// deciding is what the decisions of a job are made of.
type deciding struct {
	pairwise.Sides
	costs    evaluation.Costs
	maxState protocol.ByteSize
}

// begin goes on with the phase.
func (d deciding) begin(state jobs.Stored, plan jobs.Plan) jobs.Next {
	return jobs.Next{Phase: decideName, State: jobs.ArraysOf(state), Trees: d.Trees(plan)}
}

// decidePhases are the phase that decides and the one that looks mistakes up.
func decidePhases[D decider[P], P jobs.Stored](
	d deciding, load func(jobs.Arrays) (D, error), partial func() P, merge func(left, right P) (P, error),
) []jobs.Phase {
	return pairwise.Phase[D, P]{
		Name: decideName, Sides: d.Sides, Costs: d.costs, State: load, Partial: partial, Merge: merge,
		Gathers: pairwise.Gathers(d.Source(), grown, chunkBytes),
		Find: func(ctx context.Context, by D, leaf jobs.Leaf, ops *kernelops.Set) (P, *pairwise.Asked, error) {
			return find(ctx, d, by, leaf, ops)
		},
		Answers: func(by D) jobs.Answers { return by.Answers() },
		Decider: func(by D) pairwise.Decider[P] { return &writer[P]{decider: by} },
		Finish: func(next jobs.Next) (jobs.Next, error) {
			next.Done, next.Phase, next.Trees = true, "", nil
			return next, nil
		},
	}.Phases()
}

// find sums over the records of the leaf: in proportion to them times the records of the tree.
func find[P jobs.Stored](
	ctx context.Context, d deciding, by decider[P], leaf jobs.Leaf, ops *kernelops.Set,
) (none P, _ *pairwise.Asked, _ error) {
	space := by.spaceOf()
	q, reader := &queries{base: newBase(space)}, space.NewReader()
	asked, err := d.Ask(ctx, leaf, pairwise.Classes,
		func(block *dataset.Block, keep func(dataset.Identity) bool) ([]int, error) {
			v, err := reader.Read(block, keep)
			v.Weights = nil // they do not count
			q.add(v, 0, v.Rows)
			q.ids = append(q.ids, v.IDs...)
			return v.Records, err
		})
	if err != nil {
		return none, nil, err
	}
	if err := fitsPartial(q.N, by.numbers(), d.maxState); err != nil {
		return none, nil, err
	}
	found, err := by.find(ctx, q, ops, leaf.Index == 0, func(visit func(*base) error) error {
		return chunks(leaf.Blocks(ctx), space, d.Base(), chunkRows(space.Width), visit)
	})
	return found, asked, err
}

// fitsPartial refuses more numbers than a partial may have: all queries of a tree have some for each class.
func fitsPartial(queries, each int, maxState protocol.ByteSize) error {
	size := 8 * int64(queries) * int64(each)
	if maxState == 0 || size <= int64(maxState) {
		return nil
	}
	return protocol.InputFault(protocol.CodeStateTooBig,
		"a shard has so many records to decide, and there are so many classes, that their sums are beyond "+
			"max_state_bytes").
		WithHint("Choose smaller shards (shard_bytes) of the records to decide, or raise run.max_state_bytes.")
}

// writer writes the decisions of a job.
type writer[P jobs.Stored] struct {
	decider[P]
	records, rejected int64
}

// Decide writes the decisions on the queries of a tree.
func (w *writer[P]) Decide(ctx context.Context, tree pairwise.Tree, found P) error {
	outcomes, err := w.decide(found, len(tree.Queries))
	if err != nil {
		return err
	}
	labels, values := make([]string, len(outcomes)), make([]float64, len(outcomes))
	for i, out := range outcomes {
		labels[i], values[i] = out.Label, out.Value
		if out.Rejected {
			w.rejected++
		}
		if err := tree.Judge(i, out); err != nil {
			return err
		}
	}
	w.records += int64(len(outcomes))
	return tree.Write(ctx, predictionsFolder, parts.CSV, nil, parts.Table{{Name: "query", Ints: tree.Queries},
		{Name: "label", Texts: labels}, {Name: w.Answers().Value, Floats: values}})
}

// Metrics count the decisions.
func (w *writer[P]) Metrics() ([]jobs.Metric, error) {
	return []jobs.Metric{
		jobs.CountMetric("decided.records", w.records), jobs.CountMetric("decided.rejected", w.rejected),
	}, nil
}
