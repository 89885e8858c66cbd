package wordlist

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/protocol"
)

func TestReadByHand(t *testing.T) {
	want := []Entry{{"good", 1.5, 2}, {"not, bad", -2, 4}}
	for name, c := range map[string]struct {
		format Format
		text   string
	}{
		"csv":         {Format{Header: true}, "word,score\ngood,1.5\n\n\"not, bad\",-2\n"},
		"csv of CRLF": {Format{Header: true}, "word,score\r\ngood, 1.50\r\n\r\n\"not, bad\",-2"},
		"tsv":         {Format{TSV: true, Header: true}, "\ufeffw\ts\ngood\t1.5\n\r\nnot, bad\t-2e0"},
	} {
		if got, err := Read([]byte(c.text), c.format); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if got, err := Read(nil, Format{}); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	for name, want := range map[string]Format{"a.b/scores.TSV": {TSV: true}, "csv": {}} {
		if got, ok := FormatOf(name); !ok || got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if _, ok := FormatOf("scores.txt"); ok {
		t.Error("a format of txt")
	}
}

func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]struct {
		line int64
		what string
	}{
		"word,score\ngood,1\n":    {1, `the score of "word": "score" is not a decimal number`},
		"good,1\nbad\n":           {2, "1 fields, not a word and its score"},
		"good,1\nbad,1,2\n":       {2, "3 fields, not a word and its score"},
		"good,1\n,2\n":            {2, "the word is empty"},
		"good,1\n\ngood,1\n":      {3, `the word "good" has a score already, in line 1`},
		"good,1\nbad,NaN\n":       {2, `the score of "bad": "NaN" is not a finite number`},
		"good,-inf\n":             {1, `the score of "good": "-inf" is not a finite number`},
		"good,1e400\n":            {1, `the score of "good": "1e400" is beyond float64`},
		"good,1e-400\n":           {1, `the score of "good": "1e-400" is not exact in float64, which would keep 0`},
		"good,0x10\n":             {1, `the score of "good": "0x10" is not a decimal number`},
		"good,1_000\n":            {1, `the score of "good": "1_000" is not a decimal number`},
		"good,\n":                 {1, `the score of "good": "" is not a decimal number`},
		"good,9007199254740993\n": {1, `the score of "good": "9007199254740993" is not exact in float64`},
		"good,1\n\"bad,1\n":       {2, "not csv: extraneous or missing \" in quoted-field"},
		"go\"od,1\n":              {1, "not csv: bare \" in non-quoted-field, in column 3"},
		"g\xffod,1\n":             {1, `the word "g\xffod" is not UTF-8`},
	} {
		var fault *protocol.Fault
		_, err := Read([]byte(text), Format{})
		if !errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord || fault.Line != want.line ||
			!strings.HasPrefix(fault.What, want.what) {
			t.Errorf("%q: %v, want line %d: %s", text, err, want.line, want.what)
		}
	}
}

// A number is read if and only if printing it in short, or with all its digits, gives the number that was written.
func TestNumbersEqualRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[-+]?([0-9]{1,18}(\.[0-9]{0,8})?|\.[0-9]{1,6})([eE][-+]?[0-9]{1,2})?`).
			Draw(t, "text")
		if rapid.Bool().Draw(t, "float") {
			text = strconv.FormatFloat(rapid.Float64().Draw(t, "value"), 'g', -1, 64)
		}
		given, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatal(text)
		}
		near, _ := given.Float64()
		short, _ := new(big.Rat).SetString(strconv.FormatFloat(near, 'g', -1, 64))
		keeps := short.Cmp(given) == 0 || new(big.Rat).SetFloat64(near).Cmp(given) == 0
		if got, err := Number(text); (err == nil) != keeps || err == nil && got != near {
			t.Fatalf("%s: %v, %v; the nearest is %v", text, got, err, near)
		}
	})
	for _, text := range []string{"0.1000000000000000055511151231257827021181583404541015625", "-0", "1e22", "5e-324"} {
		if v, err := Number(text); err != nil || math.IsNaN(v) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Whatever a list is, it is read or refused with the line, and words are distinct.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"good,1\n", "\"a\"\"b\",1\r\n", "a\t1\n\tb\n", "a,1e999999999\n", "\"",
		"\ufeff,,\n", "a,0.1,\n"} {
		f.Add([]byte(text), true, false)
	}
	f.Fuzz(func(t *testing.T, data []byte, tsv, header bool) {
		list, err := Read(data, Format{TSV: tsv, Header: header})
		if err != nil {
			if fault, ok := errors.AsType[*protocol.Fault](err); !ok || fault.Line < 1 {
				t.Fatalf("%v", err)
			}
			return
		}
		seen := map[string]bool{}
		for _, e := range list {
			if e.Word == "" || seen[e.Word] || e.Score-e.Score != 0 || e.Line < 1 {
				t.Fatalf("%+v", e)
			}
			seen[e.Word] = true
		}
	})
}
