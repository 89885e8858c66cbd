package text

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
)

// ranked is a term with its first bytes, the first one highest.
type ranked struct {
	first  uint64
	number int32
}

// Sorted returns the numbers that keep chooses, all if it is nil, in byte order of their terms.
func (n *Numbering) Sorted(keep func(number int32) bool) []int32 {
	return numbersOf(n.sorted(nil, 0, keep), nil)
}

// Ordered is Sorted of a numbering that remembers the order of its terms, to which later calls add those that are new.
func (n *Numbering) Ordered(keep func(number int32) bool) []int32 {
	known := len(n.order)
	n.order = n.sorted(n.order, int32(known), nil)
	if known > 0 && known < len(n.order) {
		n.order = n.merged(n.order[:known], n.order[known:])
	}
	return numbersOf(n.order, keep)
}

// sorted appends the terms from a number on that keep chooses, in byte order.
func (n *Numbering) sorted(list []ranked, from int32, keep func(number int32) bool) []ranked {
	var scratch []byte
	begin := len(list)
	list = slices.Grow(list, len(n.keys)-int(from))
	for number := from; number < int32(len(n.keys)); number++ {
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
	slices.SortFunc(list[begin:], n.compareRanked)
	return list
}

// compareRanked is a total order: terms are distinct.
func (n *Numbering) compareRanked(a, b ranked) int {
	if a.first != b.first {
		return cmp.Compare(a.first, b.first)
	}
	return n.compare(a.number, b.number)
}

// merged merges two lists in order.
func (n *Numbering) merged(a, b []ranked) []ranked {
	all := make([]ranked, 0, len(a)+len(b)+len(b)/2)
	for len(a) > 0 && len(b) > 0 {
		if n.compareRanked(a[0], b[0]) < 0 {
			all, a = append(all, a[0]), a[1:]
		} else {
			all, b = append(all, b[0]), b[1:]
		}
	}
	return append(append(all, a...), b...)
}

// numbersOf are those of a list that keep chooses, all if it is nil.
func numbersOf(list []ranked, keep func(number int32) bool) []int32 {
	numbers := make([]int32, 0, len(list))
	for _, r := range list {
		if keep == nil || keep(r.number) {
			numbers = append(numbers, r.number)
		}
	}
	return numbers
}

// compare orders terms that begin with the same eight bytes, zeros after the end of a term.
func (n *Numbering) compare(a, b int32) int {
	if x, y := n.keys[a], n.keys[b]; x.form() <= inline && y.form() <= inline {
		return cmp.Compare(bits.ReverseBytes64(x.hi), bits.ReverseBytes64(y.hi)) // the length is the last byte
	}
	var left, right [256]byte
	return bytes.Compare(n.Append(left[:0], a), n.Append(right[:0], b))
}
