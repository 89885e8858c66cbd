// Package decimal reads rows of decimal numbers, many fields at a time, where the CPU can.
package decimal

// Ahead is how many bytes behind the text a Read may load. What they are has no influence.
const Ahead = 64

// Read reads decimal numbers at the front of text[:length], each of which one of two delimiters or the end of the text
// follows, to the nearest float32:
//
//	for numbers < len(dst) && used <= length {
//		end := used + bytes.IndexAny(text[used:length], first and other), or length
//		isFirst := pattern>>(numbers%64)&1 == 1 // which delimiter must be at the end
//		dst[numbers], ok = number(text[used:end], isFirst)
//		if !ok || isFirst != (text[end] is first) { break }
//		numbers, used = numbers+1, end+1
//	}
//
// The end of the text counts as other, and used is length+1 after it. The bits of pattern repeat after 8. A number is a
// minus or not, then at most 16 characters: one digit or more, and at most one point. It is refused where its digits
// are 2^53 or more, where it is 2^24 or more, where its nearest float64 is half-way between two float32, where the
// field reaches 64 bytes, if it ends with first, where it has a minus or a point, and, if inexact is Refused, where its
// nearest float64 is no float32. The caller reads what is refused in another way. What is in dst after the numbers is
// undefined. text has length and Ahead bytes or more.
type Read func(dst []float32, text []byte, length int, first, other byte, pattern, inexact uint64) (numbers, used int)

// What a Read does with numbers that are no float32.
const (
	Rounded uint64 = 0
	Refused        = ^Rounded
)
