package dataset

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/gram-compute/gram/protocol"
)

// Text is IANA's text/tab-separated-values: fields are separated by single tabs,
// there is no quoting and no escaping, and a backslash is content. A line ends with
// LF or CRLF; the last one may end with the object. Blank lines are passed over. A
// byte order mark at the start of an object is not content.

// layout says in which fields, counted from 0, label and text stand.
type layout struct{ label, text int }

// flaw is what makes a line a bad record. The zero value is none.
type flaw struct {
	reason string // never the content
	column int    // from 1; 0 where no column is at fault
	at     int    // byte within the field, where it matters
	have   int    // columns there are, for tooFew
}

const (
	tooFew      = "too few columns"
	emptyLabel  = "the label is empty"
	notUTF8     = "not valid UTF-8"
	nulByte     = "a NUL byte"
	tooLong     = "longer than max_record_bytes"
	byteOrder   = "\uFEFF"
	gzipMagic   = "\x1f\x8b"
	hintRecord  = "Mend the record, or let some pass with spec.input.on_bad_record.skip_max"
	hintGzip    = "The object looks like gzip; set spec.input.compression: gzip"
	hintTooLong = "Raise spec.input.max_record_bytes, or check that the lines end in LF"
)

// trimLine takes off what is not content: a CR before the LF and a leading byte order mark.
func trimLine(text []byte, off int64) []byte {
	if n := len(text); n > 0 && text[n-1] == '\r' {
		text = text[:n-1]
	}
	if off == 0 {
		text = bytes.TrimPrefix(text, []byte(byteOrder))
	}
	return text
}

// record cuts the label and the text out of a trimmed line and checks them.
func (l layout) record(text []byte) (label, body []byte, bad flaw) {
	last := max(l.label, l.text)
	for col := 0; ; col++ {
		field, rest, more := cutTab(text)
		if col == l.label {
			label = field
		}
		if col == l.text {
			body = field
		}
		if col == last {
			break
		}
		if !more {
			return nil, nil, flaw{reason: tooFew, column: l.missing(col + 1), have: col + 1}
		}
		text = rest
	}
	if len(label) == 0 {
		return nil, nil, flaw{reason: emptyLabel, column: l.label + 1}
	}
	if bad = checkField(label, l.label); bad.reason == "" {
		bad = checkField(body, l.text)
	}
	return label, body, bad
}

func cutTab(s []byte) (field, rest []byte, more bool) {
	if i := bytes.IndexByte(s, '\t'); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, nil, false
}

// missing is the first wanted column, from 1, that a line of have columns lacks.
func (l layout) missing(have int) int {
	if first := min(l.label, l.text); first >= have {
		return first + 1
	}
	return max(l.label, l.text) + 1
}

func checkField(field []byte, col int) flaw {
	if i := bytes.IndexByte(field, 0); i >= 0 {
		return flaw{reason: nulByte, column: col + 1, at: i}
	}
	if !utf8.Valid(field) {
		return flaw{reason: notUTF8, column: col + 1, at: firstInvalid(field)}
	}
	return flaw{}
}

func firstInvalid(field []byte) int {
	for i := 0; i < len(field); {
		r, n := utf8.DecodeRune(field[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(field)
}

// fault is the flaw as the error of a line.
func (f flaw) fault(object string, ln line) *protocol.Fault {
	code, hint := protocol.CodeBadRecord, hintRecord
	what := f.reason
	switch f.reason {
	case tooFew:
		what = fmt.Sprintf("%s: the line has %d, column %d is wanted", f.reason, f.have, f.column)
	case notUTF8, nulByte:
		what = fmt.Sprintf("%s at byte %d of the field", f.reason, f.at)
	case tooLong:
		code, hint = protocol.CodeInputLimit, hintTooLong
		what = "the record is " + f.reason
	}
	if ln.off == 0 && bytes.HasPrefix(ln.text, []byte(gzipMagic)) {
		hint = hintGzip
	}
	fault := inputFault(code, object, nil, what, hint)
	fault.Offset, fault.Line, fault.Column = ln.off, ln.number, f.column
	return fault
}

// resolve finds the columns, by number or by their names in the object's header line.
func resolve(label, text protocol.Column, header []byte) (layout, error) {
	l, err := columnOf(label, header)
	if err != nil {
		return layout{}, err
	}
	t, err := columnOf(text, header)
	return layout{label: l, text: t}, err
}

func columnOf(c protocol.Column, header []byte) (int, error) {
	if c.Name == "" {
		return c.Number - 1, nil
	}
	found, names := -1, bytes.Split(header, []byte{'\t'})
	for i, name := range names {
		switch {
		case string(name) != c.Name:
		case found >= 0:
			return 0, fmt.Errorf("the header names column %q twice", c.Name)
		default:
			found = i
		}
	}
	if found < 0 {
		return 0, fmt.Errorf("the header has no column %q%s", c.Name, suggest(c.Name, names))
	}
	return found, nil
}

func suggest(name string, names [][]byte) string {
	known := make([]string, 0, min(len(names), 1000))
	for _, n := range names[:cap(known)] {
		if len(n) <= 100 {
			known = append(known, string(n))
		}
	}
	if near := protocol.Nearest(name, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}
