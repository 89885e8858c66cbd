package vocabulary

import (
	"math"
	"slices"

	"github.com/gram-compute/gram/dataset/text"
	"github.com/gram-compute/gram/jobs"
)

// Dictionary numbers terms.
type Dictionary struct {
	Terms  jobs.Strings
	number map[string]int32
}

// Fields lists the terms; one that stands there twice is malformed.
func (d *Dictionary) Fields(f *jobs.Fields) {
	f.Strings(dictionary, &d.Terms)
	f.Check(d.index)
}

// NewDictionary numbers terms in their order; one that stands there twice is malformed.
func NewDictionary(list jobs.Strings) (*Dictionary, error) {
	d := &Dictionary{Terms: list}
	if err := d.index(); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *Dictionary) index() error {
	n := d.Terms.Len()
	if n > math.MaxInt32 {
		return jobs.Malformed("a dictionary of %d terms is too big", n)
	}
	d.number = make(map[string]int32, n)
	all := string(d.Terms.Bytes) // one string that the keys are parts of
	for i := range n {
		d.number[all[d.Terms.Offsets[i]:d.Terms.Offsets[i+1]]] = int32(i)
	}
	if len(d.number) != n {
		return jobs.Malformed("the dictionary holds a term twice")
	}
	return nil
}

// Len is the number of terms.
func (d *Dictionary) Len() int { return d.Terms.Len() }

// Lookup returns the number of a term; it does not allocate.
func (d *Dictionary) Lookup(term []byte) (int32, bool) {
	i, ok := d.number[string(term)]
	return i, ok
}

// LabelFields lists the labels of a state or model, in byte order.
func LabelFields(f *jobs.Fields, list *jobs.Strings) {
	f.Strings(labels, list)
	f.Check(func() error {
		if !list.StrictlyAscending() {
			return jobs.Malformed("the labels are not in byte order")
		}
		return nil
	})
}

// Bag is a document in the dictionary's coordinates: term Terms[i] occurs Counts[i]
// times, terms ascending.
type Bag struct {
	Terms  []int32
	Counts []int64
}

// Bagger writes documents as bags. It keeps scratch memory: one goroutine at a time.
type Bagger struct {
	tokenizer  *text.Tokenizer
	dictionary *Dictionary
	scratch    []byte
	found      []int32
	bag        Bag
}

// NewBagger returns a Bagger; terms that the dictionary lacks are passed over.
func NewBagger(tokenizer *text.Tokenizer, d *Dictionary) *Bagger {
	return &Bagger{tokenizer: tokenizer, dictionary: d}
}

// Found returns the numbers of a document's terms in order of occurrence; valid until the next call.
func (b *Bagger) Found(document []byte) []int32 {
	b.found = b.found[:0]
	b.scratch = b.tokenizer.Tokens(b.scratch, document, func(term []byte) {
		if i, ok := b.dictionary.Lookup(term); ok {
			b.found = append(b.found, i)
		}
	})
	return b.found
}

// Bag returns a document's bag, valid until the next call.
func (b *Bagger) Bag(document []byte) Bag {
	found := b.Found(document)
	slices.Sort(found)
	b.bag = Bag{Terms: b.bag.Terms[:0], Counts: b.bag.Counts[:0]}
	for i, term := range found {
		if i == 0 || term != found[i-1] {
			b.bag.Terms, b.bag.Counts = append(b.bag.Terms, term), append(b.bag.Counts, 0)
		}
		b.bag.Counts[len(b.bag.Counts)-1]++
	}
	return b.bag
}
