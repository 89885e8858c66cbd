package dataset

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/gram-compute/gram/kernelops/decimal"
)

// Bytes of a word that are computed with at once (Knuth, volume 4A, section 7.1.3). A word holds eight bytes of text,
// the first in its lowest bits.
const (
	eachByte  = 0x0101010101010101
	highBits  = 0x80 * eachByte
	wordBytes = 8
)

// aheadBytes is how far beyond a line its numbers are loaded; wideBytes, how far beyond its begin wideNumber loads one.
const (
	aheadBytes = decimal.Ahead
	wideBytes  = 4 * wordBytes
)

// ahead returns text with up to aheadBytes that follow it in its buffer. What they are has no influence.
func ahead(text []byte) []byte { return text[:min(len(text)+aheadBytes, cap(text))] }

func load(text []byte, from int) uint64 { return binary.LittleEndian.Uint64(text[from:]) }

// digitsOf is how many digits a word begins with.
func digitsOf(word uint64) int {
	x := word ^ '0'*eachByte
	return bits.TrailingZeros64((x&^highBits+0x76*eachByte|x)&highBits) >> 3
}

// number8 is the number that the first n characters of a word are, from 1 to 8 digits.
func number8(word uint64, n int) uint64 {
	const pairs = 0x000000FF000000FF
	d := (word ^ '0'*eachByte) << (uint(wordBytes-n) << 3 & 63) // as if zeros stood before them
	d = d*10 + d>>8
	return (d&pairs*(100+1000000<<32) + d>>16&pairs*(1+10000<<32)) >> 32
}

// wideNumber is scanNumber for a number that begins at a byte of wide, which is the end of text and what ahead adds. It
// looks at eight bytes at a time. next is the byte after the number; from where there is none. Where near will do, only
// the nearest float32 is right.
func wideNumber(wide []byte, text, from int, near bool) (x short, next int) {
	if from+wideBytes <= len(wide) {
		if x, next = wordNumber(wide, from, near); from < next && next <= text {
			return x, next
		}
	}
	x, n := scanNumber(wide[from:text])
	return x, from + n
}

// wordNumber reads a number of fewer than eight digits before its point, and of at most 19. next is from where the text
// begins with another number or none.
func wordNumber(text []byte, from int, near bool) (x short, next int) {
	at, sign := from, uint64(0)
	if text[at] == '-' {
		at, sign = at+1, 1<<63
	}
	word := load(text, at)
	whole := digitsOf(word)
	if whole == wordBytes {
		return x, from
	}
	before := uint64(1)<<(whole<<3) - 1
	if byte(word>>(whole<<3)) != '.' {
		if whole == 0 {
			return x, from
		}
		return short{digits: signed(number8(word, whole), sign)}, at + whole
	}
	at++
	word = word&before | load(text, at)&^before // without the point
	count := digitsOf(word)
	if count == 0 {
		return x, from
	}
	mantissa := number8(word, count)
	if count < wordBytes {
		return short{digits: signed(mantissa, sign), point: uint8(count - whole)}, at + count
	}
	for more := wordBytes; more == wordBytes; count += more {
		word = load(text, at+count)
		if more = digitsOf(word); count+more > 19 {
			return x, from
		}
		if more > 0 {
			mantissa = mantissa*uint64Tens[more] + number8(word, more)
		}
	}
	x, ok := fraction(mantissa, count-whole, sign, near)
	if !ok {
		return x, from
	}
	return x, at + count
}

// fraction is a mantissa of at most 19 digits over a power of ten, where that is a short number; near is as in
// wideNumber.
func fraction(mantissa uint64, point int, sign uint64, near bool) (x short, ok bool) {
	if mantissa < 1<<24 && point < len(float32Tens) {
		return short{digits: signed(mantissa, sign), point: uint8(point)}, true
	}
	magnitude, ok := longShort(mantissa, point, near)
	return short{digits: math.Float64frombits(math.Float64bits(magnitude) | sign)}, ok
}
