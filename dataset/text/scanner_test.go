package text

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// scanned are the terms that a scanner numbers, in order.
func scanned(tok *Tokenizer, text string) []string {
	in, out := NewNumbering(0), []string{}
	for _, number := range NewScanner(tok).Number(nil, []byte(text), in) {
		out = append(out, string(in.Append(nil, number)))
	}
	return out
}

// wantScanned compares a scanner with Tokens: what it numbers, and what it finds of every second term.
func wantScanned(t rapid.TB, p Params, text string) {
	t.Helper()
	tok, err := New(p)
	if err != nil {
		return
	}
	want := terms(tok, text)
	if got := scanned(tok, text); !slices.Equal(got, want) {
		t.Fatalf("%+v: the terms of %q are %q, want %q", p, text, got, want)
	}
	list, known := NewNumbering(0), map[string]int32{}
	for i, term := range want {
		if _, ok := known[term]; !ok && i%2 == 0 {
			known[term] = list.Number([]byte(term))
		}
	}
	places := []int32{}
	for _, term := range want {
		if place, ok := known[term]; ok {
			places = append(places, place)
		}
	}
	if got := NewScanner(tok).Find([]int32{}, []byte(text), NewIndex(tok, list)); !slices.Equal(got, places) {
		t.Fatalf("%+v: %d of %q found in %q, want %d", p, got, want, text, places)
	}
}

func TestScannerByHand(t *testing.T) {
	single, bigrams := DefaultParams(), Params{Lowercase: true, NgramMin: 1, NgramMax: 2}
	for _, c := range []struct {
		params Params
		text   string
		want   []string
	}{
		{single, "", []string{}},
		{single, "The cat, the CAT.", []string{"the", "cat", "the", "cat"}},
		{single, "1234567 12345678 123456789", []string{"1234567", "12345678", "123456789"}},
		{single, "A23456789012345 A234567890123456 A2345678901234567",
			[]string{"a23456789012345", "a234567890123456", "a2345678901234567"}},
		{single, "abcdéfg abcdefghé éabc —abc", []string{"abcdéfg", "abcdefghé", "éabc", "abc"}},
		{single, "a\x00b @[`{ /:", []string{"a", "b"}},
		{bigrams, "one two  one two", []string{"one", "two", "one two", "one", "two one", "two", "one two"}},
		{Params{Lowercase: true, NgramMin: 2, NgramMax: 3, StopWords: []string{"The", "of"}},
			"the king of the hill sits", []string{"king hill", "hill sits", "king hill sits"}},
		{Params{Analyzer: Char, NgramMin: 1, NgramMax: 2}, "a\x00", []string{"a", "\x00", "a\x00"}},
	} {
		if got := scanned(mustNew(t, c.params), c.text); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q gives %q, want %q", c.params, c.text, got, c.want)
		}
		wantScanned(t, c.params, c.text)
	}
}

// Each pair of bytes before, within and after words of every length up to three machine words.
func TestScannerAtEveryEdge(t *testing.T) {
	tok := mustNew(t, DefaultParams())
	for _, edge := range []string{" ", "  ", "é", "É", "\x00", "\xff", "—", "\u0301", "@", "[", "`", "{", "/", ":",
		"\u212a"} {
		for n := range 25 {
			word := strings.Repeat("aZ9", 9)[:n]
			for _, text := range []string{word + edge, edge + word, word + edge + word, edge + word + edge + "b"} {
				if got, want := scanned(tok, text), terms(tok, text); !slices.Equal(got, want) {
					t.Fatalf("%q gives %q, want %q", text, got, want)
				}
			}
		}
	}
}

// The fast road agrees with the table on every byte, wherever it is among the eight.
func TestClassifyEveryByte(t *testing.T) {
	for c := range 256 {
		for at := range 8 {
			for _, other := range []uint64{0, eachByte * 'a', eachByte * 0x7f, eachByte * 0xff, eachByte * '@'} {
				shift := 8 * at
				word, letter := classify(other&^(0xff<<shift) | uint64(c)<<shift)
				isWord := c < 0x80 && asciiKeep[c] != 0
				isLetter := isWord && (c < '0' || c > '9')
				if word>>shift&0xff != 0x80*bit(isWord) || letter>>shift&0xff != 0x80*bit(isLetter) {
					t.Fatalf("byte %#x at %d beside %#x: word %#x, letter %#x", c, at, other, word, letter)
				}
			}
		}
	}
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func TestScannerEqualsTokens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyParams(t)
		if rapid.Bool().Draw(t, "other") {
			p.Analyzer = rapid.SampledFrom([]string{Word, Char, CharWB}).Draw(t, "analyzer")
		}
		if p.Analyzer == "" {
			p.StopWords = rapid.SliceOfN(rapid.SampledFrom([]string{"a", "The", "0", "é"}), 0, 2).Draw(t, "stop")
			p.TokenPattern = rapid.SampledFrom([]string{"", "", `[^,]+`, `\w+`}).Draw(t, "pattern")
		}
		wantScanned(t, p, anyText().Draw(t, "text"))
	})
}

