package schedule

import (
	"testing"

	"pgregory.net/rapid"
)

// The set does what a slice of booleans does.
func TestBitset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "size")
		set, plain := newBitset(n), make([]bool, n)
		for range rapid.IntRange(0, 20).Draw(t, "changes") {
			first := rapid.IntRange(0, n).Draw(t, "first")
			end := rapid.IntRange(first, n).Draw(t, "end")
			in, changed := rapid.Bool().Draw(t, "in"), 0
			for i := first; i < end; i++ {
				if plain[i] != in {
					plain[i] = in
					changed++
				}
			}
			if got := set.setRange(first, end, in); got != changed {
				t.Fatalf("setRange(%d, %d, %v) changed %d, want %d", first, end, in, got, changed)
			}
		}
		for at := range n + 1 {
			next := -1
			for i := n - 1; i >= at; i-- {
				if plain[i] {
					next = i
				}
			}
			limit, run := rapid.IntRange(0, n+1-at).Draw(t, "limit"), 0
			for run < limit && at+run < n && plain[at+run] {
				run++
			}
			if got := set.next(at); got != next {
				t.Fatalf("next(%d) = %d, want %d", at, got, next)
			}
			if got := set.run(at, limit); got != run {
				t.Fatalf("run(%d, %d) = %d, want %d", at, limit, got, run)
			}
		}
	})
}

// A run ends at its limit, at the first that is no member, and with the last word, of which it may have all.
func TestRunsOfMembers(t *testing.T) {
	for _, c := range []struct{ size, first, end, at, limit, want int }{
		{64, 0, 64, 0, 100, 64}, {128, 0, 128, 60, 100, 68}, {128, 0, 128, 128, 1, 0}, // to the end of the last word
		{128, 0, 128, 0, 64, 64}, {128, 0, 128, 60, 4, 4}, {128, 0, 128, 60, 5, 5}, // to the limit
		{128, 60, 70, 60, 100, 10}, {128, 60, 70, 59, 100, 0}, {128, 0, 64, 60, 100, 4}, // to one that is no member
	} {
		set := newBitset(c.size)
		set.setRange(c.first, c.end, true)
		if got := set.run(c.at, c.limit); got != c.want {
			t.Errorf("[%d, %d) of %d: run(%d, %d) = %d, want %d", c.first, c.end, c.size, c.at, c.limit, got, c.want)
		}
	}
}
