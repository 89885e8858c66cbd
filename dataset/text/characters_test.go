package text

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/protocol"
)

// The terms of scikit-learn 1.9.1's CountVectorizer, in our order.
func TestAnalyzersByHand(t *testing.T) {
	of := func(analyzer string, low, high int) Params {
		return Params{Lowercase: true, Analyzer: analyzer, NgramMin: low, NgramMax: high}
	}
	words := func(pattern string, high int) Params {
		return Params{Lowercase: true, NgramMin: 1, NgramMax: high, TokenPattern: pattern}
	}
	stopped := words(`\w\w+`, 2)
	stopped.StopWords = []string{"IS", "is"}
	for _, c := range []struct {
		params Params
		text   string
		want   []string
	}{
		{of(Char, 1, 2), "Ab  c", []string{"a", "b", "ab", " ", "b ", "c", " c"}},
		{of(Char, 3, 3), " é x ", []string{" é ", "é x", " x "}},
		{of(Char, 1, 1), "a\xff\xfe\n\tb", []string{"a", " ", "b"}},
		{of(Char, 2, 2), "", []string{}},
		{of(CharWB, 2, 4), "Ab c\n déf", []string{" a", "ab", "b ", " ab", "ab ", " ab ", " c", "c ", " c ",
			" d", "dé", "éf", "f ", " dé", "déf", "éf ", " déf", "déf "}},
		{of(CharWB, 1, 3), "a", []string{" ", "a", " ", " a", "a ", " a "}},
		{of(CharWB, 2, 2), " \n", []string{}},
		{words(`\b\w\w+\b`, 2), "A dog is a DOG", []string{"dog", "is", "dog is", "dog", "is dog"}},
		{words(`(\w+)ing\b`, 1), "Singing, ringing ing doing", []string{"sing", "ring", "do"}},
		{words(`[a-z]*`, 1), "aB1c", []string{"ab", "c"}},
		{words(`\S+`, 1), "a\xffb \ufffd", []string{"a", "b", "\ufffd"}},
		{Params{NgramMin: 1, NgramMax: 1, TokenPattern: `\b\w{2}`}, "abcd ef", []string{"ab", "ef"}},
		{stopped, "a dog is IS here", []string{"dog", "here", "dog here"}},
	} {
		if got := terms(mustNew(t, c.params), c.text); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q gives %q, want %q", c.params, c.text, got, c.want)
		}
	}
}

func TestAnalyzersRefused(t *testing.T) {
	for _, p := range []Params{
		{Analyzer: "chars"}, {Analyzer: Char, StopWords: []string{"a"}}, {Analyzer: CharWB, TokenPattern: `\w`},
		{TokenPattern: `(`}, {TokenPattern: `(?u)\w`}, {TokenPattern: `(a)(b)`}, {TokenPattern: `a(?=b)`},
		{TokenPattern: `\w+`, StopWords: []string{"two words"}}, {TokenPattern: `\w+`, StopWords: []string{"-"}},
	} {
		p.NgramMin, p.NgramMax = 1, 1
		var fault *protocol.Fault
		if _, err := New(p); !errors.As(err, &fault) || fault.Code != protocol.CodeSpecInvalid {
			t.Errorf("New(%+v) = %v", p, err)
		}
	}
}

// referenceOfCharacters is the definition, by slices of runes.
func referenceOfCharacters(p Params, text string) []string {
	fold := func(s string) []rune {
		if p.Lowercase {
			s = strings.Map(unicode.ToLower, s)
		}
		return []rune(s)
	}
	text = strings.ToValidUTF8(text, " ")
	out := []string{}
	if p.Analyzer == CharWB {
		for _, word := range strings.Fields(text) {
			padded := slices.Concat([]rune{' '}, fold(word), []rune{' '})
			for n := p.NgramMin; n <= p.NgramMax; n++ {
				for from := 0; from == 0 || from+n <= len(padded); from++ {
					out = append(out, string(padded[from:min(from+n, len(padded))]))
				}
				if n >= len(padded) {
					break
				}
			}
		}
		return out
	}
	var all []rune
	for _, r := range fold(text) {
		if space := unicode.IsSpace(r); !space {
			all = append(all, r)
		} else if len(all) == 0 || all[len(all)-1] != ' ' {
			all = append(all, ' ')
		}
	}
	for to := range all {
		for n := p.NgramMin; n <= min(p.NgramMax, to+1); n++ {
			out = append(out, string(all[to+1-n:to+1]))
		}
	}
	return out
}

func TestCharactersEqualReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, text := anyParams(t), anyText().Draw(t, "text")
		p.Analyzer = rapid.SampledFrom([]string{Char, CharWB}).Draw(t, "analyzer")
		tok, err := New(p)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := terms(tok, text), referenceOfCharacters(p, text); !slices.Equal(got, want) {
			t.Fatalf("%+v: %q gives %q, want %q", p, text, got, want)
		}
	})
}

func FuzzPattern(f *testing.F) {
	f.Add(`\b\w\w+\b`, "The cat's μέγας \xff")
	f.Add(`(a*)|b`, "aab")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		tok, err := New(Params{Lowercase: true, NgramMin: 1, NgramMax: 2, TokenPattern: pattern})
		if err != nil {
			return
		}
		for _, term := range terms(tok, text) {
			if term == "" || !utf8.ValidString(term) {
				t.Fatalf("%q of %q gives %q", pattern, text, term)
			}
		}
	})
}

// White space is defined by a table of the Go release, as words are.
func TestWhiteSpaceIsPinned(t *testing.T) {
	var all []rune
	for r := range rune(unicode.MaxRune + 1) {
		if unicode.IsSpace(r) {
			all = append(all, r)
		}
	}
	if want := "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029" +
		"\u202f\u205f\u3000"; string(all) != want {
		t.Errorf("white space changed (Unicode %s): %q", unicode.Version, string(all))
	}
}
