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
