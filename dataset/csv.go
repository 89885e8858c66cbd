package dataset

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strconv"

	"github.com/gram-compute/gram/kernelops/decimal"
	"github.com/gram-compute/gram/protocol"
)

// What a csv column that is no feature is for.
const (
	unused = -1 - iota
	isLabel
	isText
	isWeight
	isID
	isGroup
	isCategory // and below: the first column of spec.input.categorical, the second, and so on
)

// csvParser reads comma-separated values after RFC 4180: fields may stand in double quotes,
// within which two stand for one. All records of an object have as many fields as its first.
type csvParser struct {
	input   *protocol.Input
	delim   byte
	names   [][]byte // of the header
	uses    []int    // for each field its place in the vector, or what else it is for
	strips  []int    // see setStrips
	width   int      // of the vectors
	scratch []byte
	read    decimal.Read // nil where this CPU has none
}

func newCSV(in *protocol.Input, read decimal.Read) lineParser {
	return &csvParser{input: in, delim: in.Delimiter[0], read: read}
}

func (p *csvParser) content(text []byte) []byte { return text }

func (p *csvParser) head() int { return firstRecord }

// header keeps the names and finds the columns that have one.
func (p *csvParser) header(text []byte) error {
	bad := p.fields(bytes.Clone(text), func(_ int, field []byte) { p.names = append(p.names, field) })
	if bad.reason != "" {
		return errors.New("the header: " + bad.reason)
	}
	for _, c := range p.input.Columns() {
		if _, err := columnOf(c, p.names); err != nil {
			return err
		}
	}
	return nil
}

func (p *csvParser) headerNames() [][]byte { return p.names }

// first counts the fields and says what each of them is for.
func (p *csvParser) first(text []byte) flaw {
	n := 0
	p.scratch = append(p.scratch[:0], text...) // fields takes quotes out in place
	if bad := p.fields(p.scratch, func(int, []byte) { n++ }); bad.reason != "" {
		return bad
	}
	p.uses = make([]int, n)
	for i := range p.uses {
		p.uses[i] = unused
	}
	in := p.input
	for _, c := range []struct {
		column protocol.Column
		use    int
	}{{in.ID, isID}, {in.Label, isLabel}, {in.Text, isText}, {in.Weight, isWeight},
		{in.Split.Group, isGroup}} {
		if bad := p.use(c.column, c.use); bad.reason != "" {
			return bad
		}
	}
	for i, c := range in.Features {
		if bad := p.use(c, i); bad.reason != "" {
			return bad
		}
	}
	for k, c := range in.Categorical {
		if bad := p.use(c, isCategory-k); bad.reason != "" {
			return bad
		}
	}
	p.width = len(in.Features)
	if p.width == 0 && in.Text.IsZero() {
		if bad := p.useOthers(); bad.reason != "" {
			return bad
		}
	}
	p.setStrips()
	return flaw{}
}

// use puts a column to a use; a name of the header can stand for a column that has one already.
func (p *csvParser) use(c protocol.Column, use int) flaw {
	i, err := columnOf(c, p.names)
	switch {
	case i < 0 || err != nil: // header has refused names that are not there
		return flaw{}
	case i >= len(p.uses):
		return flaw{reason: tooFew, column: i + 1, have: len(p.uses)}
	case p.uses[i] != unused:
		return flaw{reason: twoUses, column: i + 1}
	}
	p.uses[i] = use
	return flaw{}
}

// useOthers makes every column without a use a feature.
func (p *csvParser) useOthers() flaw {
	for i, use := range p.uses {
		if use == unused {
			p.uses[i] = p.width
			p.width++
		}
	}
	if p.width == 0 && len(p.input.Categorical) == 0 {
		return flaw{reason: noFeatures, have: len(p.uses)}
	}
	return flaw{}
}

func (p *csvParser) record(b *Block, text []byte) flaw {
	at := len(b.Dense.Values)
	b.Dense.Width = p.width
	b.Dense.Values = extend(b.Dense.Values, p.width)
	b.Categories.extend(len(p.input.Categorical))
	row, whole, w := b.Dense.Values[at:], len(text), &b.watch
	numerals := w.missing != nil && w.missing.numerals
	for col := 0; col < len(p.uses); col++ {
		if !numerals {
			if text, col = p.run(row, w, text, col); col == len(p.uses) {
				return flaw{}
			}
		}
		use, last := p.uses[col], col == len(p.uses)-1
		field, rest, more, bad := cutField(text, p.delim)
		bad.at += whole - len(text)
		if bad.reason != "" && bad.reason != bareReturn {
			bad.column = col + 1
			return bad
		}
		if bad.reason == "" {
			bad = p.put(b, row, use, col, field)
		}
		switch {
		case bad.reason != "":
			bad.column = col + 1
			return p.instead(bad, rest, more, whole)
		case more && last:
			return p.instead(flaw{reason: tooMany, column: col + 2}, rest, more, whole)
		case !more && !last:
			return flaw{reason: tooFew, column: len(p.uses), have: col + 1, more: &detail{want: len(p.uses)}}
		}
		text = rest
	}
	return flaw{}
}

