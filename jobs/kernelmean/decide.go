package kernelmean

import (
	"context"
	"maps"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/evaluation"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/parts"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// decideName names the phase that decides without holding the base.
const decideName = "decide"

// predictionsFolder is where decisions are written, below the model's.
const predictionsFolder = "predictions"

// decider is what either kind decides by.
type decider interface {
	spaceOf() *features.Space
	// numbers is how many a query has for each class.
	numbers() int
	// scan begins the sums over the rows of one leaf.
	scan(q *asked, ops *kernelops.Set) scan
	// merge puts the sums of two neighbours together.
	merge(left, right jobs.Arrays) (jobs.Arrays, error)
	// outcomes decides n queries by the sums of a root.
	outcomes(root jobs.Arrays, n int) ([]jobs.Outcome, jobs.Answers, error)
}

// scan takes the rows of one leaf.
type scan interface {
	add(ctx context.Context, chunk *base) error
	// put stores the sums and, in the first leaf, what is known of the queries alone.
	put(a jobs.Arrays, first bool) error
}

// decidePhase has a tree for each shard of records to decide, and in each a leaf for each shard of the base.
type decidePhase struct {
	train, test jobs.Records
	queries     bool // the records to decide are those of spec.queries
	costs       evaluation.Costs
	maxState    protocol.ByteSize
	load        func(jobs.Arrays) (decider, error) // of a state
	empty       decider                            // to merge by
}

func (p *decidePhase) Name() string { return decideName }

// source is the data set of the records to decide.
func (p *decidePhase) source() jobs.Source {
	if p.queries {
		return jobs.Queries
	}
	return jobs.Input
}

// begin goes on with the phase.
func (p *decidePhase) begin(state jobs.Arrays, plan jobs.Plan) jobs.Next {
	trees := plan.Shards
	if p.queries {
		trees = plan.QueryShards
	}
	next := jobs.Next{Phase: decideName, State: state, Trees: make([]int, trees)}
	for t := range next.Trees {
		next.Trees[t] = plan.Shards
	}
	return next
}

// Gathers counts the records to decide of the tree, with what they grew out of, and a chunk of the base.
func (p *decidePhase) Gathers(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
	return 3*records(p.source(), leaf.Tree) + min(chunkBytes, 3*records(jobs.Input, leaf.Index))
}

// Gathers counts the records of the tree, with what they grew out of, and a chunk of the leaf.
func (p pairsPhase) Gathers(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
	return 3*records(jobs.Input, leaf.Tree) + min(chunkBytes, 3*records(jobs.Input, leaf.Index))
}

// Map sums over the records of the leaf: in proportion to them times the records of the tree.
func (p *decidePhase) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays, ops *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	d, err := p.load(state)
	if err != nil {
		return nil, nil, err
	}
	space := d.spaceOf()
	var keep func(dataset.Identity) bool
	if !p.queries {
		keep = p.test()
	}
	q, err := readAsked(leaf.Read(ctx, p.source(), leaf.Tree), space, keep)
	if err != nil {
		return nil, nil, err
	}
	if err := fitsPartial(q.rows.rows(), d.numbers()*space.Labels.Len(), p.maxState); err != nil {
		return nil, nil, err
	}
	s := d.scan(q, ops)
	err = chunks(leaf.Blocks(ctx), space, p.train(), chunkRows(space.Width), func(chunk *base) error { return s.add(ctx, chunk) })
	if err != nil {
		return nil, nil, err
	}
	a := jobs.Arrays{}
	if leaf.Index == 0 {
		q.put(a)
	}
	return a, nil, s.put(a, leaf.Index == 0)
}

// Merge puts two neighbours together; the queries are those of the first leaf.
func (p *decidePhase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	sums, err := p.empty.merge(left, right)
	if err != nil {
		return nil, err
	}
	out := maps.Clone(left)
	maps.Copy(out, sums)
	return out, nil
}

// Step decides a tree after the other, writes the decisions out and judges those on records with labels.
func (p *decidePhase) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	d, err := p.load(state)
	if err != nil {
		return jobs.Next{}, err
	}
	labels := d.spaceOf().Labels.List()
	out := output{emit: round.Emit, judged: evaluation.NewTally(jobs.Answers{Labels: labels})}
	for t := range round.Trees {
		root, err := round.Root(ctx, t)
		if err != nil {
			return jobs.Next{}, err
		}
		if err := out.tree(ctx, t, d, root); err != nil {
			return jobs.Next{}, err
		}
	}
	next, err := p.lookUp().Before(jobs.Next{State: state}, out.judged, round.Trees)
	if err != nil {
		return jobs.Next{}, err
	}
	next.Metrics, err = out.finish(ctx, p.costs)
	return next, err
}

// lookUp is the phase that looks up a few mistakes.
func (p *decidePhase) lookUp() *evaluation.LookUp {
	return &evaluation.LookUp{From: p.source(), Finish: func(next jobs.Next) (jobs.Next, error) {
		next.Done, next.Phase, next.Trees = true, "", nil
		return next, nil
	}}
}

// output turns the sums of trees into files and figures.
type output struct {
	emit     jobs.Emit
	judged   *evaluation.Tally
	index    parts.Index
	first    int64 // number of the first record of the tree's shard
	rejected int64
	queries  int64
}

func (o *output) tree(ctx context.Context, tree int, d decider, root jobs.Arrays) error {
	q, err := getAsked(root)
	if err != nil {
		return err
	}
	outcomes, answers, err := d.outcomes(root, len(q.numbers))
	if err != nil {
		return err
	}
	query, label, value := make([]int64, len(outcomes)), make([]string, len(outcomes)), make([]float64, len(outcomes))
	for i, out := range outcomes {
		query[i], label[i], value[i] = o.first+q.numbers[i], out.Label, out.Value
		if out.Rejected {
			o.rejected++
		}
		if !q.known {
			continue
		}
		if err := o.judged.Judge(evaluation.PlaceOf(tree, q.numbers[i]), q.labels.At(i), out, nil); err != nil {
			return err
		}
	}
	o.first += q.shard
	o.queries += int64(len(outcomes))
	t := parts.Table{{Name: "query", Ints: query}, {Name: "label", Texts: label}, {Name: answers.Value, Floats: value}}
	o.index.Format, o.index.Columns = parts.CSV, t.Names()
	part, err := parts.Write(ctx, o.emit, predictionsFolder, tree, parts.CSV, t)
	o.index.Parts = append(o.index.Parts, part...)
	return err
}

// finish writes the index and returns the figures.
func (o *output) finish(ctx context.Context, costs evaluation.Costs) ([]jobs.Metric, error) {
	if _, err := parts.WriteIndex(ctx, o.emit, predictionsFolder, o.index); err != nil {
		return nil, err
	}
	metrics := []jobs.Metric{jobs.CountMetric("decided.records", o.queries), jobs.CountMetric("decided.rejected", o.rejected)}
	if o.judged.Records() == 0 {
		return metrics, nil
	}
	judged, err := o.judged.Metrics(costs)
	return append(metrics, judged...), err
}
