package dataset

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/gram-compute/gram/kernelops/decimal"
	"github.com/gram-compute/gram/protocol"
)

// libsvmParser reads lines of "label index:value index:value ...", as LIBSVM and SVMlight write them: pairs are
// separated by spaces or tabs, and indices ascend. What follows a "#" is a comment, or the record's id if the input has
// ids. A plus sign before the label is not part of it, so that "+1" and "1" are one class.
type libsvmParser struct {
	input       *protocol.Input
	base, width int64
	offsets     []Offset
	comment     []byte       // of the line
	commented   bool         // whether the line has a comment
	entries     Sparse       // of the record, if vectors are read as dense
	read        decimal.Read // nil where this CPU has none
	numbers     [2 * pairsAtOnce]float32
}

func newLibSVM(in *protocol.Input, read decimal.Read) lineParser {
	return &libsvmParser{input: in, base: int64(*in.IndexBase), width: int64(in.Width), read: read}
}

func (p *libsvmParser) head() int           { return noLine }
func (p *libsvmParser) header([]byte) error { return nil }
func (p *libsvmParser) first([]byte) flaw   { return flaw{} }

// columns names the columns by the indices of the file.
func (p *libsvmParser) columns() (func(int) string, []Offset, flaw) {
	offsets, bad := offsetsOf(p.input, func(key protocol.Column) (int, bool) {
		col := int64(key.Number) - p.base
		return int(col), key.Name == "" && col >= 0 && col < p.width
	})
	p.offsets = offsets
	return func(col int) string { return strconv.FormatInt(int64(col)+p.base, 10) }, offsets, bad
}

func (p *libsvmParser) content(text []byte) []byte {
	p.commented = false
	// A comment with a '\r' stays part of the content: sparse refuses it.
	if i := bytes.IndexByte(text, '#'); i >= 0 && bytes.IndexByte(text[i+1:], '\r') < 0 {
		p.commented, p.comment = true, slices.Clip(bytes.Trim(text[i+1:], " \t"))
		text = text[:i]
	}
	return bytes.Trim(text, " \t")
}

func (p *libsvmParser) record(b *Block, text []byte) flaw {
	if p.input.Dense {
		return p.dense(b, text)
	}
	s := &b.Sparse
	s.Width = int(p.width)
	if len(s.Indptr) == 0 {
		s.Indptr = append(s.Indptr, 0)
	}
	return p.sparse(b, s, text)
}

// dense appends a record as a dense vector.
func (p *libsvmParser) dense(b *Block, text []byte) flaw {
	p.entries.Indices, p.entries.Values = p.entries.Indices[:0], p.entries.Values[:0]
	at := len(b.Dense.Values)
	b.Dense.Width = int(p.width)
	b.Dense.Values = extend(b.Dense.Values, int(p.width))
	if bad := p.sparse(b, &p.entries, text); bad.reason != "" {
		return bad
	}
	row := b.Dense.Values[at:]
	for i, col := range p.entries.Indices {
		row[col] = p.entries.Values[i]
	}
	return flaw{}
}

// sparse appends the entries of a record to s, and its label and id to b.
func (p *libsvmParser) sparse(b *Block, s *Sparse, text []byte) flaw {
	if bytes.IndexByte(text, '\r') >= 0 {
		return flaw{reason: bareReturn}
	}
	if bad := p.id(b); bad.reason != "" {
		return bad
	}
	label, rest := cutToken(text)
	label, plus := bytes.CutPrefix(label, []byte{'+'})
	b.Labels = append(b.Labels, slices.Clip(label))
	if plus && len(label) > 0 && (label[0] == '+' || label[0] == '-') {
		return flaw{reason: twoSigns, column: 1}
	}
	if bytes.IndexByte(label, ':') >= 0 {
		return flaw{reason: noLabel, column: 1}
	}
	if bad := checkLabel(label, 0); bad.reason != "" {
		return bad
	}
	last, offsets, column := int64(-1), p.offsets, 2
	if len(offsets) == 0 {
		rest, last, column = p.run(s, &b.watch, rest)
	}
	for ; len(rest) > 0; column++ {
		index, value, bad := p.index(rest)
		if bad.reason == "" && index <= last {
			bad.reason = notAscends
		}
		if bad.reason == "" {
			offsets = fill(s, &b.watch, offsets, index)
			rest, bad = p.value(s, &b.watch, int(index), value)
		}
		if bad.reason != "" {
			bad.column = column
			return bad
		}
		last = index
	}
	fill(s, &b.watch, offsets, p.width)
	return flaw{}
}

// id sets the record's id to the comment of the line, if the input has ids.
func (p *libsvmParser) id(b *Block) flaw {
	switch {
	case p.input.ID.IsZero():
		return flaw{}
	case !p.commented:
		return flaw{reason: noID}
	}
	b.id = p.comment
	return checkID(b.id, -1)
}

// fill appends entries for the columns before index that have an offset and no entry: the offset is subtracted from
// their 0, too. It returns the offsets of the columns after index.
func fill(s *Sparse, w *watch, offsets []Offset, index int64) []Offset {
	for len(offsets) > 0 && int64(offsets[0].Column) <= index {
		if col := offsets[0].Column; int64(col) < index {
			s.Indices, s.Values = append(s.Indices, int32(col)), append(s.Values, w.take(col, number{}))
		}
		offsets = offsets[1:]
	}
	return offsets
}

// index reads "index:" from the front of text, and returns the index counted from 0 and the rest of text.
func (p *libsvmParser) index(text []byte) (index int64, value []byte, bad flaw) {
	i := 0
	for ; i < len(text) && text[i] >= '0' && text[i] <= '9'; i++ {
		if index = index*10 + int64(text[i]-'0'); index > protocol.MaxWidth {
			return 0, nil, flaw{reason: badIndex}
		}
	}
	if i == 0 || i == len(text) || text[i] != ':' {
		return 0, nil, flaw{reason: badPair}
	}
	if index -= p.base; index < 0 || index >= p.width {
		return 0, nil, flaw{reason: badIndex}
	}
	return index, text[i+1:], flaw{}
}

// value appends the number at the front of text as the entry of a column.
func (p *libsvmParser) value(s *Sparse, w *watch, col int, text []byte) (rest []byte, bad flaw) {
	if exact, n := scanNumber(text); n > 0 && (n == len(text) || text[n] == ' ') {
		s.Indices, s.Values = append(s.Indices, int32(col)), append(s.Values, w.short(col, exact))
		return bytes.TrimLeft(text[n:], " \t"), flaw{}
	}
	token, rest := cutToken(text)
	x, bad := parseNumber(token)
	if bad.reason == "" {
		s.Indices, s.Values = append(s.Indices, int32(col)), append(s.Values, w.take(col, x))
	}
	return rest, bad
}

// cutToken returns what is before the first space or tab of text, and what follows the spaces and tabs after it.
func cutToken(text []byte) (token, rest []byte) {
	if i := bytes.IndexAny(text, " \t"); i >= 0 {
		return text[:i], bytes.TrimLeft(text[i:], " \t")
	}
	return text, nil
}
