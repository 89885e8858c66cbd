package vocabulary

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/dataset/text"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/jobs/params"
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
	inDocs     = "documents"
)

// Builder counts the terms and labels of the training records and makes a dictionary of them.
type Builder struct {
	params    Params
	tokenizer *text.Tokenizer
	train     jobs.Records
	known     bool // records are dense vectors; see OfKnown
	refuse    func(id dataset.Identity, column int32) error
	used      sync.Pool // of numberers
}

// New makes the builder; train says which records count.
func New(p Params, train jobs.Records) (*Builder, error) {
	if err := params.Check(&p); err != nil {
		return nil, err
	}
	tokenizer, err := p.Tokenizer()
	return &Builder{params: p, tokenizer: tokenizer, train: train}, err
}

// Counts are the terms of records, with the columns occurrences and documents, and their labels, with the column
// documents. The keys of both are in byte order.
type Counts struct{ Terms, Labels Table }

// Fields lists the counts.
func (c *Counts) Fields(f *jobs.Fields) {
	TableFields(f, terms, &c.Terms, "count", inDocs)
	f.Require(c.Terms.Keys.Len() <= math.MaxInt32, "%d terms are more than can be numbered", c.Terms.Keys.Len())
	TableFields(f, labels, &c.Labels, inDocs)
}

// Plus adds the counts to the right: linear in their terms.
func (c *Counts) Plus(right *Counts) (*Counts, error) {
	return &Counts{Merge(c.Terms, right.Terms), Merge(c.Labels, right.Labels)}, nil
}

// Count counts one leaf: linear in its text, memory in its distinct terms; of sparse vectors in the last column met.
// Records that are neither labeled texts nor labeled counts are a fault of CodeBadRecord with the position of the
// first.
func (b *Builder) Count(ctx context.Context, leaf jobs.Leaf) (*Counts, error) {
	words := NewNumberer(b.tokenizer)
	defer words.Close()
	counts, _, err := b.count(ctx, leaf, words, nil)
	if err == nil {
		words.Keep()
	}
	return counts, err
}

// Seen is told of each text that counts: the number of its label and those of its terms, in order, which are valid
// until it returns. Numbers are from 0, in the order in which a leaf first has them.
type Seen func(label int32, terms []int32)

// Order has the numbers of the terms and labels of a leaf in the order of its Counts.
type Order struct{ Terms, Labels []int32 }

// CountTexts is Count that tells of each text. The order is nil if there were other records than texts.
func (b *Builder) CountTexts(ctx context.Context, leaf jobs.Leaf, seen Seen) (*Counts, *Order, error) {
	words := b.numberer()
	counts, order, err := b.count(ctx, leaf, words, seen)
	b.used.Put(words)
	return counts, order, err
}

// numberer returns one that keeps nothing. The tables of a leaf that has ended are used again: memory that is fresh
// from the system takes as long to map as to fill.
func (b *Builder) numberer() *Numberer {
	words, _ := b.used.Get().(*Numberer)
	if words == nil {
		words = NewNumberer(b.tokenizer)
	}
	words.reset()
	words.full = true
	return words
}

// count counts a leaf. Where nobody is told of the texts, the order is nil.
func (b *Builder) count(ctx context.Context, leaf jobs.Leaf, words *Numberer, seen Seen) (*Counts, *Order, error) {
	columns, classes := &columnCounter{}, NewCounter()
	train, known := b.train(), &Known{}
	for block, err := range leaf.Blocks(ctx) {
		if err == nil && b.known {
			block, err = known.Read(block)
		}
		if err != nil {
			return nil, nil, err
		}
		if err := checkLabeled(block); err != nil {
			return nil, nil, err
		}
		words.Begin(block)
		for i := range block.IDs {
			if !train(block, i) {
				continue
			}
			if err := b.refuseMissing(known, block.IDs[i], i); err != nil {
				return nil, nil, err
			}
			label := classes.Add(block.Labels[i])
			if block.Texts == nil {
				if err := columns.add(block, i); err != nil {
					return nil, nil, err
				}
				seen = nil
				continue
			}
			if terms := words.Text(i); seen != nil {
				seen(label, terms)
			}
		}
	}
	terms, order := words.table()
	labels, rank := classes.table() // a label occurs once a document
	counts := &Counts{Merge(terms, columns.table()), labels}
	if seen == nil {
		return counts, nil, nil
	}
	return counts, &Order{order, rank}, nil
}

func checkLabeled(block *dataset.Block) error {
	if err := CheckDocuments(block); err != nil {
		return err
	}
	if block.Labels == nil && len(block.IDs) > 0 {
		return block.IDs[0].Fault("the record has no label").
			WithHint("Name the column of labels in spec.input.label.")
	}
	return nil
}

// Found is the dictionary by falling count, then byte order, with the documents that hold each term, and the labels
// with the documents of each.
type Found struct {
	Dictionary *Dictionary
	Documents  []int64
	Labels     Table
}

// Fields lists what was found, in a state.
func (v *Found) Fields(f *jobs.Fields) {
	jobs.Make(f, &v.Dictionary).Fields(f)
	jobs.List(f, dictionary+"."+inDocs, &v.Documents, v.Dictionary.Len())
	TableFields(f, labels, &v.Labels, inDocs)
}

// Finish chooses the dictionary. No training record, or no term left, is a fault of CodeInputEmpty.
func (b *Builder) Finish(root *Counts) (*Found, []jobs.Metric, error) {
	docs := sums.Total(root.Labels.Columns[0]) // each training record has one label
	if docs == 0 {
		return nil, nil, protocol.EmptyFault("no training record").
			WithHint("Check spec.input.uri and spec.input.split.test.")
	}
	kept, err := b.params.Choose(root.Terms, docs)
	if err != nil {
		return nil, nil, err
	}
	d, err := NewDictionary(kept.Keys)
	if err != nil {
		return nil, nil, err
	}
	return &Found{d, kept.Columns[1], root.Labels}, []jobs.Metric{
		jobs.CountMetric("vocabulary.documents", docs),
		jobs.CountMetric("vocabulary.labels", int64(root.Labels.Keys.Len())),
		jobs.CountMetric("vocabulary.terms", int64(root.Terms.Keys.Len())),
		jobs.CountMetric("vocabulary.terms_kept", int64(kept.Keys.Len())),
	}, nil
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
		return cmp.Or(cmp.Compare(all.Columns[0][j], all.Columns[0][i]),
			bytes.Compare(all.Keys.At(int(i)), all.Keys.At(int(j))))
	})
	if p.MaxFeatures > 0 {
		rows = rows[:min(len(rows), p.MaxFeatures)]
	}
	if len(rows) == 0 {
		return Table{}, protocol.EmptyFault("none of %s in %s is kept", protocol.Counted(all.Keys.Len(), "term"),
			protocol.Counted(docs, "training record")).
			WithHint("Check spec.input.text, min_df and max_df.")
	}
	return all.pick(rows), nil
}