func FuzzScanner(f *testing.F) {
	f.Add("The cat's μέγας \xff e\u0301", true, 1, 2)
	f.Add("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 0123456789abcde\x000123456789abcdef", false, 1, 1)
	f.Add("ȺȾ"+strings.Repeat("Ⱥ", 40), true, 1, 8)
	f.Add("ABCDEFG ABCDEFGH@ABCDEFGHIJKLMNO[", true, 2, 2)
	f.Fuzz(func(t *testing.T, text string, lower bool, lo, hi int) {
		wantScanned(t, Params{Lowercase: lower, NgramMin: lo, NgramMax: hi}, text)
	})
}

func TestScannerAllocatesNothingOnceGrown(t *testing.T) {
	triples := Params{Lowercase: true, NgramMin: 1, NgramMax: 3, StopWords: []string{"the"}}
	for _, p := range []Params{DefaultParams(), triples} {
		text := []byte(strings.Repeat("The quick brown Füchse, ẞtraße; pneumonoultramicroscopic ", 50))
		s, in := NewScanner(mustNew(t, p)), NewNumbering(0)
		dst := s.Number(nil, text, in)
		if n := testing.AllocsPerRun(20, func() { dst = s.Number(dst[:0], text, in) }); n != 0 {
			t.Errorf("%v allocations per call, want 0", n)
		}
	}
}

// A word of 1 MB is one term, and 1 MB without a word has no terms.
func TestScannerOfOneLongWord(t *testing.T) {
	tok := mustNew(t, DefaultParams())
	for _, piece := range []string{"a", "É", "e\u0301", "0123456789"} {
		word := strings.Repeat(piece, 1<<20/len(piece))
		if got := scanned(tok, "x "+word+" y"); len(got) != 3 || got[1] != strings.Map(lower, word) {
			t.Errorf("a long word of %q makes %d terms", piece, len(got))
		}
	}
	for _, piece := range []string{" ", "\xff", "—"} {
		if got := scanned(tok, strings.Repeat(piece, 1<<20/len(piece))); len(got) != 0 {
			t.Errorf("terms %q of separators %q", got, piece)
		}
	}
}

// Words that begin alike and are in one slot, where the first look at it shows another word.
func TestScannerOfWordsInOneSlot(t *testing.T) {
	tok := mustNew(t, DefaultParams())
	text := ""
	for i := range 3000 {
		text += fmt.Sprint("wordword", i, " ")
	}
	wantScanned(t, DefaultParams(), text+text)
	// A long word in the slot of the key that the scanner gives to another one, of its length and at its place.
	n, word := NewNumbering(0), make([]byte, 0, 32)
	for i := 0; ; i++ {
		word = fmt.Appendf(word[:0], "a%023d", i)
		if (hashLong(word)^longKey(0, len(word)).hash())%leastSize == 0 {
			break
		}
	}
	other := strings.Repeat("b", len(word))
	s := NewScanner(tok)
	if got := s.Number(s.Number(nil, word, n), []byte(other), n); !slices.Equal(got, []int32{0, 1}) {
		t.Errorf("two long words have the numbers %d", got)
	}
	n = NewNumbering(0)
	n.Number(word)
	if got := s.Find(nil, []byte(other), NewIndex(tok, n)); len(got) != 0 {
		t.Errorf("%s is found as %d, which is %s", other, got, word)
	}
}

func lower(r rune) rune {
	if r == 'É' {
		return 'é'
	}
	return r
}

func BenchmarkScanner(b *testing.B) {
	tok, err := New(DefaultParams())
	if err != nil {
		b.Fatal(err)
	}
	texts := map[string]string{
		"english": `a cassette that contains magnetic tape; "it was full of rackets, balls and other objects" `,
		"german":  `die Straße führt über den Fluß; "größere Städte haben häufig mehrere Brücken" über Gräben `,
		"greek":   `ο δρόμος περνά πάνω από το ποτάμι· οι μεγάλες πόλεις έχουν συχνά πολλές γέφυρες `,
	}
	for name, text := range texts {
		text := bytes.Repeat([]byte(text), 100)
		b.Run(fmt.Sprint(name, "/numbers"), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			s, in, dst := NewScanner(tok), NewNumbering(0), []int32(nil)
			for b.Loop() {
				dst = s.Number(dst[:0], text, in)
			}
		})
		b.Run(fmt.Sprint(name, "/map"), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			in, dst, scratch := map[string]int32{}, []int32(nil), []byte(nil)
			add := func(term []byte) {
				i, ok := in[string(term)]
				if !ok {
					i = int32(len(in))
					in[string(term)] = i
				}
				dst = append(dst, i)
			}
			for b.Loop() {
				dst = dst[:0]
				scratch = tok.Tokens(scratch, text, add)
			}
		})
	}
}
