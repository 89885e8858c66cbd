package naivebayes

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/dataset/text"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/classify"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/kernelops"
)

// countsName names the phase of Algorithm 1's Train.
const countsName = "counts"

// classDocuments is an array of partials and models: the training documents of each class.
const classDocuments = "classes.documents"

// countsPhase counts each word's occurrences in each class.
type countsPhase struct {
	classify.Job[Params]
	tokenizer *text.Tokenizer
	grown     bool // the state has the counts of spec.model
	passes    bool // see vocabularyPhase
}

func (p *countsPhase) phase() jobs.Phase {
	return jobs.MapReduce[*words, *partialCounts]{
		Name: countsName, Partial: func() *partialCounts { return new(partialCounts) },
		State: jobs.Load[words],
		Map:   p.count, Merge: (*partialCounts).plus, Step: p.model, Passes: p.passes,
	}.Phase()
}

// count counts one leaf: the loops of Algorithm 1 over i and j, where a document of class y adds
// x^j to the count of (j, y). Memory is linear in the pairs met, beyond 16 MiB.
func (p *countsPhase) count(
	ctx context.Context, state *words, leaf jobs.Leaf, _ *kernelops.Set,
) (*partialCounts, error) {
	if seen, ok := leaf.Remembered(vocabulary.Name).(*texts); ok {
		if partial, ok := seen.partial(state); ok {
			return partial, nil
		}
	}
	c := newLeafCounts(state.Labels.Keys, p.tokenizer, state.Dictionary)
	c.once = p.Params.Form == formBernoulli
	train, known := p.Train(), &vocabulary.Known{}
	if p.Params.omits() {
		c.unknown = &unknown{}
	}
	for block, err := range leaf.Blocks(ctx) {
		if err == nil && c.unknown != nil {
			block, err = c.unknown.read(known, block)
		}
		if err != nil {
			return nil, err
		}
		for i := range block.IDs {
			c.records++
			if !train(block, i) {
				continue
			}
			if err := c.add(block, i); err != nil {
				return nil, err
			}
			if c.unknown != nil {
				c.addMissing(block, i, known.Missing(i))
			}
		}
	}
	return c.partial(), nil
}

// partialCounts are the counts of a partial.
type partialCounts struct {
	records   int64
	documents []int64
	cells     cells
	unknown   *unknown // nil where records have no missing counts
}

// Fields lists the counts.
func (c *partialCounts) Fields(f *jobs.Fields) {
	jobs.Scalar(f, "records", &c.records) // read, test records included
	jobs.List(f, classDocuments, &c.documents)
	c.cells.Fields(f)
	if f.Has(omitWidth, c.unknown != nil) {
		jobs.Make(f, &c.unknown).Fields(f)
	}
}

// plus adds the counts to the right.
func (c *partialCounts) plus(d *partialCounts) (*partialCounts, error) {
	documents, err := sums.Of(c.documents, d.documents)
	if err != nil {
		return nil, err
	}
	unknown, err := c.unknown.plus(d.unknown)
	if err != nil {
		return nil, err
	}
	return &partialCounts{c.records + d.records, documents, c.cells.plus(d.cells), unknown}, nil
}

// model makes the model. Normalizing is left to those who load it. The metrics are of this job's records.
func (p *countsPhase) model(
	_ context.Context, state *words, root *partialCounts, round jobs.Round,
) (jobs.Next, error) {
	all := root
	if p.grown {
		if state.before == nil {
			return jobs.Next{}, jobs.Malformed("the counts of spec.model are missing")
		}
		var err error
		if all, err = state.before.plus(root); err != nil {
			return jobs.Next{}, err
		}
	}
	m, err := newModel(p.Params, state, all)
	if err != nil {
		return jobs.Next{}, err
	}
	metrics := []jobs.Metric{
		jobs.CountMetric("counts.records", root.records),
		jobs.CountMetric("counts.tokens", sums.Total(root.cells.count)),
	}
	if warning := m.withoutTerm(); warning != "" {
		metric, err := jobs.NewMetric(jobs.WarningsMetric, []string{warning})
		if err != nil {
			return jobs.Next{}, err
		}
		metrics = append(metrics, metric)
	}
	return p.Judge.End(jobs.Next{State: jobs.ArraysOf(m), Metrics: metrics}, round.Plan), nil
}

