package knn

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/evaluation"
	"github.com/gram-compute/gram/jobs/parts"
)

// Folders of the outputs, below the model's.
const (
	listsFolder       = "neighbors"   // query, rank, neighbor, distance and what the neighbor is
	countsFolder      = "counts"      // query, neighbors
	predictionsFolder = "predictions" // query, and its class with its share of the votes, or its value
)

// output turns finished lists into files and figures, a tree after the other.
type output struct {
	*plan
	in     *index
	emit   jobs.Emit
	voter  *voter
	first  int64 // number of the first record of the tree's shard
	folder map[string]*parts.Index

	queries, listed, refused int64
	judged                   *evaluation.Tally
	recall                   recall
}

func newOutput(p *plan, in *index, emit jobs.Emit) *output {
	return &output{plan: p, in: in, emit: emit, voter: newVoter(p.params, in.labels.Len()),
		folder: map[string]*parts.Index{}, judged: evaluation.NewTally(p.params.answers(in.labels))}
}

// tree takes the root of one tree.
func (o *output) tree(ctx context.Context, tree int, root jobs.Arrays) error {
	q, err := getAsked(root)
	if err != nil {
		return err
	}
	found, err := getLists(root, foundLists, o.params.rule(), o.params.Metric, o.targets())
	if err != nil {
		return err
	}
	if n := len(found.rows) + len(found.count); n != len(q.numbers) {
		return jobs.Malformed("%d lists of %d queries", n, len(q.numbers))
	}
	numbers := make([]int64, len(q.numbers))
	for i, n := range q.numbers {
		numbers[i] = o.first + n
	}
	o.first += q.shard
	o.queries += int64(len(numbers))
	if err := o.recall.add(o.plan, root, found); err != nil {
		return err
	}
	if found.counts {
		for _, n := range found.count {
			o.listed += n
		}
		return o.write(ctx, countsFolder, tree, parts.Table{{Name: "query", Ints: numbers}, {Name: "neighbors", Ints: found.count}})
	}
	if err := o.lists(ctx, tree, numbers, found); err != nil {
		return err
	}
	switch o.params.Mode {
	case modeClassify:
		return o.classify(ctx, tree, numbers, found, q)
	case modeRegress:
		return o.regress(ctx, tree, numbers, found, q)
	}
	return nil
}

// write emits a part; the format of decisions is csv where no lists are written.
func (o *output) write(ctx context.Context, folder string, tree int, t parts.Table) error {
	x := o.folder[folder]
	if x == nil {
		x = &parts.Index{Format: o.params.Lists, Columns: t.Names()}
		if x.Format == listsNone {
			x.Format = parts.CSV
		}
		if x.Format == parts.NPY && o.params.Mode == modeClassify {
			x.Labels = o.in.labels.List()
		}
		o.folder[folder] = x
	}
	part, err := parts.Write(ctx, o.emit, folder, tree, x.Format, t)
	x.Parts = append(x.Parts, part...)
	return err
}

// lists writes the lists: a row for every neighbor.
func (o *output) lists(ctx context.Context, tree int, numbers []int64, found *lists) error {
	for _, row := range found.rows {
		o.listed += int64(len(row))
	}
	if o.params.Lists == listsNone {
		return nil
	}
	query, rank, id := []int64{}, []int64{}, []int64{}
	distance, target := []float64{}, []float64{}
	for q, row := range found.rows {
		for i, n := range row {
			query, rank, id = append(query, numbers[q]), append(rank, int64(i)), append(id, n.id)
			distance, target = append(distance, o.params.Metric.distance(n.key)), append(target, n.target)
		}
	}
	t := parts.Table{{Name: "query", Ints: query}, {Name: "rank", Ints: rank}, {Name: "neighbor", Ints: id},
		{Name: "distance", Floats: distance}}
	switch o.params.Mode {
	case modeClassify:
		t = append(t, o.classColumn("label", target))
	case modeRegress:
		t = append(t, parts.Column{Name: "value", Floats: target})
	}
	return o.write(ctx, listsFolder, tree, t)
}

// classColumn names classes, or numbers them where the format holds numbers alone. Class
// -1 is refused, and has no name.
func (o *output) classColumn(name string, classes []float64) parts.Column {
	if o.params.Lists == parts.NPY {
		return parts.Column{Name: name, Floats: classes}
	}
	texts := make([]string, len(classes))
	for i, y := range classes {
		if y >= 0 {
			texts[i] = string(o.in.labels.At(int(y))) //lint:checked the number of a label
		}
	}
	return parts.Column{Name: name, Texts: texts}
}

func (o *output) classify(ctx context.Context, tree int, numbers []int64, found *lists, q asked) error {
	classes, shares := make([]float64, len(numbers)), make([]float64, len(numbers))
	for i, row := range found.rows {
		if err := o.in.checkClasses(row); err != nil {
			return err
		}
		class, share := o.voter.classify(row)
		classes[i], shares[i] = float64(class), share
		if class < 0 {
			o.refused++
		}
		if !q.known {
			continue
		}
		outcome := jobs.Outcome{Rejected: class < 0}
		if class >= 0 {
			outcome.Label = string(o.in.labels.At(class))
		}
		if err := o.judged.Judge(evaluation.PlaceOf(tree, q.numbers[i]), q.labels.At(i), outcome, nil); err != nil {
			return err
		}
	}
	return o.write(ctx, predictionsFolder, tree, parts.Table{{Name: "query", Ints: numbers},
		o.classColumn("label", classes), {Name: "share", Floats: shares}})
}

// checkClasses holds targets against the labels.
func (s *space) checkClasses(row []neighbor) error {
	for _, n := range row {
		if !(n.target >= 0 && n.target < float64(s.labels.Len())) {
			return jobs.Malformed("a neighbor is of class %v of %d", n.target, s.labels.Len())
		}
	}
	return nil
}

func (o *output) regress(ctx context.Context, tree int, numbers []int64, found *lists, q asked) error {
	answered, values := []int64{}, []float64{}
	for i, row := range found.rows {
		value, ok := o.voter.regress(row)
		if !ok {
			o.refused++
			continue
		}
		answered, values = append(answered, numbers[i]), append(values, value)
		if q.known {
			if err := o.judged.JudgeNumber(evaluation.PlaceOf(tree, q.numbers[i]), q.values[i], value); err != nil {
				return err
			}
		}
	}
	return o.write(ctx, predictionsFolder, tree, parts.Table{{Name: "query", Ints: answered}, {Name: "value", Floats: values}})
}

// finish writes the indices and returns the figures.
func (o *output) finish(ctx context.Context) ([]jobs.Metric, error) {
	for _, folder := range []string{listsFolder, countsFolder, predictionsFolder} {
		if x := o.folder[folder]; x != nil {
			if _, err := parts.WriteIndex(ctx, o.emit, folder, *x); err != nil {
				return nil, err
			}
		}
	}
	metrics := []jobs.Metric{
		jobs.CountMetric("neighbors.queries", o.queries),
		jobs.CountMetric("neighbors.listed", o.listed),
		jobs.CountMetric("neighbors.refused", o.refused),
	}
	add := func(name string, value any) error {
		metric, err := jobs.NewMetric(name, value)
		metrics = append(metrics, metric)
		return err
	}
	if o.params.Projection != nil && o.params.Projection.Sample > 0 {
		if err := add(measuredMetric, o.recall.report()); err != nil {
			return nil, err
		}
	}
	if o.judged.Records() == 0 {
		return metrics, nil
	}
	judged, err := o.judged.Metrics(nil)
	return append(metrics, judged...), err
}
