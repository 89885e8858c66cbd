package dataset

import (
	"bytes"
	"math"
	"strings"

	"github.com/gram-compute/gram/protocol"
)

// missing says what stands for a missing number, which a dense vector has as NaN. nil stands for nothing.
type missing struct {
	texts    map[string]struct{}
	nan      bool // NaN of a binary format
	null     bool // null of JSON, and a value that is not there
	numerals bool // some text is a number
}

func newMissing(input *protocol.Input) *missing {
	if len(input.Missing) == 0 {
		return nil
	}
	m := &missing{texts: map[string]struct{}{}}
	for _, text := range input.Missing {
		m.texts[text] = struct{}{}
		m.nan, m.null = m.nan || strings.EqualFold(text, "nan"), m.null || text == "null"
		_, bad := parseNumber([]byte(text))
		m.numerals = m.numerals || bad.reason == ""
	}
	return m
}

// number is parseNumber for a feature: a missing one is NaN.
func (m *missing) number(field []byte) (number, flaw) {
	if m != nil {
		if _, known := m.texts[string(bytes.Trim(field, " \t"))]; known {
			return number{exact: math.NaN(), value: float32(math.NaN())}, flaw{}
		}
	}
	return parseNumber(field)
}

// category checks the field of a category. A missing one is the category "".
func (m *missing) category(field []byte) ([]byte, flaw) {
	if m != nil {
		if _, known := m.texts[string(bytes.Trim(field, " \t"))]; known {
			return field[:0], flaw{}
		}
	}
	if len(field) == 0 {
		return field, flaw{reason: emptyCategory}
	}
	return field, checkField(field, -1)
}

// json is number for a JSON value.
func (m *missing) json(raw []byte) (number, flaw) {
	if m == nil || len(raw) == 0 || raw[0] != '"' {
		return m.number(raw)
	}
	if x, bad := m.number(unquoteJSON(raw)); bad.reason == "" && x.missing() {
		return x, bad
	}
	return parseNumber(raw)
}

// nulls reports whether null is a missing number.
func (m *missing) nulls() bool { return m != nil && m.null }

// missing reports whether the number is missing: no other is NaN.
func (x number) missing() bool { return x.exact != x.exact }
