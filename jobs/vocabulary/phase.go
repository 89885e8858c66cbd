package vocabulary

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/gram-compute/gram/dataset/text"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// Name is the phase's name.
const Name = "vocabulary"

// Arrays of a partial: "terms" in byte order with "terms.count" (occurrences) and
// "terms.documents" (documents that hold the term), "labels" in byte order with
// "labels.documents". Arrays of the state: "dictionary" by falling count, then byte order,
// with "dictionary.documents", and the labels as in the partial.
const (
	terms      = "terms"
	labels     = "labels"
	dictionary = "dictionary"
	occurrence = "count"
	inDocs     = "documents"
)

// Phase counts the terms and labels of the training records and hands the dictionary
// to the next phase.
type Phase struct {
	params    Params
	tokenizer *text.Tokenizer
	train     jobs.Records
	next      string
}

// New makes the phase; train says which records count, next is the phase that follows.
func New(p Params, train jobs.Records, next string) (*Phase, error) {
	if err := params.Check(&p); err != nil {
		return nil, err
	}
	tokenizer, err := p.Tokenizer()
	return &Phase{params: p, tokenizer: tokenizer, train: train, next: next}, err
}

// Name is "vocabulary".
func (p *Phase) Name() string { return Name }

// Map counts one leaf: linear in its text, memory in its distinct terms; of sparse vectors in the last column met. Records
// that are neither labelled texts nor labelled counts are a fault of CodeBadRecord with the position of the first.
func (p *Phase) Map(ctx context.Context, _ jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays, _ *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	words, columns, classes := NewCounter(), &columnCounter{}, NewCounter()
	var scratch []byte
	addWord, train := words.Add, p.train()
	for block, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, nil, err
		}
		if err := CheckDocuments(block); err != nil {
			return nil, nil, err
		}
		if block.Labels == nil && len(block.IDs) > 0 {
			return nil, nil, block.IDs[0].Fault("the record has no label").
				WithHint("Name the column of labels in spec.input.label.")
		}
		for i, id := range block.IDs {
			if !train(id) {
				continue
			}
			classes.Add(block.Labels[i])
			if block.Texts == nil {
				if err := columns.add(block, i); err != nil {
					return nil, nil, err
				}
				continue
			}
			words.Next()
			scratch = p.tokenizer.Tokens(scratch, block.Texts[i], addWord)
		}
	}
	return Partial(Merge(words.Table(), columns.table()), classes.Table()), nil, nil // a label occurs once a document
}

// Merge adds the counts of two neighbours: linear in their terms.
func (p *Phase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	a, err := readPartial(left)
	if err != nil {
		return nil, err
	}
	b, err := readPartial(right)
	if err != nil {
		return nil, err
	}
	return Partial(Merge(a.terms, b.terms), Merge(a.labels, b.labels)), nil
}

// Step chooses the dictionary. No training record, or no term left, is a fault of CodeInputEmpty.
func (p *Phase) Step(ctx context.Context, _ jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	only, err := round.Only(ctx)
	if err != nil {
		return jobs.Next{}, err
	}
	root, err := readPartial(only)
	if err != nil {
		return jobs.Next{}, err
	}
	docs := root.documents()
	if docs == 0 {
		return jobs.Next{}, protocol.EmptyFault("no training record").
			WithHint("Check spec.input.uri and spec.input.split.test.")
	}
	kept, err := p.params.Choose(root.terms, docs)
	if err != nil {
		return jobs.Next{}, err
	}
	state := jobs.Arrays{}
	state.PutStrings(dictionary, kept.Keys)
	jobs.Put(state, dictionary+"."+inDocs, kept.Columns[1])
	root.labels.Put(state, labels, inDocs)
	return jobs.Next{Phase: p.next, State: state, Metrics: metrics(root, kept.Keys.Len())}, nil
}

// Choose returns the terms to keep, by falling count, then byte order. all has the columns count and
// documents. A *protocol.Fault of CodeInputEmpty says that none is left.
func (p Params) Choose(all Table, docs int64) (Table, error) {
	low, high := documents(p.MinDF, docs), math.Inf(1)
	if p.MaxDF != 0 {
		high = documents(p.MaxDF, docs)
	}
	if high < low {
		return Table{}, protocol.SpecFault(
			"max_df (%v) keeps fewer documents than min_df (%v) of %d", p.MaxDF, p.MinDF, docs)
	}
	var rows []int32
	for i := range all.Keys.Len() {
		if in := float64(all.Columns[1][i]); in >= low && in <= high {
			rows = append(rows, int32(i))
		}
	}
	// total order: terms are distinct
	slices.SortFunc(rows, func(i, j int32) int {
		return cmp.Or(cmp.Compare(all.Columns[0][j], all.Columns[0][i]), bytes.Compare(all.Keys.At(int(i)), all.Keys.At(int(j))))
	})
	if p.MaxFeatures > 0 {
		rows = rows[:min(len(rows), p.MaxFeatures)]
	}
	if len(rows) == 0 {
		return Table{}, protocol.EmptyFault("none of %d terms in %d training records is kept", all.Keys.Len(), docs).
			WithHint("Check spec.input.text, min_df and max_df.")
	}
	return all.pick(rows), nil
}

func metrics(root partialTables, kept int) []jobs.Metric {
	return []jobs.Metric{
		jobs.CountMetric("vocabulary.documents", root.documents()),
		jobs.CountMetric("vocabulary.labels", int64(root.labels.Keys.Len())),
		jobs.CountMetric("vocabulary.terms", int64(root.terms.Keys.Len())),
		jobs.CountMetric("vocabulary.terms_kept", int64(kept)),
	}
}

// Partial is what Map returns for records with these terms, whose columns are occurrences and documents, and these labels, whose
// column is documents. The keys of both are in byte order.
func Partial(words, classes Table) jobs.Arrays {
	partial := jobs.Arrays{}
	words.Put(partial, terms, occurrence, inDocs)
	classes.Put(partial, labels, inDocs)
	return partial
}

// Terms reads the terms of a partial, with their occurrences and documents.
func Terms(partial jobs.Arrays) (Table, error) { return GetTable(partial, terms, occurrence, inDocs) }

type partialTables struct{ terms, labels Table }

func readPartial(a jobs.Arrays) (partialTables, error) {
	words, err := Terms(a)
	if err != nil {
		return partialTables{}, err
	}
	if words.Keys.Len() > math.MaxInt32 {
		return partialTables{}, jobs.Malformed("%d terms are more than can be numbered", words.Keys.Len())
	}
	classes, err := GetTable(a, labels, inDocs)
	return partialTables{words, classes}, err
}

// documents is the number of training records; each has one label.
func (p partialTables) documents() int64 {
	total := int64(0)
	for _, n := range p.labels.Columns[0] {
		total += n
	}
	return total
}
