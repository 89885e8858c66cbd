package jobs

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

func TestStringsGolden(t *testing.T) {
	a := Arrays{}
	a.PutStrings("w", StringsOf("ab", "", "c"))
	text, err := a.Text("w.bytes")
	if err != nil || text != "abc" {
		t.Fatal(text, err)
	}
	offsets, err := Get[int64](a, "w.offsets", 4)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{0, 2, 2, 3} {
		if offsets[i] != want {
			t.Fatalf("offsets %v", offsets)
		}
	}
}

func TestStringsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOf(rapid.SliceOf(rapid.Byte())).Draw(t, "list")
		a := Arrays{}
		a.PutStrings("w", StringsOf(list...))
		b, err := Decode(a.Encode())
		if err != nil {
			t.Fatal(err)
		}
		s, err := b.Strings("w")
		if err != nil || s.Len() != len(list) {
			t.Fatal(s.Len(), err)
		}
		for i := range list {
			if !bytes.Equal(s.At(i), list[i]) {
				t.Fatalf("string %d is %q, not %q", i, s.At(i), list[i])
			}
		}
	})
}

func TestStringsRefuses(t *testing.T) {
	for name, offsets := range map[string][]int64{
		"none":     {},
		"begin":    {1, 3},
		"end":      {0, 2},
		"beyond":   {0, 4},
		"falls":    {0, 2, 1, 3},
		"negative": {0, -1, 3},
	} {
		a := Arrays{}
		a.PutText("w.bytes", "abc")
		Put(a, "w.offsets", offsets)
		_, err := a.Strings("w")
		wantCorrupt(t, name, err)
	}
}

func TestStrictlyAscending(t *testing.T) {
	if !StringsOf("a", "ab", "b").StrictlyAscending() || !(Strings{}).StrictlyAscending() {
		t.Error("ordered lists are not")
	}
	if StringsOf("b", "a").StrictlyAscending() || StringsOf("a", "a").StrictlyAscending() {
		t.Error("unordered lists are")
	}
}
