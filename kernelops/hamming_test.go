package kernelops

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestHammingByHand(t *testing.T) {
	for _, s := range All() {
		dst := []int{-1, -1, -1}
		s.HammingRows(dst, []uint64{0, 1, ^uint64(0), 1 << 63, 5, 0}, []uint64{0, 1})
		if want := []int{0, 64 + 2, 2 + 1}; !slices.Equal(dst, want) {
			t.Errorf("%s: %v, want %v", s.Name, dst, want)
		}
		s.HammingRows(dst, nil, nil) // rows of no bits are equal
		if want := []int{0, 0, 0}; !slices.Equal(dst, want) {
			t.Errorf("%s: rows without bits: %v, want %v", s.Name, dst, want)
		}
		s.HammingRows(nil, nil, []uint64{1})
	}
}

// TestHammingBitByBit compares every set with a count of single bits, for every number of words
// up to two tiles, at every alignment, and counts what lies around the rows if it is read.
func TestHammingBitByBit(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 0))
	const rows = 3
	for words := 0; words <= 2*tile+9; words++ {
		offset := words % 8
		memory := make([]uint64, offset+(rows+1)*words+64)
		for i := range memory {
			memory[i] = r.Uint64()
		}
		x, y := memory[offset:][:rows*words], memory[offset+rows*words:][:words]
		want := make([]int, rows)
		for i := range want {
			for b := range 64 * words {
				want[i] += int((x[i*words+b/64] ^ y[b/64]) >> (b % 64) & 1)
			}
		}
		before := slices.Clone(memory)
		for _, s := range All() {
			got := []int{7, 7, 7, 7, 7}
			s.HammingRows(got[1:4], x, y)
			if !slices.Equal(got[1:4], want) || got[0] != 7 || got[4] != 7 {
				t.Fatalf("%s, %d words: %v, want %v between sevens", s.Name, words, got, want)
			}
			if !slices.Equal(memory, before) {
				t.Fatalf("%s, %d words: changed its input", s.Name, words)
			}
		}
	}
}

// TestHammingAcrossCalls takes rows longer, and more rows, than one call of an implementation.
func TestHammingAcrossCalls(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 0))
	for _, shape := range [][2]int{{2, callElements + 5}, {1, 2 * callElements}, {2000, 3}} {
		x, y := make([]uint64, shape[0]*shape[1]), make([]uint64, shape[1])
		for i := range x {
			x[i] = r.Uint64()
		}
		want, got := make([]int, shape[0]), make([]int, shape[0])
		hammingRowsGeneric(want, x, shape[1], y)
		for _, s := range All() {
			s.HammingRows(got, x, y)
			if !slices.Equal(got, want) {
				t.Errorf("%s, %d x %d words: wrong counts", s.Name, shape[0], shape[1])
			}
		}
	}
}

func BenchmarkHammingRows(b *testing.B) {
	for _, words := range []int{2, 16, 1024} {
		rows := 1 << 14 / words
		for _, s := range All() {
			b.Run(fmt.Sprintf("%dx%d/%s", rows, words, s.Name), func(b *testing.B) {
				dst, x, y := make([]int, rows), make([]uint64, rows*words), make([]uint64, words)
				b.SetBytes(int64(8 * len(x)))
				for b.Loop() {
					s.HammingRows(dst, x, y)
				}
			})
		}
	}
}
