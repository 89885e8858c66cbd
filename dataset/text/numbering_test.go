package text

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNumberingByHand(t *testing.T) {
	n := NewNumbering(0)
	long := strings.Repeat("z", 16)
	for i, term := range []string{"", "a", "a\x00", "\x00", "b", "aaaaaaaa", "aaaaaaaab", "aaaaaaaaaaaaaaa", long,
		long + "z"} {
		for range 2 {
			if got := n.Number([]byte(term)); got != int32(i) {
				t.Errorf("%q has number %d, want %d", term, got, i)
			}
		}
		if got := string(n.Append(nil, int32(i))); got != term {
			t.Errorf("number %d is %q, want %q", i, got, term)
		}
	}
	for _, term := range []string{"c", "a\x00\x00", "aaaaaaaaa", long + "zz", strings.Repeat("y", 16)} {
		if i, ok := n.Find([]byte(term)); ok {
			t.Errorf("%q is found as %d", term, i)
		}
	}
	got := n.Sorted(func(i int32) bool { return i != 4 })
	if want := []int32{0, 3, 1, 2, 5, 7, 6, 8, 9}; !slices.Equal(got, want) {
		t.Errorf("in byte order %d, want %d", got, want)
	}
}

// wantNumbering compares a numbering with a map.
func wantNumbering(t rapid.TB, n *Numbering, terms [][]byte) {
	t.Helper()
	numbers, list := map[string]int32{}, []string{}
	for _, term := range terms {
		want, met := numbers[string(term)]
		if found, ok := n.Find(term); ok != met || met && found != want {
			t.Fatalf("Find(%q) = %d, %v, want %d, %v", term, found, ok, want, met)
		}
		if !met {
			want = int32(len(list))
			numbers[string(term)], list = want, append(list, string(term))
		}
		if got := n.Number(term); got != want {
			t.Fatalf("Number(%q) = %d, want %d", term, got, want)
		}
	}
	if n.Len() != len(list) {
		t.Fatalf("%d terms, want %d", n.Len(), len(list))
	}
	for term, want := range numbers {
		if got, ok := n.Find([]byte(term)); !ok || got != want || string(n.Append(nil, got)) != term {
			t.Fatalf("%q is found as %d, %v, want %d", term, got, ok, want)
		}
	}
	slices.Sort(list)
	for i, number := range n.Sorted(nil) {
		if got := string(n.Append(nil, number)); got != list[i] {
			t.Fatalf("place %d in byte order has %q, want %q", i, got, list[i])
		}
	}
}

func TestNumberingEqualsMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.OneOf(rapid.SliceOfN(rapid.ByteRange(0, 2), 0, 20), rapid.SliceOfN(rapid.Byte(), 0, 40),
			rapid.Map(rapid.IntRange(0, 300), func(i int) []byte { return fmt.Append(nil, "a common beginning", i) }))
		wantNumbering(t, NewNumbering(0), rapid.SliceOfN(one, 0, 400).Draw(t, "terms"))
	})
}

// colliding returns words of n bytes whose hashes have the same low bits.
func colliding(words, n int, bits uint) (list [][]byte) {
	word := make([]byte, n)
	for i := uint64(0); len(list) < words; i++ {
		binary.LittleEndian.PutUint64(word[n-8:], i)
		h := uint32(0)
		if n <= inline {
			h = shortKey(word).hash()
		} else {
			h = hashLong(word)
		}
		if h&(1<<bits-1) == 0 {
			list = append(list, bytes.Clone(word))
		}
	}
	return list
}

