package dataset

import (
	"bytes"

	"github.com/gram-compute/gram/protocol"
)

// libsvmParser reads lines of "label index:value index:value ...", as LIBSVM and SVMlight
// write them: pairs parted by spaces or tabs, indices ascending, and what follows a "#" is
// no content. A plus sign before the label is none of it, so that "+1" and "1" are one class.
type libsvmParser struct {
	base, width int64
}

func newLibSVM(in *protocol.Input) lineParser {
	return libsvmParser{int64(*in.IndexBase), int64(in.Width)}
}

func (p libsvmParser) head() int           { return noLine }
func (p libsvmParser) header([]byte) error { return nil }
func (p libsvmParser) first([]byte) flaw   { return flaw{} }

func (p libsvmParser) content(text []byte) []byte {
	if i := bytes.IndexByte(text, '#'); i >= 0 && bytes.IndexByte(text[i:], '\r') < 0 { // else record refuses the line
		text = text[:i]
	}
	return bytes.Trim(text, " \t")
}

func (p libsvmParser) record(b *Block, text []byte) flaw {
	s := &b.Sparse
	s.Width = int(p.width)
	if len(s.Indptr) == 0 {
		s.Indptr = append(s.Indptr, 0)
	}
	if bytes.IndexByte(text, '\r') >= 0 {
		return flaw{reason: bareReturn}
	}
	label, rest := cutToken(text)
	label, plus := bytes.CutPrefix(label, []byte{'+'})
	b.Labels = append(b.Labels, label)
	if plus && len(label) > 0 && (label[0] == '+' || label[0] == '-') {
		return flaw{reason: twoSigns, column: 1}
	}
	if bytes.IndexByte(label, ':') >= 0 {
		return flaw{reason: noLabel, column: 1}
	}
	if bad := checkLabel(label, 0); bad.reason != "" {
		return bad
	}
	last := int64(-1)
	for column := 2; len(rest) > 0; column++ {
		index, value, after, bad := p.pair(rest)
		if bad.reason == "" && index <= last {
			bad.reason = notAscends
		}
		if bad.reason != "" {
			bad.column = column
			return bad
		}
		s.Indices, s.Values = append(s.Indices, int32(index)), append(s.Values, value)
		last, rest = index, after
	}
	return flaw{}
}

// pair reads index:value from the front of text, the index counted from 0.
func (p libsvmParser) pair(text []byte) (index int64, value float32, rest []byte, bad flaw) {
	i := 0
	for ; i < len(text) && text[i] >= '0' && text[i] <= '9'; i++ {
		if index = index*10 + int64(text[i]-'0'); index > protocol.MaxWidth {
			return 0, 0, nil, flaw{reason: badIndex}
		}
	}
	if i == 0 || i == len(text) || text[i] != ':' {
		return 0, 0, nil, flaw{reason: badPair}
	}
	if index -= p.base; index < 0 || index >= p.width {
		return 0, 0, nil, flaw{reason: badIndex}
	}
	text = text[i+1:]
	if value, n := scanNumber(text); n > 0 && (n == len(text) || text[n] == ' ') {
		return index, value, bytes.TrimLeft(text[n:], " \t"), flaw{}
	}
	number, rest := cutToken(text)
	value, bad = parseNumber(number)
	return index, value, rest, bad
}

// cutToken takes what stands before the next space or tab, and those, off text.
func cutToken(text []byte) (token, rest []byte) {
	if i := bytes.IndexAny(text, " \t"); i >= 0 {
		return text[:i], bytes.TrimLeft(text[i:], " \t")
	}
	return text, nil
}
