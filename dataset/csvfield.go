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