// Words of one slot leave the table for a map, and what they cost stays within bounds: no probe is longer than
// maxProbes, and the table does not grow for words that have no place in it.
func TestNumberingOfCollidingWords(t *testing.T) {
	for _, n := range []int{8, 15, 24} {
		words := colliding(3000, n, 12)
		numbering := NewNumbering(0)
		for i := range 4 { // and ordinary ones between them, so that the table grows
			wantNumbering(t, NewNumbering(0), slices.Concat(words[i*500:(i+1)*500], words))
		}
		wantNumbering(t, numbering, words)
		if over := len(numbering.over) + len(numbering.overLong); over+maxProbes < len(words) {
			t.Errorf("%d of %d colliding words of %d bytes are in the map: a probe was longer than %d", over,
				len(words), n, maxProbes)
		}
		if len(numbering.slots) > 4096 {
			t.Errorf("the table has %d slots for %d that are taken", len(numbering.slots), numbering.taken)
		}
		mixed := [][]byte{}
		for i, word := range words {
			mixed = append(mixed, word, fmt.Append(nil, i), fmt.Append(nil, "a longer word, number ", i))
		}
		wantNumbering(t, NewNumbering(0), mixed)
	}
}

// Ordinary words stay in the table.
func TestNumberingOfOrdinaryWords(t *testing.T) {
	n := NewNumbering(0)
	for i := range 1 << 17 {
		n.Number(fmt.Append(nil, i))
		n.Number(fmt.Append(nil, "number of a line: ", i))
	}
	if over := len(n.over) + len(n.overLong); over > 0 {
		t.Errorf("%d of %d terms found no slot", over, n.Len())
	}
}

// The memory of ten million distinct words: a table of 4 bytes a slot, at least a quarter of which are taken, 16 bytes
// a key, and what a slice that grows has to spare.
func TestNumberingMemory(t *testing.T) {
	words := 10_000_000
	if testing.Short() {
		words /= 10
	}
	n := NewNumbering(0)
	word := []byte(nil)
	for i := range words {
		word = fmt.Appendf(word[:0], "%x", i)
		n.Number(word)
	}
	if n.Len() != words {
		t.Fatalf("%d words, want %d", n.Len(), words)
	}
	if got, most := n.Bytes(), int64(words)*(4*4+16*2+8); got > most {
		t.Errorf("%d bytes for %d words, more than %d", got, words, most)
	}
}

func TestPlacesAndSeal(t *testing.T) {
	tok := mustNew(t, Params{Lowercase: true, NgramMin: 1, NgramMax: 2})
	leaf, list := NewNumbering(0), NewNumbering(0)
	NewScanner(tok).Number(nil, []byte("of an uncharacteristically long word"), leaf)
	for _, term := range []string{"long word", "of an", "word", "uncharacteristically", "an uncharacteristically", "other"} {
		list.Number([]byte(term))
	}
	leaf.Seal()
	got := leaf.Places(nil, list)
	if want := []int32{-1, -1, 1, 3, 4, -1, -1, 2, 0}; !slices.Equal(got, want) {
		t.Errorf("places %d, want %d", got, want)
	}
	if n, most := leaf.Bytes(), int64(16*cap(leaf.keys)+cap(leaf.long)); n != most {
		t.Errorf("%d bytes, %d of them for terms", n, most)
	}
}

func TestHashesSpread(t *testing.T) {
	const bins = 1 << 12
	var count [bins]int
	for i := range 64 * bins {
		count[shortKey(fmt.Append(nil, i)).hash()%bins]++
	}
	for bin, n := range count {
		if n < 16 || n > 160 { // 64 on average; six deviations are 48
			t.Errorf("%d of %d words fall into bin %d", n, 64*bins, bin)
		}
	}
}

func BenchmarkNumberingHostile(b *testing.B) {
	words := colliding(20000, 8, 16)
	b.Run("numbering", func(b *testing.B) {
		for b.Loop() {
			n := NewNumbering(0)
			for _, w := range words {
				n.Number(w)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(words)), "ns/word")
	})
	b.Run("map", func(b *testing.B) {
		for b.Loop() {
			n := map[string]int32{}
			for _, w := range words {
				if _, ok := n[string(w)]; !ok {
					n[string(w)] = int32(len(n))
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(words)), "ns/word")
	})
}
