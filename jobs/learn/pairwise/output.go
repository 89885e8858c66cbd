package pairwise

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/parts"
)

// output turns decisions into files and figures.
type output struct {
	emit    jobs.Emit
	judged  *evaluation.Tally
	trees   int
	first   int64 // number of the first record of the next tree's shard
	folders []*folder
}

type folder struct {
	name  string
	parts parts.Index
}

// Tree is the tree that is decided.
type Tree struct {
	// Queries are the numbers of the queries in their data set.
	Queries []int64
	Names   []string // the ids of the queries; nil where they have none
	number  int
	asked   *Asked
	out     *output
}

// tree begins the next tree.
func (o *output) tree(q *Asked) Tree {
	t := Tree{Queries: make([]int64, len(q.numbers)), number: o.trees, asked: q, out: o}
	for i, n := range q.numbers {
		t.Queries[i] = o.first + n
	}
	if q.named {
		t.Names = q.names.List()
	}
	o.trees++
	o.first += q.shard
	return t
}

// Judge judges the decision on query i of the tree, if it has a label.
func (t Tree) Judge(i int, decision jobs.Outcome) error {
	place := evaluation.PlaceOf(t.number, t.asked.numbers[i])
	switch {
	case t.asked.truth == Classes:
		if t.asked.draws == nil {
			return jobs.Malformed("array %q is missing", "query.draws")
		}
		return t.out.judged.JudgeDrawn(t.asked.draws[i], place, t.asked.labels.At(i), decision)
	case t.asked.truth == Values && !decision.Rejected:
		drawn := uint64(0)
		if t.asked.draws != nil {
			drawn = t.asked.draws[i]
		}
		return t.out.judged.JudgeNumber(drawn, place, t.asked.values[i], decision.Value)
	}
	return nil
}

// Class is the label of query i; ok is false where classes are not known.
func (t Tree) Class(i int) (label []byte, ok bool) {
	if t.asked.truth != Classes {
		return nil, false
	}
	return t.asked.labels.At(i), true
}

// Write writes the part of the tree into a folder below the model's. Labels, for the index of the folder, are what the
// numbers of a column stand for.
func (t Tree) Write(ctx context.Context, name, format string, labels []string, table parts.Table) error {
	to := t.out.folder(name)
	to.parts.Format, to.parts.Columns, to.parts.Labels = format, table.Names(), labels
	part, err := parts.Write(ctx, t.out.emit, name, t.number, format, table)
	to.parts.Parts = append(to.parts.Parts, part...)
	return err
}

// WriteArray is Write of an array, in format npy.
func (t Tree) WriteArray(ctx context.Context, name string, a parts.Array) error {
	to := t.out.folder(name)
	to.parts.Format, to.parts.Columns = parts.NPY, []string{a.Name}
	part, err := parts.WriteArray(ctx, t.out.emit, name, t.number, a)
	to.parts.Parts = append(to.parts.Parts, part...)
	return err
}

func (o *output) folder(name string) *folder {
	for _, f := range o.folders {
		if f.name == name {
			return f
		}
	}
	o.folders = append(o.folders, &folder{name: name})
	return o.folders[len(o.folders)-1]
}

// index writes the index of each folder.
func (o *output) index(ctx context.Context) error {
	for _, f := range o.folders {
		if _, err := parts.WriteIndex(ctx, o.emit, f.name, f.parts); err != nil {
			return err
		}
	}
	return nil
}