// instead is bad, unless the rest of the line explains more: a quote that is open cannot be skipped, and a line with
// fewer or more fields than the first record of the object has its values in other columns. rest is what follows the
// field at fault, if more says that there is anything.
func (p *csvParser) instead(bad flaw, rest []byte, more bool, whole int) flaw {
	columns := bad.column
	if bad.reason == tooMany {
		columns--
	}
	have := columns
	if more {
		other := p.fields(rest, func(int, []byte) { have++ })
		if other.reason == openQuote {
			other.column += columns
			return other.shifted(whole - len(rest))
		}
		if other.reason != "" {
			return bad
		}
	}
	switch want := len(p.uses); {
	case have < want:
		return flaw{reason: tooFew, column: want, have: have, more: &detail{want: want}}
	case have > want:
		return flaw{reason: tooMany, column: want + 1, have: have, more: &detail{want: want}}
	}
	if bad.column <= len(p.names) {
		bad.path = string(p.names[bad.column-1])
	}
	return bad
}

// columns names the vector's columns as the file counts them, or by the header.
func (p *csvParser) columns() (func(int) string, []Offset, flaw) {
	at := make([]int, p.width) // of each column of the vector, that of the file
	for i, use := range p.uses {
		if use >= 0 {
			at[use] = i
		}
	}
	offsets, bad := offsetsOf(p.input, func(key protocol.Column) (int, bool) {
		i, err := columnOf(key, p.names)
		if err != nil || i < 0 || i >= len(p.uses) || p.uses[i] < 0 {
			return 0, false
		}
		return p.uses[i], true
	})
	return func(col int) string {
		if i := at[col]; i < len(p.names) {
			return strconv.Quote(string(p.names[i]))
		}
		return strconv.Itoa(at[col] + 1)
	}, offsets, bad
}

// put takes one field for what it is for.
func (p *csvParser) put(b *Block, row []float32, use, col int, field []byte) (bad flaw) {
	field = slices.Clip(field) // what is behind it is the reader's
	switch use {
	case unused:
	case isLabel:
		b.Labels = append(b.Labels, field)
		bad = checkLabel(field, col)
	case isText:
		b.Texts = append(b.Texts, field)
		bad = checkField(field, col)
	case isGroup:
		b.Groups = append(b.Groups, GroupOf(field))
		bad = checkGroup(field, col)
	case isID:
		b.id = field
		bad = checkID(field, col)
	case isWeight:
		var weight number
		if weight, bad = parseNumber(field); bad.reason == "" && weight.value < 0 {
			bad.reason = badWeight
		}
		b.Weights = append(b.Weights, weight.value)
	default:
		if use <= isCategory {
			at := len(b.Categories.Values) - len(p.input.Categorical) + isCategory - use
			b.Categories.Values[at], bad = b.watch.missing.category(field)
			return bad
		}
		var x number
		if x, bad = b.watch.missing.number(field); bad.reason == "" {
			row[use] = b.watch.take(use, x)
		}
	}
	return bad
}

// fields gives every field of a line to each, in order; they share the line's memory, which it changes.
func (p *csvParser) fields(text []byte, each func(col int, field []byte)) flaw {
	whole, first := len(text), flaw{}
	for col := 0; ; col++ {
		field, rest, more, bad := cutField(text, p.delim)
		if bad.reason != "" {
			bad.column = col + 1
			bad.at += whole - len(text)
			if bad.reason != bareReturn {
				return bad
			}
			first = cmp.Or(first, bad)
		}
		each(col, field)
		if !more {
			return first
		}
		text = rest
	}
}

// extend lengthens s by n zeros.
func extend(s []float32, n int) []float32 {
	if cap(s)-len(s) < n {
		s = append(make([]float32, 0, max(2*cap(s), len(s)+n)), s...)
	}
	s = s[:len(s)+n]
	clear(s[len(s)-n:])
	return s
}
