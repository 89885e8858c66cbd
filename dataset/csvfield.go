package dataset

import "bytes"

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
	uses, at, last := p.uses, 0, len(p.uses)-1
	for ; col < last && uses[col] >= 0; col++ {
		digits, end := scanDigits(0, text, at)
		if n := end - at; 0 < n && n < 8 && end < len(text) && text[end] == p.delim && w.shifts == nil {
			row[uses[col]] = float32(int64(digits)) // whole and below 2^24: no rounding to notice
			at = end + 1
			continue
		}
		x, n := scanNumber(text[at:])
		if n == 0 || at+n == len(text) || text[at+n] != p.delim {
			return text[at:], col
		}
		row[uses[col]] = w.short(uses[col], x)
		at += n + 1
	}
	if col == last && uses[col] >= 0 {
		if x, n := scanNumber(text[at:]); n > 0 && at+n == len(text) {
			row[uses[col]] = w.short(uses[col], x)
			return nil, col + 1
		}
	}
	return text[at:], col
}
