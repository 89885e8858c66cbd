package dataset

import (
	"bytes"

	"github.com/gram-compute/gram/kernelops/decimal"
)

// cutField takes the first field off a line; more says that a delimiter followed it, so
// that rest has at least one more. Doubled quotes are made single in place.
func cutField(text []byte, delim byte) (field, rest []byte, more bool, bad flaw) {
	if len(text) > 0 && text[0] == '"' {
		return cutQuoted(text, delim)
	}
	field = text
	if i := bytes.IndexByte(text, delim); i >= 0 {
		field, rest, more = text[:i], text[i+1:], true
	}
	if i := bytes.IndexByte(field, '"'); i >= 0 {
		return nil, nil, false, flaw{reason: bareQuote, at: i}
	}
	if i := bytes.IndexByte(field, '\r'); i >= 0 {
		return field, rest, more, flaw{reason: bareReturn, at: i} // the fields after it can be told
	}
	return field, rest, more, flaw{}
}

// cutQuoted takes a field in quotes.
func cutQuoted(text []byte, delim byte) (field, rest []byte, more bool, bad flaw) {
	end, from := 1, 1 // text[1:end] is the content so far, text[from:] is unread
	for {
		i := bytes.IndexByte(text[from:], '"')
		if i < 0 {
			return nil, nil, false, flaw{reason: openQuote, final: true}
		}
		if end == from {
			end += i
		} else {
			end += copy(text[end:], text[from:from+i])
		}
		from += i + 1
		switch {
		case from == len(text):
			return text[1:end], nil, false, flaw{}
		case text[from] == delim:
			return text[1:end], text[from+1:], true, flaw{}
		case text[from] != '"':
			return nil, nil, false, flaw{reason: afterQuote, at: from}
		}
		text[end] = '"'
		end++
		from++
	}
}

// run takes the fields at the front of text that are features in their usual form: short decimals that a delimiter or
// the end of the record follows. It stops at the first field of any other form, which the general loop reads, and
// returns the rest of text and the field's column.
func (p *csvParser) run(row []float32, w *watch, text []byte, col int) (rest []byte, next int) {
	uses, last, delim := p.uses, len(p.uses)-1, p.delim
	still := w.quiet && w.shifts == nil
	if w.shifts == nil {
		text, col = p.fast(row, w, text, col)
	}
	at, wide := 0, ahead(text)
	for ; col < last && uses[col] >= 0; col++ {
		if at+2 < len(text) && w.shifts == nil { // one digit or two
			units := text[at] - '0'
			if text[at+1] == delim && units < 10 {
				row[uses[col]] = float32(units)
				at += 2
				continue
			}
			if tens := units; text[at+2] == delim && tens < 10 {
				if units = text[at+1] - '0'; units < 10 {
					row[uses[col]] = float32(tens*10 + units)
					at += 3
					continue
				}
			}
		}
		x, end := wideNumber(wide, len(text), at, still)
		if end == at || end >= len(text) || text[end] != delim {
			return text[at:], col
		}
		row[uses[col]] = w.short(uses[col], x)
		at = end + 1
	}
	if col == last && uses[col] >= 0 {
		if x, end := wideNumber(wide, len(text), at, still); at < end && end == len(text) {
			row[uses[col]] = w.short(uses[col], x)
			return nil, col + 1
		}
	}
	return text[at:], col
}

// fast takes as many fields as read does, and before columns are quiet those that rounding does not move. It takes none
// of a line of another number of fields: run meets that in its place.
func (p *csvParser) fast(row []float32, w *watch, text []byte, col int) (rest []byte, next int) {
	if p.read == nil || cap(text)-len(text) < decimal.Ahead || p.strips[col] == 0 {
		return text, col
	}
	to := row[p.uses[col]:][:p.strips[col]]
	n, used := p.read(to, text[:len(text)+decimal.Ahead], len(text), '\n', p.delim, 0, w.inexact())
	next = col + n
	switch ended := used > len(text); {
	case ended != (next == len(p.uses)):
		return text, col
	case ended:
		return nil, next
	}
	return text[used:], next
}

// setStrips finds how many columns from each on are features that follow each other in the vector, too.
func (p *csvParser) setStrips() {
	p.strips = make([]int, len(p.uses)+1)
	for col := len(p.uses) - 1; col >= 0; col-- {
		if p.uses[col] < 0 {
			continue
		}
		p.strips[col] = 1
		if col+1 < len(p.uses) && p.uses[col+1] == p.uses[col]+1 {
			p.strips[col] += p.strips[col+1]
		}
	}
}
