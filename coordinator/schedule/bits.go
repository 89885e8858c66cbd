package schedule

import "math/bits"

// bitset is a set of small integers.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

// setRange puts [first, end) in or out and returns how many members changed.
func (b bitset) setRange(first, end int, in bool) (changed int) {
	for at := first; at < end; {
		word, low := at/64, at%64
		width := min(64-low, end-at)
		mask := (^uint64(0) >> (64 - width)) << low
		there := bits.OnesCount64(b[word] & mask)
		if in {
			changed += width - there
			b[word] |= mask
		} else {
			changed += there
			b[word] &^= mask
		}
		at += width
	}
	return changed
}

// count counts the members in [first, end).
func (b bitset) count(first, end int) (n int) {
	for at := first; at < end; {
		low := at % 64
		width := min(64-low, end-at)
		n += bits.OnesCount64(b[at/64] & ((^uint64(0) >> (64 - width)) << low))
		at += width
	}
	return n
}

// next returns the smallest member from at on, or -1.
func (b bitset) next(at int) int {
	for word := at / 64; word < len(b); word++ {
		rest := b[word]
		if word == at/64 {
			rest &= ^uint64(0) << (at % 64)
		}
		if rest != 0 {
			return word*64 + bits.TrailingZeros64(rest)
		}
	}
	return -1
}

// run counts the members that follow each other from at on, up to limit.
func (b bitset) run(at, limit int) int {
	n := 0
	for n < limit && (at+n)/64 < len(b) {
		low := (at + n) % 64
		ones := bits.TrailingZeros64(^(b[(at+n)/64] >> low))
		n += ones
		if ones < 64-low {
			break
		}
	}
	return min(n, limit)
}
