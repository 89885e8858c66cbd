package text

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
)

// Numbering numbers terms from 0, in the order in which they were first met. It is a table with open addressing over
// keys of two machine words and one piece of memory for the terms that are longer. Numbers do not depend on the hash.
//
// Hashes have no secret, so that words may be made to collide. A look-up passes at most maxProbes slots; a term that
// finds no free one there is kept in a map of Go, whose hash has a secret. So hostile words cost the time of that map
// and of maxProbes comparisons each.
type Numbering struct {
	slots []uint32 // the number after that of a term, or 0; a power of two of them, at most half of them taken
	taken int
	keys  []key  // by number
	long  []byte // of long terms
	// over has the terms that found no slot; overLong the long ones among them.
	over     map[key]int32
	overLong map[string]int32
}

const (
	maxProbes = 64
	leastSize = 64
)

// NewNumbering returns a numbering with room for terms; it grows.
func NewNumbering(terms int) *Numbering {
	size := leastSize
	for size < 2*terms {
		size *= 2
	}
	return &Numbering{slots: newSlots(size), keys: make([]key, 0, terms)}
}

// newSlots returns empty slots. They are written to, as memory that is fresh from the system would else be mapped
// twice: when it is first read and when it is first written to.
func newSlots(size int) []uint32 {
	slots := make([]uint32, size)
	clear(slots)
	return slots
}

// Len is the number of terms.
func (n *Numbering) Len() int { return len(n.keys) }

// Bytes is about the memory that it takes.
func (n *Numbering) Bytes() int64 {
	const ofMap = 64 // what an entry of a map takes, about
	return int64(4*cap(n.slots)+16*cap(n.keys)+cap(n.long)) + ofMap*int64(len(n.over)+len(n.overLong))
}

// Reset makes the numbering an empty one, in the memory that it has.
func (n *Numbering) Reset() {
	clear(n.slots)
	n.taken, n.keys, n.long, n.over, n.overLong = 0, n.keys[:0], n.long[:0], nil, nil
}

// Seal gives up the memory that is needed to number or to find terms, and keeps the terms.
func (n *Numbering) Seal() { n.slots, n.over, n.overLong = nil, nil, nil }

// Number returns the number of a term, a new one if it was not met before.
func (n *Numbering) Number(term []byte) int32 {
	if len(term) <= inline {
		return n.add(shortKey(term))
	}
	return n.addLong(term)
}

// Find returns the number of a term; false if it has none. It may be called by several goroutines at a time.
func (n *Numbering) Find(term []byte) (int32, bool) {
	i := int32(-1)
	if len(term) <= inline {
		i = n.find(shortKey(term))
	} else {
		i = n.findLong(term)
	}
	return i, i >= 0
}

// Places appends, for each term, its number in another numbering of terms as they are, -1 if it has none.
func (n *Numbering) Places(dst []int32, list *Numbering) []int32 {
	var term []byte
	for number, k := range n.keys {
		if k.form() <= inline {
			dst = append(dst, list.find(k))
			continue
		}
		term = n.Append(term[:0], int32(number))
		place, _ := list.Find(term)
		dst = append(dst, place)
	}
	return dst
}

// first sets after to what the first slot of each key has. It is not looked for long terms, whose keys are of another
// piece of memory: what is found for them has no meaning.
func (n *Numbering) first(after []uint32, keys []key) {
	slots, after := n.slots, after[:len(keys)]
	mask := uint32(len(slots) - 1)
	for i, k := range keys {
		after[i] = slots[k.hash()&mask]
	}
}

// add is Number of a key that is no long term's.
func (n *Numbering) add(k key) int32 {
	number, free := n.probe(k)
	switch {
	case number >= 0:
		return number
	case free < 0:
		n.keepOver(k, int32(len(n.keys)))
	}
	return n.append(k, free)
}

// find is add without adding: -1 if there is no such term.
func (n *Numbering) find(k key) int32 {
	number, _ := n.probe(k)
	return number
}

// probe returns the number of a key, or -1 and the slot for it, which is -1 where that is the map.
func (n *Numbering) probe(k key) (number int32, free int64) {
	h, mask := k.hash(), uint32(len(n.slots)-1)
	for i := range uint32(maxProbes) {
		at := (h + i) & mask
		after := n.slots[at]
		if after == 0 {
			return -1, int64(at)
		}
		if n.keys[after-1] == k {
			return int32(after - 1), -1
		}
	}
	if i, ok := n.over[k]; ok {
		return i, -1
	}
	return -1, -1
}

// addLong is Number of a long term.
func (n *Numbering) addLong(term []byte) int32 {
	number, free := n.probeLong(term)
	if number >= 0 {
		return number
	}
	k := longKey(len(n.long), len(term))
	n.long = append(n.long, term...)
	if free < 0 {
		n.keepOver(k, int32(len(n.keys)))
	}
	return n.append(k, free)
}

