package dataset

import (
	"bytes"
	"errors"
	"slices"

	"github.com/gram-compute/gram/kernelops/decimal"
	"github.com/gram-compute/gram/protocol"
)

// tsvParser reads IANA's text/tab-separated-values: fields are separated by single tabs,
// there is no quoting and no escaping, and a backslash is content.
type tsvParser struct {
	input *protocol.Input
	names [][]byte // of the header

	id, label, text, group int // fields, counted from 0; -1 where there are none
}

func newTSV(in *protocol.Input, _ decimal.Read) lineParser {
	return &tsvParser{input: in, id: in.ID.Number - 1, label: in.Label.Number - 1, text: in.Text.Number - 1,
		group: in.Split.Group.Number - 1}
}

func (p *tsvParser) content(text []byte) []byte { return slices.Clip(text) }

func (p *tsvParser) head() int {
	for _, c := range p.input.Columns() {
		if c.Name != "" {
			return headerLine
		}
	}
	return noLine
}

func (p *tsvParser) header(text []byte) (err error) {
	if bytes.IndexByte(text, '\r') >= 0 {
		return errors.New("the header: " + bareReturn + ": lines must end in LF or CRLF")
	}
	p.names = bytes.Split(bytes.Clone(text), []byte{'\t'})
	if p.id, err = columnOf(p.input.ID, p.names); err != nil {
		return err
	}
	if p.label, err = columnOf(p.input.Label, p.names); err != nil {
		return err
	}
	if p.group, err = columnOf(p.input.Split.Group, p.names); err != nil {
		return err
	}
	p.text, err = columnOf(p.input.Text, p.names)
	return err
}

func (p *tsvParser) headerNames() [][]byte { return p.names }

func (p *tsvParser) first([]byte) flaw { return flaw{} }

func (p *tsvParser) columns() (func(int) string, []Offset, flaw) { return nil, nil, flaw{} }

// record cuts the label and the text out of a trimmed line and checks them.
func (p *tsvParser) record(b *Block, text []byte) flaw {
	if i := bytes.IndexByte(text, '\r'); i >= 0 {
		return flaw{reason: bareReturn, column: 1 + bytes.Count(text[:i], []byte{'\t'})}
	}
	var label, body, group []byte
	last := max(p.id, p.label, p.text, p.group)
	for col := 0; ; col++ {
		field, rest, more := cutTab(text)
		if col == p.label {
			label = field
		}
		if col == p.id {
			b.id = field
		}
		if col == p.text {
			body = field
		}
		if col == p.group {
			group = field
		}
		if col == last {
			break
		}
		if !more {
			return flaw{reason: tooFew, column: p.missing(col + 1), have: col + 1}
		}
		text = rest
	}
	if p.id >= 0 {
		if bad := checkID(b.id, p.id); bad.reason != "" {
			return bad
		}
	}
	if p.label >= 0 {
		if bad := checkLabel(label, p.label); bad.reason != "" {
			return bad
		}
		b.Labels = append(b.Labels, label)
	}
	if p.group >= 0 {
		if bad := checkGroup(group, p.group); bad.reason != "" {
			return bad
		}
		b.Groups = append(b.Groups, GroupOf(group))
	}
	b.Texts = append(b.Texts, body)
	return checkField(body, p.text)
}

func cutTab(s []byte) (field, rest []byte, more bool) {
	if i := bytes.IndexByte(s, '\t'); i >= 0 {
		return s[:i:i], s[i+1:], true
	}
	return s, nil, false
}

// missing is the first wanted column, from 1, that a line of have columns lacks.
func (p *tsvParser) missing(have int) int {
	missing := max(p.id, p.label, p.text, p.group)
	for _, col := range []int{p.id, p.label, p.text, p.group} {
		if col >= have {
			missing = min(missing, col)
		}
	}
	return missing + 1
}
