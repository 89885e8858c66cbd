package mail

import (
	"bytes"
	"strings"
)

var newline = []byte{'\n'}

// entity is a mail, or a part of one: a header and a body.
type entity struct {
	fields []field
	body   []byte
}

// field is one field of a header, unfolded.
type field struct {
	name  string // in lower case
	value []byte
}

// get is the first field of a name, nil without one.
func (e entity) get(name string) []byte {
	for _, f := range e.fields {
		if f.name == name {
			return f.value
		}
	}
	return nil
}

// parse parts the header from the body.
func parse(raw []byte) (e entity) {
	for {
		line, rest, _ := bytes.Cut(raw, newline) // the line is empty if nothing is left
		line = bytes.TrimSuffix(line, []byte{'\r'})
		if len(line) == 0 {
			raw = rest
			break
		}
		if !e.take(line) {
			break
		}
		raw = rest
	}
	e.body = raw
	return e
}

// take takes a line of the header; false means that the line does not belong to it.
func (e *entity) take(line []byte) bool {
	if n := len(e.fields); n > 0 && (line[0] == ' ' || line[0] == '\t') {
		f := &e.fields[n-1]
		f.value = append(append(f.value, ' '), bytes.TrimSpace(line)...)
		return true
	}
	if bytes.HasPrefix(line, []byte("From ")) || bytes.HasPrefix(line, []byte(">From ")) {
		return true
	}
	name, value, ok := bytes.Cut(line, []byte{':'})
	name = bytes.TrimRight(name, " \t")
	if !ok || len(name) == 0 || bytes.ContainsFunc(name, notInName) {
		return false
	}
	value = bytes.TrimSpace(value)
	// Without capacity, so that what is appended to it is not written into the mail.
	e.fields = append(e.fields, field{strings.ToLower(string(name)), value[:len(value):len(value)]})
	return true
}

// notInName goes by RFC 5322, section 3.6.8.
func notInName(c rune) bool { return c <= ' ' || c >= 0x7f }
