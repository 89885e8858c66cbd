package knn

import (
	"context"
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/pairwise"
	"github.com/gram-compute/gram/jobs/learn/parts"
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
	in    *index
	voter *voter

	queries, listed, refused int64
	recall                   recall
	collisions               collisions
	nearest                  nearest
}

func newOutput(p *plan, in *index) *output {
	return &output{plan: p, in: in, voter: newVoter(p.params, in.labels.Len()), collisions: collisions{in: in}}
}

// Decide takes the lists of one tree.
func (o *output) Decide(ctx context.Context, t pairwise.Tree, root *partial) error {
	found := root.found
	if found.queries() != len(t.Queries) {
		return jobs.Malformed("%d lists of %d queries", found.queries(), len(t.Queries))
	}
	o.queries += int64(len(t.Queries))
	if err := o.recall.add(root); err != nil {
		return err
	}
	if err := o.collisions.add(root); err != nil {
		return err
	}
	if found.counts {
		for _, n := range found.count {
			o.listed += n
		}
		table := parts.Table{o.queryColumn(t, every(len(t.Queries))), {Name: "neighbors", Ints: found.count}}
		return o.write(ctx, t, countsFolder, table)
	}
	if err := o.lists(ctx, t, root); err != nil {
		return err
	}
	switch o.params.Mode {
	case modeClassify:
		return o.classify(ctx, t, found)
	case modeRegress:
		return o.regress(ctx, t, found)
	}
	return nil
}

// write emits a part; the format of decisions is csv where no lists are written.
func (o *output) write(ctx context.Context, t pairwise.Tree, folder string, table parts.Table) error {
	format, labels := o.params.Lists, []string(nil)
	if format == listsNone {
		format = parts.CSV
	}
	if format == parts.NPY && o.params.Mode == modeClassify {
		labels = o.in.labels.List()
	}
	return t.Write(ctx, folder, format, labels, table)
}

// lists writes the lists: a row for every neighbor.
func (o *output) lists(ctx context.Context, tree pairwise.Tree, root *partial) error {
	found := root.found
	for _, row := range found.rows {
		o.listed += int64(len(row))
	}
	if o.params.Lists == listsNone {
		return nil
	}
	if o.params.Lists == parts.NPY && found.k > 0 {
		if err := o.arrays(ctx, tree, root); err != nil {
			return err
		}
	}
	c := found.columns()
	query, rank := make([]int, 0, len(c.ids)), make([]int64, 0, len(c.ids))
	for q, row := range found.rows {
		for i := range row {
			query, rank = append(query, q), append(rank, int64(i))
		}
	}
	for i, key := range c.keys {
		c.keys[i] = o.params.Metric.distance(key)
	}
	t := parts.Table{o.queryColumn(tree, query), {Name: "rank", Ints: rank}, o.neighborColumn(c.ids, root.names),
		{Name: "distance", Floats: c.keys}}
	switch o.params.Mode {
	case modeClassify:
		t = append(t, o.classColumn("label", c.targets))
	case modeRegress:
		t = append(t, parts.Column{Name: "value", Floats: c.targets})
	}
	return o.write(ctx, tree, listsFolder, t)
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

func (o *output) classify(ctx context.Context, t pairwise.Tree, found *lists) error {
	classes, shares := make([]float64, len(t.Queries)), make([]float64, len(t.Queries))
	for i, row := range found.rows {
		if err := o.in.checkClasses(row); err != nil {
			return err
		}
		o.nearest.add(t, i, row, o.in.labels)
		class, share := o.voter.classify(row)
		classes[i], shares[i] = float64(class), share
		decision := jobs.Outcome{Rejected: class < 0, Scores: o.voter.votes}
		if class < 0 {
			o.refused++
		} else {
			decision.Label = string(o.in.labels.At(class))
		}
		if err := t.Judge(i, decision); err != nil {
			return err
		}
	}
	return o.write(ctx, t, predictionsFolder, parts.Table{o.queryColumn(t, every(len(t.Queries))),
		o.classColumn("label", classes), {Name: "share", Floats: shares}})
}

// checkClasses compares targets with the labels.
func (s *space) checkClasses(row []neighbor) error {
	for _, n := range row {
		if !(n.target >= 0 && n.target < float64(s.labels.Len())) {
			return jobs.Malformed("a neighbor is of class %v of %d", n.target, s.labels.Len())
		}
	}
	return nil
}

func (o *output) regress(ctx context.Context, t pairwise.Tree, found *lists) error {
	answered, values := []int{}, []float64{}
	for i, row := range found.rows {
		value, ok := o.voter.regress(row)
		if !ok {
			o.refused++
			continue
		}
		answered, values = append(answered, i), append(values, value)
		if err := t.Judge(i, jobs.Outcome{Value: value}); err != nil {
			return err
		}
	}
	table := parts.Table{o.queryColumn(t, answered), {Name: "value", Floats: values}}
	return o.write(ctx, t, predictionsFolder, table)
}

// Metrics count the neighbors, and tell what a projection cost.
func (o *output) Metrics() ([]jobs.Metric, error) {
	metrics := []jobs.Metric{
		jobs.CountMetric("neighbors.queries", o.queries),
		jobs.CountMetric("neighbors.listed", o.listed),
		jobs.CountMetric("neighbors.refused", o.refused),
	}
	if o.params.risks() {
		risk, err := o.nearest.metric(o.in.labels.Len())
		if err != nil {
			return nil, err
		}
		metrics = append(metrics, risk...)
	}
	if o.params.Index == indexLSH {
		return o.collisions.metrics(metrics)
	}
	if o.params.Projection == nil || o.params.Projection.Sample == 0 {
		return metrics, nil
	}
	measured, err := jobs.NewMetric(measuredMetric, o.recall.report())
	return append(metrics, measured), err
}

// Folders of the lists as two arrays, as FAISS returns them: a row for each query, of k numbers.
const (
	indicesFolder   = "indices"   // int64: the numbers of neighbors, -1 where there are fewer
	distancesFolder = "distances" // float32, +Inf where there are fewer
)

// arrays writes the lists of a search by k as two arrays.
func (o *output) arrays(ctx context.Context, t pairwise.Tree, root *partial) error {
	k, numbers := root.found.k, root.names
	ids := parts.Array{Name: "neighbor", Width: k, Ints: make([]int64, 0, k*len(t.Queries))}
	apart := parts.Array{Name: "distance", Width: k, Singles: make([]float32, 0, k*len(t.Queries))}
	for q, row := range root.found.rows {
		for i := range k {
			id, distance := int64(-1), math.Inf(1)
			if i < len(row) {
				id, distance = row[i].id, o.params.Metric.distance(row[i].key)
				if numbers != nil {
					id = numbers.numbers[id]
				}
				if math.IsInf(float64(float32(distance)), 0) {
					return tooFar(t.Queries[q], id, distance) // +Inf says that there is no neighbor
				}
			}
			ids.Ints, apart.Singles = append(ids.Ints, id), append(apart.Singles, float32(distance))
		}
	}
	if err := t.WriteArray(ctx, indicesFolder, ids); err != nil {
		return err
	}
	return t.WriteArray(ctx, distancesFolder, apart)
}
