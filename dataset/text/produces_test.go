package text

import (
	"testing"

	"pgregory.net/rapid"
)

// Terms that some text has, and others that none has.
func TestProducesByHand(t *testing.T) {
	of := func(analyzer string, low, high int) Params {
		return Params{Lowercase: true, Analyzer: analyzer, NgramMin: low, NgramMax: high}
	}
	words := func(pattern string, high int) Params {
		return Params{Lowercase: true, NgramMin: 1, NgramMax: high, TokenPattern: pattern}
	}
	stopped, cased := of(Word, 1, 1), of(Word, 1, 1)
	stopped.StopWords, cased.Lowercase = []string{"the"}, false
	for _, c := range []struct {
		params  Params
		yes, no []string
	}{
		{of(Word, 1, 1), []string{"good", "2nd", "é"}, []string{"Good", "don't", "not good", " good", "", ":)",
			"\xff", "a\x00"}},
		{cased, []string{"Good", "good"}, []string{"so-so"}},
		{of(Word, 1, 2), []string{"good", "not good"}, []string{"not  good", "not good at", "not-good"}},
		{of(Word, 2, 2), []string{"not good"}, []string{"good"}},
		{stopped, []string{"cat"}, []string{"the"}},
		{of(Char, 2, 3), []string{"ab", " a", "a b"}, []string{"a", "  ", "AB", "abcd"}},
		{of(CharWB, 1, 3), []string{" ", "a", " a", " a ", "ab "}, []string{"a b", "  ", "A"}},
		{words(`\b\w\w+\b`, 1), []string{"good", "so_so"}, []string{"a", "don't", "café", "Good"}},
		{words(`\S+`, 1), []string{":)", "don't", "#1"}, []string{"a b", "A"}},
		{words(`\S+`, 2), []string{":)", "a :)"}, []string{"a b c", "a  b"}},
		{words(`a|ab`, 1), []string{"a"}, []string{"ab", "b"}},
		{words(`#(\w+)`, 1), []string{"good"}, []string{"#good", "a-b"}},
		{words(`\Bing\b`, 1), []string{"ing"}, []string{"in"}},
	} {
		tok := mustNew(t, c.params)
		for _, term := range c.yes {
			if !tok.Produces(term) {
				t.Errorf("%+v: no text has %q", c.params, term)
			}
		}
		for _, term := range c.no {
			if tok.Produces(term) {
				t.Errorf("%+v: some text has %q", c.params, term)
			}
		}
	}
}

// A term that a text has is never denied.
func TestTermsOfTextsAreProduced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, text := anyParams(t), anyText().Draw(t, "text")
		p.Analyzer = rapid.SampledFrom([]string{Word, Char, CharWB}).Draw(t, "analyzer")
		if p.Analyzer == Word {
			p.TokenPattern = rapid.SampledFrom([]string{"", `\b\w\w+\b`, `\S+`, `[a-z]+\s?|\d`, `(\w+)x|\B\w`,
				`a|ab|^b`}).Draw(t, "pattern")
		}
		tok, err := New(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, term := range terms(tok, text) {
			if !tok.Produces(term) {
				t.Fatalf("%+v: %q of %q is denied", p, term, text)
			}
		}
	})
}