func (n *Numbering) findLong(term []byte) int32 {
	number, _ := n.probeLong(term)
	return number
}

// probeLong is probe of a long term.
func (n *Numbering) probeLong(term []byte) (number int32, free int64) {
	h, mask := hashLong(term), uint32(len(n.slots)-1)
	for i := range uint32(maxProbes) {
		at := (h + i) & mask
		after := n.slots[at]
		if after == 0 {
			return -1, int64(at)
		}
		if n.isLong(after-1, term) {
			return int32(after - 1), -1
		}
	}
	if i, ok := n.overLong[string(term)]; ok {
		return i, -1
	}
	return -1, -1
}

func (n *Numbering) isLong(number uint32, term []byte) bool {
	k := n.keys[number]
	if k.form() != formLong {
		return false
	}
	from, to := k.place()
	return bytes.Equal(n.long[from:to], term)
}

// append gives a key the next number, and a slot unless it has none.
func (n *Numbering) append(k key, slot int64) int32 {
	if len(n.keys) == cap(n.keys) { // append would add a quarter each time, and leave four times as much garbage
		n.keys = slices.Grow(n.keys, len(n.keys)+leastSize)
	}
	n.keys = append(n.keys, k)
	if slot >= 0 {
		n.slots[slot] = uint32(len(n.keys))
		n.taken++
	}
	if 2*n.taken > len(n.slots) {
		n.grow()
	}
	return int32(len(n.keys) - 1)
}

// grow doubles the slots. Terms of the maps may find one now.
func (n *Numbering) grow() {
	n.slots, n.taken, n.over, n.overLong = newSlots(2*len(n.slots)), 0, nil, nil
	mask := uint32(len(n.slots) - 1)
	for number, k := range n.keys {
		at, i := n.hashOf(k)&mask, 0
		for ; i < maxProbes && n.slots[at] != 0; i++ {
			at = (at + 1) & mask
		}
		if i < maxProbes {
			n.slots[at] = uint32(number + 1)
			n.taken++
			continue
		}
		n.keepOver(k, int32(number))
	}
}

// keepOver puts a term into a map.
func (n *Numbering) keepOver(k key, number int32) {
	if k.form() == formLong {
		if n.overLong == nil {
			n.overLong = map[string]int32{}
		}
		from, to := k.place()
		n.overLong[string(n.long[from:to])] = number
		return
	}
	if n.over == nil {
		n.over = map[key]int32{}
	}
	n.over[k] = number
}

func (n *Numbering) hashOf(k key) uint32 {
	if k.form() != formLong {
		return k.hash()
	}
	from, to := k.place()
	return hashLong(n.long[from:to])
}

// Append appends the bytes of a term to dst.
func (n *Numbering) Append(dst []byte, number int32) []byte {
	k := n.keys[number]
	switch k.form() {
	case formPair:
		first, last := k.pair()
		return n.Append(append(n.Append(dst, first), ' '), last)
	case formLong:
		from, to := k.place()
		return append(dst, n.long[from:to]...)
	}
	return k.appendShort(dst)
}

// ranked is a term with its first bytes, the first one highest.
type ranked struct {
	first  uint64
	number int32
}

// Sorted returns the numbers that keep chooses, all if it is nil, in byte order of their terms.
func (n *Numbering) Sorted(keep func(number int32) bool) []int32 {
	var scratch []byte
	list := make([]ranked, 0, len(n.keys))
	for number := range int32(len(n.keys)) {
		if keep != nil && !keep(number) {
			continue
		}
		k := n.keys[number]
		first := k.lo
		if k.form() > inline {
			scratch = n.Append(scratch[:0], number)
			first = head(scratch)
		}
		list = append(list, ranked{bits.ReverseBytes64(first), number})
	}
	// total order: terms are distinct
	slices.SortFunc(list, func(a, b ranked) int {
		if a.first != b.first {
			return cmp.Compare(a.first, b.first)
		}
		return n.compare(a.number, b.number)
	})
	sorted := make([]int32, len(list))
	for i, r := range list {
		sorted[i] = r.number
	}
	return sorted
}

// compare orders terms that begin with the same eight bytes, zeros after the end of a term.
func (n *Numbering) compare(a, b int32) int {
	if x, y := n.keys[a], n.keys[b]; x.form() <= inline && y.form() <= inline {
		return cmp.Compare(bits.ReverseBytes64(x.hi), bits.ReverseBytes64(y.hi)) // the length is the last byte
	}
	var left, right [256]byte
	return bytes.Compare(n.Append(left[:0], a), n.Append(right[:0], b))
}
