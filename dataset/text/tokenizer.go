// Package text turns text into terms.
//
// A word is a maximal run of letters, marks and numbers (Unicode general categories
// L, M and N). Everything else separates, the apostrophe, the hyphen and the underscore
// included: "it's" is "it" and "s". That is the regular expression [^\W_]+ of
// other tools, but for combining marks, which here stay in their word. Bytes that
// are not UTF-8 separate too, so every term is valid UTF-8.
//
// Lower-casing maps rune by rune (Unicode's simple mapping, unicode.ToLower):
// every capital sigma becomes σ, İ becomes i, ẞ becomes ß, and no locale matters. Text is
// not normalized: a letter with a combining accent is another term than its composed form.
//
// A pattern makes other words, and the analyzers char and char_wb make terms of characters: see Params.
package text

import (
	"bytes"
	"regexp"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/gram-compute/gram/protocol"
)

// MaxNgram bounds ngram_max.
const MaxNgram = 8

// The analyzers, by scikit-learn's names: what a term is made of.
const (
	Word   = "word"    // words
	Char   = "char"    // characters of the text
	CharWB = "char_wb" // characters of a word, with a space before and after it
)

// Params choose what a term is.
type Params struct {
	Lowercase bool   `json:"lowercase"`
	Analyzer  string `json:"analyzer,omitempty"` // "" is Word
	// A term is NgramMin..NgramMax successive words, joined by single spaces, or as many characters.
	NgramMin int `json:"ngram_min"`
	NgramMax int `json:"ngram_max"`
	// StopWords are left out before n-grams are formed; none by default.
	StopWords []string `json:"stop_words,omitempty"`
	// TokenPattern is a regular expression (RE2) of words, or of the texts around its one group; "" for those of the
	// package.
	TokenPattern string `json:"token_pattern,omitempty"`
}

// DefaultParams are single words in lower case.
func DefaultParams() Params { return Params{Lowercase: true, Analyzer: Word, NgramMin: 1, NgramMax: 1} }

// Tokenizer cuts text into terms. It holds no state between calls and is safe for
// concurrent use.
type Tokenizer struct {
	params  Params
	ascii   *[utf8.RuneSelf]byte
	stop    map[string]struct{}
	stopped *Numbering     // the same, for a Scanner; nil where there are none
	pattern *regexp.Regexp // nil for the words of the package
}

// New checks the parameters; a *protocol.Fault of CodeSpecInvalid says what is wrong.
func New(p Params) (*Tokenizer, error) {
	if p.NgramMin < 1 || p.NgramMax < p.NgramMin || p.NgramMax > MaxNgram {
		return nil, protocol.SpecFault(
			"n-grams of %d to %d words; 1 <= ngram_min <= ngram_max <= %d is wanted", p.NgramMin, p.NgramMax, MaxNgram)
	}
	t := &Tokenizer{params: p, ascii: &asciiKeep}
	if p.Lowercase {
		t.ascii = &asciiLower
	}
	switch p.Analyzer {
	case "", Word:
		if err := t.compile(); err != nil {
			return nil, err
		}
		return t, t.stopAt(p.StopWords)
	case Char, CharWB:
		if len(p.StopWords) > 0 || p.TokenPattern != "" {
			return nil, protocol.SpecFault("stop_words and token_pattern are of words; analyzer %s makes terms of characters",
				p.Analyzer).WithHint("Leave them out, or take analyzer word.")
		}
		return t, nil
	}
	return nil, protocol.SpecFault("analyzer is %s, %s or %s, not %q", Word, Char, CharWB, p.Analyzer)
}

// stopAt sets the words that are left out.
func (t *Tokenizer) stopAt(words []string) error {
	if len(words) > 0 {
		t.stop, t.stopped = make(map[string]struct{}, len(words)), NewNumbering(len(words))
	}
	for _, w := range words {
		word, single := t.single(w) // as it will be met, or it could never match
		if !single {
			return protocol.SpecFault("the stop word %q is not one word", w)
		}
		t.stop[word] = struct{}{}
		t.stopped.Number([]byte(word))
	}
	return nil
}

// single returns the word of a text that is one word; false for any other text.
func (t *Tokenizer) single(text string) (string, bool) {
	if t.pattern != nil {
		words := t.found(t.plain(nil, []byte(text)))
		return string(bytes.Join(words, nil)), len(words) == 1
	}
	word, rest := t.word(nil, []byte(text))
	return string(word), len(word) > 0 && len(rest) == 0
}

// Tokens calls yield for every term of text in order of its last word or character, shorter before
// longer; those of char_wb come word by word, shorter before longer. A term is valid only during the call. dst is
// scratch space, appended to from its start and returned for the next call; with it and without a pattern nothing is
// allocated once it has grown to the longest text. Time is linear in the text and in NgramMax.
func (t *Tokenizer) Tokens(dst, text []byte, yield func(term []byte)) []byte {
	switch {
	case t.params.Analyzer == Char:
		return t.characters(dst, text, yield)
	case t.params.Analyzer == CharWB:
		return t.charactersOfWords(dst, text, yield)
	case t.pattern != nil:
		return t.matches(dst, text, yield)
	}
	dst = slices.Grow(dst[:0], len(text)+utf8.UTFMax) // lower case seldom takes more bytes
	for r := (run{}); ; {
		begin := len(dst)
		dst, text = t.word(dst, text)
		if len(dst) == begin {
			return dst
		}
		dst = t.end(&r, dst, begin, yield)
	}
}

// run is what n-grams need of the words before.
type run struct {
	starts [MaxNgram]int // of the last words in the scratch space, by word number modulo MaxNgram
	words  int
}

// end yields the terms that end with the word that begins in dst at begin, and returns dst for the next word.
func (t *Tokenizer) end(r *run, dst []byte, begin int, yield func(term []byte)) []byte {
	if t.stop != nil {
		if _, drop := t.stop[string(dst[begin:])]; drop {
			return dst[:begin]
		}
	}
	r.starts[r.words%MaxNgram] = begin
	r.words++
	for n := t.params.NgramMin; n <= min(t.params.NgramMax, r.words); n++ {
		yield(dst[r.starts[(r.words-n)%MaxNgram]:])
	}
	return append(dst, ' ')
}

// word appends the next word of text to dst and returns what follows it; it appends
// nothing when there is none.
func (t *Tokenizer) word(dst, text []byte) ([]byte, []byte) {
	begin := len(dst)
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			i++
			if c = t.ascii[c]; c != 0 {
				dst = append(dst, c)
			} else if len(dst) > begin {
				return dst, text[i:]
			}
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		i += size
		if isWord(r) {
			dst = t.appendRune(dst, r)
		} else if len(dst) > begin {
			return dst, text[i:]
		}
	}
	return dst, nil
}

func (t *Tokenizer) appendRune(dst []byte, r rune) []byte {
	if t.params.Lowercase {
		r = unicode.ToLower(r)
	}
	return utf8.AppendRune(dst, r)
}

// isWord reports whether r is part of a word. utf8.RuneError, which stands for bytes that are
// not UTF-8, is a symbol and so is not.
func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r)
}

// asciiKeep and asciiLower say what an ASCII byte becomes; 0 separates. They are
// isWord and unicode.ToLower, tabulated.
var asciiKeep, asciiLower = tabulate()

func tabulate() (keep, lower [utf8.RuneSelf]byte) {
	for r := range rune(utf8.RuneSelf) {
		if isWord(r) {
			keep[r], lower[r] = byte(r), byte(unicode.ToLower(r))
		}
	}
	return keep, lower
}
