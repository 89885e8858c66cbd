package text

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/protocol"
)

func mustNew(t testing.TB, p Params) *Tokenizer {
	t.Helper()
	tok, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func terms(tok *Tokenizer, text string) []string {
	out := []string{}
	tok.Tokens(nil, []byte(text), func(term []byte) { out = append(out, string(term)) })
	return out
}

func TestTokensByHand(t *testing.T) {
	single, bigrams := DefaultParams(), Params{Lowercase: true, NgramMin: 1, NgramMax: 2}
	stopped := Params{Lowercase: true, NgramMin: 2, NgramMax: 3, StopWords: []string{"The", "of"}}
	for _, c := range []struct {
		params Params
		text   string
		want   []string
	}{
		{single, "", []string{}},
		{single, " \t--", []string{}},
		{single, "The cat, the CAT.", []string{"the", "cat", "the", "cat"}},
		{Params{NgramMin: 1, NgramMax: 1}, "The cat", []string{"The", "cat"}},
		{single, "it's well-known snake_case", []string{"it", "s", "well", "known", "snake", "case"}},
		{single, "x1 2nd 3.5 ½", []string{"x1", "2nd", "3", "5", "½"}},
		{single, "Straße ÉCOLE Σίσυφος ΟΔΟΣ", []string{"straße", "école", "σίσυφος", "οδοσ"}},
		{single, "e\u0301te\u0301 İ ẞ \u212a", []string{"e\u0301te\u0301", "i", "ß", "k"}},
		{single, "日本語 한국어", []string{"日本語", "한국어"}},
		{single, "a\xffb \xc3", []string{"a", "b"}},
		{single, "a\x7fb\x80c", []string{"a", "b", "c"}},
		{single, "a\ufffdb", []string{"a", "b"}},
		{bigrams, "one two three", []string{"one", "two", "one two", "three", "two three"}},
		{Params{Lowercase: true, NgramMin: 2, NgramMax: 2}, "one", []string{}},
		{stopped, "the king of the hill sits", []string{"king hill", "hill sits", "king hill sits"}},
	} {
		if got := terms(mustNew(t, c.params), c.text); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q gives %q, want %q", c.params, c.text, got, c.want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, p := range []Params{
		{}, {NgramMin: 0, NgramMax: 1}, {NgramMin: 2, NgramMax: 1}, {NgramMin: 1, NgramMax: MaxNgram + 1},
		{NgramMin: 1, NgramMax: 1, StopWords: []string{"two words"}},
		{NgramMin: 1, NgramMax: 1, StopWords: []string{"-"}},
	} {
		var fault *protocol.Fault
		if _, err := New(p); !errors.As(err, &fault) || fault.Code != protocol.CodeSpecInvalid ||
			*fault != *fault.WithoutOffset() {
			t.Errorf("New(%+v) = %v, want a fault of SPEC_INVALID without a place in a file", p, err)
		}
	}
}

// reference is the definition, written with the standard library: split where a rune
// is no word character, map each rune, join neighbors.
func reference(p Params, text string) []string {
	words := strings.FieldsFunc(strings.ToValidUTF8(text, " "), func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.M, unicode.N)
	})
	out := []string{}
	for i := range words {
		if p.Lowercase {
			words[i] = strings.Map(unicode.ToLower, words[i])
		}
		for n := p.NgramMin; n <= min(p.NgramMax, i+1); n++ {
			out = append(out, strings.Join(words[i+1-n:i+1], " "))
		}
	}
	return out
}

func anyText() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.StringMatching(`[a-zA-Z0-9_' .\-]{0,12}`),
		rapid.String(),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 6), func(b []byte) string { return string(b) }),
	)
	return rapid.Map(rapid.SliceOfN(piece, 0, 8), func(s []string) string { return strings.Join(s, "") })
}

