package dataset

import (
	"bytes"
	"slices"

	"github.com/gram-compute/gram/kernelops/decimal"
)

// run appends the entries at the front of text that have the usual form: an ascending index, a short decimal number,
// and one blank or the end of the line. It stops at the first entry of any other form, or with a fault, which the
// general loop reads. It returns the rest of text, the last index, counted from 0, and the column of the line that
// follows.
func (p *libsvmParser) run(s *Sparse, w *watch, text []byte) (rest []byte, last int64, column int) {
	still := w.quiet && w.shifts == nil
	last, column = -1, 2
	if w.shifts == nil && p.read != nil && cap(text)-len(text) >= decimal.Ahead {
		text, last, column = p.fast(s, w, text)
	}
	at, wide := 0, ahead(text)
	indices, values := s.Indices, s.Values
	for at < len(text) {
		index, i := shortIndex(text, at)
		if index -= p.base; i == 0 || index <= last || index >= p.width {
			break
		}
		x, i := shortValue(wide, len(text), i, still)
		if i == 0 {
			break
		}
		indices, values = append(indices, int32(index)), append(values, w.short(int(index), x))
		at, last = i, index
		column++
	}
	s.Indices, s.Values = indices, values
	return text[at:], last, column
}

// pairsAtOnce is how many entries fast takes at a time.
const pairsAtOnce = 64

// fast is run for as many entries as p.read reads, and before columns are quiet for those that rounding does not move.
// It leaves entries whose indices do not ascend to run.
func (p *libsvmParser) fast(s *Sparse, w *watch, text []byte) (rest []byte, last int64, column int) {
	const indexFirst = 0x5555555555555555 // of two numbers, a colon follows the first and a blank the second
	last, column = -1, 2
	for {
		n, used := p.read(p.numbers[:], text[:len(text)+decimal.Ahead], len(text), ':', ' ', indexFirst,
			w.inexact())
		at, count := last, len(s.Indices)
		s.Indices, s.Values = slices.Grow(s.Indices, n/2), slices.Grow(s.Values, n/2)
		indices, values := s.Indices[count:count+n/2], s.Values[count:count+n/2]
		for i := range min(len(indices), len(values)) {
			index := int64(p.numbers[2*i]) - p.base //lint:checked whole, below 2^24: no minus, no point
			if index <= at || index >= p.width {
				return text, last, column
			}
			indices[i], values[i], at = int32(index), p.numbers[2*i+1], index
		}
		s.Indices, s.Values = s.Indices[:count+n/2], s.Values[:count+n/2]
		last, column = at, column+n/2
		switch {
		case used > len(text):
			return nil, last, column
		case n%2 == 1: // an index whose value is something else
			return text[bytes.LastIndexByte(text[:used], ' ')+1:], last, column
		}
		text = bytes.TrimLeft(text[used:], " \t")
		if n < len(p.numbers) {
			return text, last, column
		}
	}
}

// shortIndex reads up to nine digits and a colon from a byte of text on. next is the byte after them, 0 if text has
// something else there.
func shortIndex(text []byte, from int) (index int64, next int) {
	i := from
	for ; i < len(text); i++ {
		d := text[i] - '0'
		if d > 9 {
			break
		}
		index = index*10 + int64(d)
	}
	if n := i - from; n == 0 || n > 9 || i == len(text) || text[i] != ':' {
		return 0, 0
	}
	return index, i + 1
}

// shortValue reads a number of text, which ends at a byte of wide, as wideNumber does, and the blank after it. next is
// the byte after them, 0 if text has something else there.
func shortValue(wide []byte, text, from int, near bool) (x short, next int) {
	x, i := wideNumber(wide, text, from, near)
	switch {
	case i == from:
		return x, 0
	case i == text:
		return x, i
	case wide[i] == ' ' && i+1 < text && wide[i+1] != ' ' && wide[i+1] != '\t':
		return x, i + 1
	}
	return x, 0
}
