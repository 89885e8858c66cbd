package vocabulary

import (
	"math"
	"sync"

	"github.com/gram-compute/gram/dataset/text"
	"github.com/gram-compute/gram/jobs"
)

// Dictionary numbers terms.
type Dictionary struct {
	Terms  jobs.Strings
	number *text.Numbering

	once  sync.Once
	grams *text.Index // for n-grams of words
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
	d.number = text.NewNumbering(n)
	for i := range n {
		d.number.Number(d.Terms.At(i))
	}
	if d.number.Len() != n {
		return jobs.Malformed("the dictionary holds a term twice")
	}
	return nil
}

// Len is the number of terms.
func (d *Dictionary) Len() int { return d.Terms.Len() }

// Lookup returns the number of a term; it does not allocate.
func (d *Dictionary) Lookup(term []byte) (int32, bool) {
	return d.number.Find(term)
}

// indexFor returns the index of the terms for a tokenizer.
func (d *Dictionary) indexFor(tokenizer *text.Tokenizer) *text.Index {
	if !tokenizer.Pairs() {
		return text.NewIndex(tokenizer, d.number)
	}
	d.once.Do(func() { d.grams = text.NewIndex(tokenizer, d.number) })
	return d.grams
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