func anyParams(t *rapid.T) Params {
	lo := rapid.IntRange(1, MaxNgram).Draw(t, "min")
	return Params{Lowercase: rapid.Bool().Draw(t, "lower"), NgramMin: lo,
		NgramMax: rapid.IntRange(lo, MaxNgram).Draw(t, "max")}
}

func TestTokensEqualReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, text := anyParams(t), anyText().Draw(t, "text")
		tok, err := New(p)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := terms(tok, text), reference(p, text); !slices.Equal(got, want) {
			t.Fatalf("%+v: %q gives %q, want %q", p, text, got, want)
		}
	})
}

// The table is only a faster way to say what the path for every other rune says.
func TestASCIITableEqualsRunePath(t *testing.T) {
	for _, lower := range []bool{false, true} {
		tok := mustNew(t, Params{Lowercase: lower, NgramMin: 1, NgramMax: 1})
		for r := range rune(utf8.RuneSelf) {
			var slow []byte
			if isWord(r) {
				slow = tok.appendRune(nil, r)
			}
			if fast, _ := tok.word(nil, []byte{byte(r)}); !bytes.Equal(fast, slow) {
				t.Errorf("lowercase %v: %q becomes %q by table, %q by rune", lower, r, fast, slow)
			}
		}
	}
}

func TestSeparatorConcatenates(t *testing.T) {
	tok := mustNew(t, DefaultParams())
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyText().Draw(t, "a"), anyText().Draw(t, "b")
		sep := rapid.SampledFrom([]string{" ", "\n", "'", "_", "—", "\xff"}).Draw(t, "sep")
		got, want := terms(tok, a+sep+b), append(terms(tok, a), terms(tok, b)...)
		if !slices.Equal(got, want) {
			t.Fatalf("%q + %q + %q gives %q, want %q", a, sep, b, got, want)
		}
	})
}

func TestTokensAllocatesNothingOnceGrown(t *testing.T) {
	tok := mustNew(t, Params{Lowercase: true, NgramMin: 1, NgramMax: 3, StopWords: []string{"the"}})
	text := []byte(strings.Repeat("The quick brown Füchse, ẞtraße; ", 50))
	count := 0
	yield := func(term []byte) { count += len(term) }
	dst := tok.Tokens(nil, text, yield)
	if n := testing.AllocsPerRun(20, func() { dst = tok.Tokens(dst, text, yield) }); n != 0 {
		t.Errorf("%v allocations per call, want 0", n)
	}
	if count == 0 {
		t.Fatal("no terms")
	}
}

// Words are defined by Unicode tables that come with the Go release. Another table
// would give other models from the same input, so a change must be seen and decided.
func TestUnicodeTablesArePinned(t *testing.T) {
	h := sha256.New()
	for r := range rune(unicode.MaxRune + 1) {
		fmt.Fprintf(h, "%t %d\n", isWord(r), unicode.ToLower(r))
	}
	const want = "053ecd048065dec6ddf3e37454465c4f4b1e639689ed3f5dc9f267c997131141"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("word characters or lower case changed (Unicode %s): digest %s, want %s", unicode.Version, got, want)
	}
}

func FuzzTokens(f *testing.F) {
	f.Add("The cat's μέγας \xff e\u0301", true, 1, 2)
	f.Add("", false, 1, 1)
	f.Add("ȺȾ"+strings.Repeat("Ⱥ", 40), true, 1, 8)
	f.Fuzz(func(t *testing.T, text string, lower bool, lo, hi int) {
		p := Params{Lowercase: lower, NgramMin: lo, NgramMax: hi}
		tok, err := New(p)
		if err != nil {
			return
		}
		got := terms(tok, text)
		for _, term := range got {
			if !utf8.ValidString(term) {
				t.Fatalf("%q gives %q, which is not UTF-8", text, term)
			}
		}
		if want := reference(p, text); !slices.Equal(got, want) {
			t.Fatalf("%q gives %q, want %q", text, got, want)
		}
	})
}