// vocabularyPhase makes the dictionary. It counts on from a model where there is one, and holds the labels found
// against the parameters before anything is counted for them.
type vocabularyPhase struct {
	*vocabulary.Builder
	params Params
	grown  bool // the state of the first round is a model
	passes bool // records are texts, and what is seen of them is all that the phase that counts reads
}

func (p *vocabularyPhase) phase() jobs.Phase {
	return jobs.MapReduce[jobs.Arrays, *vocabulary.Counts]{
		Name: vocabulary.Name, State: jobs.Itself, Partial: func() *vocabulary.Counts { return new(vocabulary.Counts) },
		Map: p.count, Merge: (*vocabulary.Counts).Plus, Step: p.finish, Passes: p.passes,
	}.Phase()
}

// count refuses a model that the parameters contradict before it reads a record.
func (p *vocabularyPhase) count(
	ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, _ *kernelops.Set,
) (*vocabulary.Counts, error) {
	if p.grown {
		if err := p.params.agreeWith(state); err != nil {
			return nil, err
		}
	}
	if !p.passes || !leaf.Remembers(vocabulary.Name) {
		return p.Count(ctx, leaf)
	}
	return p.countTexts(ctx, leaf)
}

// countTexts counts a leaf, and leaves what it saw for the phase that counts by class.
func (p *vocabularyPhase) countTexts(ctx context.Context, leaf jobs.Leaf) (*vocabulary.Counts, error) {
	seen, records := newSeenTexts(p.params.Form == formBernoulli), int64(0)
	defer seen.close()
	leaf = leaf.Watched(func(block *dataset.Block) { records += int64(len(block.IDs)) })
	counts, order, err := p.CountTexts(ctx, leaf, seen.add)
	if err == nil && order != nil {
		t := seen.texts(records, counts, order)
		leaf.Remember(vocabulary.Name, t, t.bytes())
	}
	return counts, err
}

// words is the state between the two phases.
type words struct {
	vocabulary.Found
	growth []int64        // of each term; nil where the model does not grow
	before *partialCounts // the counts of the model before; nil without such a model
}

// Fields lists the state.
func (w *words) Fields(f *jobs.Fields) {
	w.Found.Fields(f)
	jobs.Optional(f, modelGrowth, &w.growth, w.Dictionary.Len())
	if f.Has(classDocuments, w.before != nil) {
		jobs.Make(f, &w.before).Fields(f)
	}
}

// finish finds the dictionary of all records, those of the model before too, and renumbers its counts.
func (p *vocabularyPhase) finish(
	_ context.Context, state jobs.Arrays, root *vocabulary.Counts, _ jobs.Round,
) (jobs.Next, error) {
	var before *model
	if p.grown {
		var err error
		if before, err = jobs.Load[model](state); err != nil {
			return jobs.Next{}, err
		}
		if root, err = before.vocabulary().Plus(root); err != nil {
			return jobs.Next{}, err
		}
	}
	found, metrics, err := p.Finish(root)
	if err != nil {
		return jobs.Next{}, err
	}
	if err := p.params.checkLabels(found.Labels.Keys.List()); err != nil {
		return jobs.Next{}, err
	}
	w := &words{Found: *found}
	if before != nil {
		w.before = before.renumbered(found.Dictionary, found.Labels.Keys)
	}
	if p.params.Grows {
		w.growth = p.params.growth(root.Terms, found.Dictionary)
	}
	return jobs.Next{Phase: countsName, State: jobs.ArraysOf(w), Metrics: metrics}, nil
}
