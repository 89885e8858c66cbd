package text

import (
	"encoding/binary"
	"math/bits"
)

// key is a term in two machine words. The last byte of hi is its form:
//
//	0 to 15    a term of that many bytes, which are in lo and hi, the first one lowest; zeros follow
//	formPair   an n-gram: lo has the number of its first words above that of its last one
//	formLong   a longer term: lo is where its bytes begin, the rest of hi how many there are
//
// Equal terms of the first two forms have equal keys, and others have others.
type key struct{ lo, hi uint64 }

const (
	formShift = 56
	formPair  = 0xfe
	formLong  = 0xff
	// inline is the length of the longest term that is in its key.
	inline = 15
)

func (k key) form() uint64 { return k.hi >> formShift }

// shortKey is the key of a term of up to inline bytes.
func shortKey(term []byte) key {
	k := key{hi: uint64(len(term)) << formShift}
	switch {
	case len(term) > 8:
		k.lo = binary.LittleEndian.Uint64(term)
		k.hi |= head(term[8:])
	case len(term) == 8:
		k.lo = binary.LittleEndian.Uint64(term)
	default:
		k.lo = head(term)
	}
	return k
}

// head has up to 8 first bytes, the first one lowest, and zeros.
func head(b []byte) (x uint64) {
	if len(b) >= 8 {
		return binary.LittleEndian.Uint64(b)
	}
	for i, c := range b {
		x |= uint64(c) << (8 * i)
	}
	return x
}

func longKey(at, length int) key { return key{uint64(at), uint64(length) | formLong<<formShift} }

// place returns where the bytes of a long term are.
func (k key) place() (from, to int) {
	return int(k.lo), int(k.lo) + int(k.hi&(1<<formShift-1))
}

func pairKey(first, last int32) key {
	return key{uint64(uint32(first))<<32 | uint64(uint32(last)), formPair << formShift}
}

// pair returns the parts of an n-gram.
func (k key) pair() (first, last int32) { return int32(k.lo >> 32), int32(uint32(k.lo)) }

// appendShort appends the bytes of a short term.
func (k key) appendShort(dst []byte) []byte {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], k.lo)
	binary.LittleEndian.PutUint64(b[8:], k.hi)
	return append(dst, b[:k.form()]...)
}

// The multipliers of the hash: the fraction of the golden ratio, and of the square root of 3.
const (
	golden = 0x9e3779b97f4a7c15
	root3  = 0xbb67ae8584caa73b
)

// mix is the folded product of two words. The constants are public, so that words can be found that collide: Numbering
// bounds what they cost.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^golden, b^root3)
	return hi ^ lo
}

// hash is that of a key which is no long term's.
func (k key) hash() uint32 { return uint32(mix(k.lo, k.hi)) }

// hashLong is that of the bytes of a long term.
func hashLong(term []byte) uint32 {
	h := uint64(len(term))
	for ; len(term) > 8; term = term[8:] {
		h = mix(h, binary.LittleEndian.Uint64(term))
	}
	return uint32(mix(h, head(term)))
}

const (
	eachByte = 0x0101010101010101
	highBits = 0x80 * eachByte
)

// classify looks at eight ASCII bytes: word has the high bit of each that is a letter or a digit, letter of each
// that is a letter. Those of bytes that are not ASCII are not set. No sum carries into the next byte.
func classify(x uint64) (word, letter uint64) {
	ascii := x &^ highBits
	folded := ascii | 0x20*eachByte
	letter = (folded + (0x80-'a')*eachByte) &^ (folded + (0x7f-'z')*eachByte)
	digit := (ascii + (0x80-'0')*eachByte) &^ (ascii + (0x7f-'9')*eachByte)
	ok := highBits &^ x
	return (letter | digit) & ok, letter & ok
}

// eight returns the eight bytes of text from one on, zeros after its end.
func eight(text []byte, from int) uint64 {
	if from+8 <= len(text) {
		return binary.LittleEndian.Uint64(text[from:])
	}
	return tail(text, from)
}

// tail is eight where the text ends within them.
func tail(text []byte, from int) uint64 {
	if len(text) >= 8 {
		return binary.LittleEndian.Uint64(text[len(text)-8:]) >> (8 * uint(from+8-len(text)))
	}
	return head(text[from:])
}
