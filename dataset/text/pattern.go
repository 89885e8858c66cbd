package text

import (
	"regexp"
	"unicode/utf8"

	"github.com/gram-compute/gram/protocol"
)

// compile compiles the pattern of words, if there is one.
func (t *Tokenizer) compile() error {
	if t.params.TokenPattern == "" {
		return nil
	}
	pattern, err := regexp.Compile(t.params.TokenPattern)
	if err != nil {
		return protocol.SpecFault("token_pattern %q: %v", t.params.TokenPattern, err).
			WithHint("It has the syntax of RE2, without look-around and references; (?u) is the default there, leave it out.")
	}
	if pattern.NumSubexp() > 1 {
		return protocol.SpecFault("token_pattern %q has %d groups; a word is that of one group, or the whole match",
			t.params.TokenPattern, pattern.NumSubexp()).WithHint("Write (?:...) for groups that are not the word.")
	}
	t.pattern = pattern
	return nil
}

// matches are Tokens of the words of the pattern, which are found after case is folded. It allocates.
func (t *Tokenizer) matches(dst, text []byte, yield func(term []byte)) []byte {
	dst = t.plain(dst[:0], text)
	plain := dst
	var r run
	for _, word := range t.found(plain) {
		begin := len(dst)
		dst = t.end(&r, append(dst, word...), begin, yield)
	}
	return dst
}

// found are the words of the pattern: matches, or the group of each, that are not empty.
func (t *Tokenizer) found(plain []byte) (words [][]byte) {
	for _, at := range t.pattern.FindAllSubmatchIndex(plain, -1) {
		if from, to := at[len(at)-2], at[len(at)-1]; from < to {
			words = append(words, plain[from:to])
		}
	}
	return words
}

// plain appends text to dst, in lower case if it is folded, and with a space for each byte that is not UTF-8.
func (t *Tokenizer) plain(dst, text []byte) []byte {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if text = text[size:]; r == utf8.RuneError && size == 1 {
			r = ' '
		}
		dst = t.appendRune(dst, r)
	}
	return dst
}
