package naivebayes

import (
	"context"

	"github.com/gram-compute/gram/dataset/text"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/evaluation"
	"github.com/gram-compute/gram/jobs/vocabulary"
	"github.com/gram-compute/gram/kernelops"
)

// countsName names the phase of Algorithm 1's Train.
const countsName = "counts"

// Arrays of a partial beside the cells: training documents of each class, and records
// read, test records included.
const (
	classDocuments = "classes.documents" // I64 [classes]
	recordsRead    = "records"           // I64 scalar
)

// countsPhase counts each word's occurrences in each class.
type countsPhase struct {
	params    Params
	tokenizer *text.Tokenizer
	train     jobs.Records
	judged    bool
	grown     bool // the state has the counts of spec.model
}

func (p *countsPhase) Name() string { return countsName }

// Map counts one leaf: the loops of Algorithm 1 over i and j, where a document of class y adds
// x^j to the count of (j, y). Memory is linear in the pairs met, beyond 16 MiB.
func (p *countsPhase) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays, _ *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	dictionary, err := vocabulary.ReadDictionary(state)
	if err != nil {
		return nil, nil, err
	}
	labels, err := vocabulary.ReadLabels(state)
	if err != nil {
		return nil, nil, err
	}
	c := newLeafCounts(labels, p.tokenizer, dictionary)
	c.once = p.params.Form == formBernoulli
	train := p.train()
	for block, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, nil, err
		}
		for i, id := range block.IDs {
			c.records++
			if !train(id) {
				continue
			}
			if err := c.add(block, i); err != nil {
				return nil, nil, err
			}
		}
	}
	return c.partial(), nil, nil
}

// partialCounts is a partial as Go values.
type partialCounts struct {
	records   int64
	documents []int64
	cells     cells
}

func (c partialCounts) arrays() jobs.Arrays {
	a := jobs.Arrays{}
	c.put(a)
	return a
}

func (c partialCounts) put(a jobs.Arrays) {
	jobs.PutScalar(a, recordsRead, c.records)
	jobs.Put(a, classDocuments, c.documents)
	c.cells.put(a)
}

func readPartial(a jobs.Arrays) (partialCounts, error) {
	r := jobs.ArrayReader{Arrays: a}
	c := partialCounts{records: jobs.ReadScalar[int64](&r, recordsRead), documents: jobs.ReadArray[int64](&r, classDocuments)}
	if r.Err != nil {
		return partialCounts{}, r.Err
	}
	var err error
	c.cells, err = readCells(a)
	return c, err
}

// Merge adds the counts of two neighbours.
func (p *countsPhase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	a, err := readPartial(left)
	if err != nil {
		return nil, err
	}
	b, err := readPartial(right)
	if err != nil {
		return nil, err
	}
	sum, err := a.plus(b)
	if err != nil {
		return nil, err
	}
	return sum.arrays(), nil
}

func (c partialCounts) plus(d partialCounts) (partialCounts, error) {
	if len(c.documents) != len(d.documents) {
		return partialCounts{}, jobs.Malformed("partials of %d and %d classes", len(c.documents), len(d.documents))
	}
	documents := make([]int64, len(c.documents))
	for y := range documents {
		documents[y] = c.documents[y] + d.documents[y]
	}
	return partialCounts{c.records + d.records, documents, c.cells.plus(d.cells)}, nil
}

// Step makes the model. Normalising is left to those who load it. The metrics are of this job's records.
func (p *countsPhase) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	only, err := round.Only(ctx)
	if err != nil {
		return jobs.Next{}, err
	}
	root, err := readPartial(only)
	if err != nil {
		return jobs.Next{}, err
	}
	all := root
	if p.grown {
		before, err := readPartial(state)
		if err != nil {
			return jobs.Next{}, err
		}
		if all, err = before.plus(root); err != nil {
			return jobs.Next{}, err
		}
	}
	m, err := newModel(p.params, state, all)
	if err != nil {
		return jobs.Next{}, err
	}
	next := jobs.Next{Done: true, State: m.arrays(), Metrics: []jobs.Metric{
		jobs.CountMetric("counts.records", root.records),
		jobs.CountMetric("counts.tokens", root.cells.total()),
	}}
	if p.judged {
		next = evaluation.After(next, round.Plan)
	}
	return next, nil
}
