package vocabulary

import (
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/dataset/text"
)

// numbered are the texts of a block as numbers of a leaf's terms, which a pass keeps in the block's memo for later
// ones. It is not changed once it is kept.
type numbered struct {
	tokenizer *text.Tokenizer
	terms     *text.Numbering
	numbers   []int32
	// ends are where the numbers of each record end; of one that was not numbered, the complement of where the next
	// one's begin.
	ends []int32
}

// record returns the numbers of a record; false if it was not numbered.
func (k *numbered) record(i int) ([]int32, bool) {
	if i >= len(k.ends) || k.ends[i] < 0 {
		return nil, false
	}
	return k.numbers[k.begin(i):k.ends[i]], true
}

// begin is where the numbers of a record begin.
func (k *numbered) begin(i int) int32 {
	if i == 0 {
		return 0
	}
	if end := k.ends[i-1]; end < 0 {
		return ^end
	}
	return k.ends[i-1]
}

// keptOf returns what is kept of the texts of a block, in the terms of a tokenizer, and which record is the block's
// first; nil where there is nothing.
func keptOf(block *dataset.Block, tokenizer *text.Tokenizer) (k *numbered, first int) {
	value, first := block.Memo.Value()
	if k, _ = value.(*numbered); k == nil || k.tokenizer != tokenizer && !k.tokenizer.Equal(tokenizer) {
		return nil, 0
	}
	return k, first
}

// A Numberer counts the terms of a leaf's texts, and keeps their numbers beside the blocks where there is room. Numbers
// are kept for the whole leaf, when it ends, or not at all.
type Numberer struct {
	*Counter
	scanner *text.Scanner
	block   *dataset.Block
	now     *numbered
	full    bool // nothing more is kept
	pending []pending
}

type pending struct {
	memo  dataset.Memo
	value *numbered
	bytes int64
}

// NewNumberer returns a numberer of a tokenizer's terms.
func NewNumberer(tokenizer *text.Tokenizer) *Numberer {
	n := &Numberer{Counter: NewCounter(), scanner: text.NewScanner(tokenizer)}
	n.now = &numbered{tokenizer: tokenizer, terms: n.terms}
	return n
}

// Begin begins a block. Its records are added in order, though not all of them need to be.
func (n *Numberer) Begin(block *dataset.Block) {
	n.end()
	n.block = block
}

// Text counts record i of the block, a text, and returns the numbers of its terms, valid until the next call.
func (n *Numberer) Text(i int) []int32 {
	n.Next()
	if n.full {
		n.now.numbers = n.scanner.Number(n.now.numbers[:0], n.block.Texts[i], n.terms)
		n.addAll(n.now.numbers)
		return n.now.numbers
	}
	for len(n.now.ends) < i { // records that were left out
		n.now.ends = append(n.now.ends, ^int32(len(n.now.numbers)))
	}
	from := len(n.now.numbers)
	n.now.numbers = n.scanner.Number(n.now.numbers, n.block.Texts[i], n.terms)
	n.addAll(n.now.numbers[from:])
	n.now.ends = append(n.now.ends, int32(len(n.now.numbers)))
	return n.now.numbers[from:]
}

// reset makes the numberer an empty one of the same terms, in the memory that it has. Nothing of it is kept.
func (n *Numberer) reset() {
	n.Counter.reset()
	n.block, n.full, n.now.numbers, n.now.ends = nil, false, n.now.numbers[:0], n.now.ends[:0]
}

// end keeps the numbers of a block for the end of the leaf.
func (n *Numberer) end() {
	if len(n.now.ends) == 0 { // no block, or no text of it counts
		return
	}
	bytes := 4*int64(len(n.now.numbers)+len(n.now.ends)) + keptHeader
	switch {
	case n.full || len(n.now.numbers) > maxKept:
		n.forget()
	case n.block.Memo.Reserve(bytes):
		n.pending = append(n.pending, pending{n.block.Memo, &numbered{n.now.tokenizer, n.terms,
			slices.Clone(n.now.numbers), slices.Clone(n.now.ends)}, bytes})
	default:
		n.forget()
	}
	n.block, n.now.numbers, n.now.ends = nil, n.now.numbers[:0], n.now.ends[:0]
}

const (
	// keptHeader is about what the numbers of a block take beside themselves.
	keptHeader = 128
	// maxKept bounds the numbers of a block, so that an int32 counts them.
	maxKept = 1 << 30
)

// Keep ends the leaf, of which nothing may be added from now on: what was numbered is there for later passes.
func (n *Numberer) Keep() {
	n.end()
	if len(n.pending) == 0 {
		return
	}
	n.terms.Seal()
	if last := &n.pending[len(n.pending)-1]; last.memo.Reserve(n.terms.Bytes()) {
		last.bytes += n.terms.Bytes()
	} else {
		n.forget()
		return
	}
	for _, p := range n.pending {
		p.memo.Keep(p.value, p.bytes)
	}
	n.pending = nil
}

// forget gives up what was to be kept. It may be called at any time, and after Keep does nothing.
func (n *Numberer) forget() {
	for _, p := range n.pending {
		p.memo.Release(p.bytes)
	}
	n.pending, n.full = nil, true
}

// Close releases what was not kept.
func (n *Numberer) Close() { n.forget() }
