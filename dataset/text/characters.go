package text

import (
	"unicode"
	"unicode/utf8"
)

// characters are Tokens of the characters of a text. White space, of any length, is one space.
func (t *Tokenizer) characters(dst, text []byte, yield func(term []byte)) []byte {
	var r run
	dst = dst[:0]
	for more := true; more; {
		begin := len(dst)
		if dst, text, more = t.character(dst, text); !more {
			break
		}
		r.starts[r.words%MaxNgram] = begin
		r.words++
		for n := t.params.NgramMin; n <= min(t.params.NgramMax, r.words); n++ {
			yield(dst[r.starts[(r.words-n)%MaxNgram]:])
		}
	}
	return dst
}

// character appends the next character of text to dst, of white space one space; false at the end. A byte that is not
// UTF-8 is white space.
func (t *Tokenizer) character(dst, text []byte) (longer, rest []byte, more bool) {
	if len(text) == 0 {
		return dst, nil, false
	}
	r, size, space := decode(text)
	if !space {
		return t.appendRune(dst, r), text[size:], true
	}
	for space && len(text) > 0 {
		if _, size, space = decode(text); space {
			text = text[size:]
		}
	}
	return append(dst, ' '), text, true
}

// decode returns the first character of text, its size, and whether it is white space.
func decode(text []byte) (r rune, size int, space bool) {
	r, size = utf8.DecodeRune(text)
	return r, size, unicode.IsSpace(r) || r == utf8.RuneError && size == 1
}

// charactersOfWords are Tokens of the characters of words: the longest texts without white space, with a space before
// and after. A word that is shorter than a term is one term, once.
func (t *Tokenizer) charactersOfWords(dst, text []byte, yield func(term []byte)) []byte {
	for len(text) > 0 {
		dst = append(dst[:0], ' ')
		for len(text) > 0 {
			r, size, space := decode(text)
			text = text[size:]
			if space {
				break
			}
			dst = t.appendRune(dst, r)
		}
		if len(dst) > 1 {
			dst = append(dst, ' ')
			t.grams(dst, yield)
		}
	}
	return dst
}

// grams yields the terms of one word: linear in its characters and NgramMax.
func (t *Tokenizer) grams(word []byte, yield func(term []byte)) {
	for n := t.params.NgramMin; n <= t.params.NgramMax; n++ {
		to, whole := 0, false
		for range n {
			if to == len(word) {
				whole = true
				break
			}
			to += width(word[to:])
		}
		yield(word[:to])
		if whole || to == len(word) {
			return
		}
		for from := 0; to < len(word); {
			from += width(word[from:])
			to += width(word[to:])
			yield(word[from:to])
		}
	}
}

// width is that of the first character, in bytes.
func width(word []byte) int {
	_, size := utf8.DecodeRune(word)
	return size
}
