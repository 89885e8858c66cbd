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

// ReadDictionary reads the dictionary of a state or model in time and memory linear in its bytes; a
// term that stands there twice is malformed.
func ReadDictionary(a jobs.Arrays) (*Dictionary, error) {
	list, err := a.Strings(dictionary)
	if err != nil {
		return nil, err
	}
	return NewDictionary(list)
}

// NewDictionary numbers terms in their order; one that stands there twice is malformed.
func NewDictionary(list jobs.Strings) (*Dictionary, error) {
	if list.Len() > math.MaxInt32 {
		return nil, jobs.Malformed("a dictionary of %d terms is too big", list.Len())
	}
	d := &Dictionary{Terms: list, number: make(map[string]int32, list.Len())}
	all := string(list.Bytes) // one string that the keys are parts of
	for i := range list.Len() {
		d.number[all[list.Offsets[i]:list.Offsets[i+1]]] = int32(i)
	}
	if len(d.number) != list.Len() {
		return nil, jobs.Malformed("the dictionary holds a term twice")
	}
	return d, nil
}

// Put writes the dictionary into a model.
func (d *Dictionary) Put(a jobs.Arrays) { a.PutStrings(dictionary, d.Terms) }

// Len is the number of terms.
func (d *Dictionary) Len() int { return d.Terms.Len() }

// Lookup returns the number of a term; it does not allocate.
func (d *Dictionary) Lookup(term []byte) (int32, bool) {
	i, ok := d.number[string(term)]
	return i, ok
}

// ReadLabels reads the labels of a state or model, in byte order.
func ReadLabels(a jobs.Arrays) (jobs.Strings, error) {
	list, err := a.Strings(labels)
	if err == nil && !list.StrictlyAscending() {
		err = jobs.Malformed("the labels are not in byte order")
	}
	return list, err
}

// PutLabels writes labels into a model.
func PutLabels(a jobs.Arrays, list jobs.Strings) { a.PutStrings(labels, list) }

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
