package text

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// However many terms come between two calls, and whichever are chosen, the order is that of their bytes.
func TestOrderedAgreesWithSorted(t *testing.T) {
	term := rapid.OneOf(rapid.StringMatching(`[ab]{1,3}`), rapid.StringMatching(`[ab]{7,9}`),
		rapid.StringMatching(`[ab]{14,17}`), rapid.StringMatching("[ab]{16}\x00?c?"), rapid.SampledFrom([]string{"", "a\x00"}))
	rapid.Check(t, func(t *rapid.T) {
		n := NewNumbering(0)
		for range rapid.IntRange(1, 5).Draw(t, "calls") {
			if rapid.IntRange(0, 5).Draw(t, "reset") == 0 {
				n.Reset()
			}
			for _, text := range rapid.SliceOfN(term, 0, 20).Draw(t, "terms") {
				n.Number([]byte(text))
			}
			modulus := rapid.Int32Range(1, 3).Draw(t, "modulus")
			keep := func(number int32) bool { return number%modulus == 0 }
			got, want := n.Ordered(keep), n.Sorted(keep)
			if !slices.Equal(got, want) {
				t.Fatalf("ordered %d, sorted %d", got, want)
			}
			for i := 1; i < len(got); i++ {
				if bytes.Compare(n.Append(nil, got[i-1]), n.Append(nil, got[i])) >= 0 {
					t.Fatalf("%q is before %q", n.Append(nil, got[i-1]), n.Append(nil, got[i]))
				}
			}
		}
	})
}

// A numbering that was reset is one that is new, after growing, too.
func TestResetIsNew(t *testing.T) {
	n := NewNumbering(0)
	for round := range 3 {
		for i := range 200 << round {
			word := fmt.Appendf(nil, "%d longer than inline %d", i, round)
			if i%2 == 0 {
				word = fmt.Appendf(nil, "%d-%d", i, round)
			}
			if got := n.Number(word); int(got) != i {
				t.Fatalf("round %d: %q has the number %d, want %d", round, word, got, i)
			}
		}
		if _, ok := n.Find(fmt.Appendf(nil, "0-%d", round-1)); ok {
			t.Errorf("round %d finds a term of the one before", round)
		}
		n.Reset()
		if n.Len() != 0 {
			t.Errorf("%d terms after a reset", n.Len())
		}
	}
}
