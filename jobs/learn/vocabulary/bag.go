package vocabulary

import (
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/dataset/text"
)

// Bag is a document in the dictionary's coordinates: term Terms[i] occurs Counts[i]
// times, terms ascending.
type Bag struct {
	Terms  []int32
	Counts []int64
}

// Bagger writes documents as bags. It keeps scratch memory: one goroutine at a time.
type Bagger struct {
	tokenizer  *text.Tokenizer
	scanner    *text.Scanner
	dictionary *Dictionary
	index      *text.Index
	found      []int32
	bag        Bag

	terms *text.Numbering // of the memo read last
	place []int32         // and the dictionary's number of each of its terms, or -1
}

// NewBagger returns a Bagger; terms that the dictionary lacks are passed over.
func NewBagger(tokenizer *text.Tokenizer, d *Dictionary) *Bagger {
	return &Bagger{tokenizer: tokenizer, scanner: text.NewScanner(tokenizer), dictionary: d,
		index: d.indexFor(tokenizer)}
}

// Found returns the numbers of a document's terms in order of occurrence; valid until the next call.
func (b *Bagger) Found(document []byte) []int32 {
	b.found = b.scanner.Find(b.found[:0], document, b.index)
	return b.found
}

// FoundIn is Found of record i of a block, a text. One that an earlier pass numbered is not read again.
func (b *Bagger) FoundIn(block *dataset.Block, i int) []int32 {
	if k, first := keptOf(block, b.tokenizer); k != nil {
		if numbers, ok := k.record(first + i); ok {
			return b.translate(k.terms, numbers)
		}
	}
	return b.Found(block.Texts[i])
}

// translate turns the numbers of a leaf's terms into those of the dictionary.
func (b *Bagger) translate(terms *text.Numbering, numbers []int32) []int32 {
	if b.terms != terms {
		b.terms, b.place = terms, terms.Places(b.place[:0], b.dictionary.number)
	}
	b.found = b.found[:0]
	for _, number := range numbers {
		if place := b.place[number]; place >= 0 {
			b.found = append(b.found, place)
		}
	}
	return b.found
}

// Bag returns a document's bag, valid until the next call.
func (b *Bagger) Bag(document []byte) Bag { return b.bagOf(b.Found(document)) }

// BagIn is Bag of record i of a block, a text. One that an earlier pass numbered is not read again.
func (b *Bagger) BagIn(block *dataset.Block, i int) Bag { return b.bagOf(b.FoundIn(block, i)) }

func (b *Bagger) bagOf(found []int32) Bag {
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
