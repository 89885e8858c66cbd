package kernelops

import (
	"math"
	"math/bits"
	"slices"
)

// sound compares the tiles with the loop on this CPU, on numbers that use every bit of the bytes, with sums above, at
// and below what they are compared with.
func (s *byteSet) sound() bool {
	for _, groups := range []int{1, 4, 5} {
		if !soundTile(s.tile, s.queries, groups) || !soundTile(s.one, 1, groups) ||
			!soundAssign(&s.assign.wide, groups) || !soundAssign(&s.assign.narrow, groups) {
			return false
		}
	}
	return true
}

// soundPanels is how many panels are compared.
const soundPanels = 3

// mixer makes the numbers, the same each time.
type mixer uint32

func (m *mixer) next() uint32 {
	*m += 0x9e3779b9
	v := uint32(*m)
	v = (v ^ v>>16) * 0x85ebca6b
	v = (v ^ v>>13) * 0xc2b2ae35
	return v ^ v>>16
}

func (m *mixer) words(n int) []uint32 {
	words := make([]uint32, n)
	for i := range words {
		if words[i] = m.next(); i%7 == 0 {
			words[i] = []uint32{0x80808080, 0x7f7f7f7f, 0xffffffff}[i/7%3]
		}
	}
	return words
}

// below returns whole numbers from -most to most.
func (m *mixer) below(n, most int) []int32 {
	v := make([]int32, n)
	for i := range v {
		v[i] = int32(int(m.next()>>1)%(2*most+1) - most)
	}
	return v
}

func soundTile(tile byteTile, queries, groups int) bool {
	m := mixer(queries)
	x, y := m.words(groups*queries), m.words(soundPanels*groups*byteWidth)
	starts, limits, factors := m.below(queries, 5000), make([]float32, queries), make([]float32, queries)
	for i := range limits {
		limits[i], factors[i] = float32(i-2), float32(1+i%2)
	}
	spreads := []float32{-1, -2}
	terms := make([]float32, soundPanels*byteTerms)
	for i, v := range m.below(len(terms), 1<<16) {
		if terms[i] = float32(v); i < byteTerms {
			terms[i] = 1 << 24 // the first panel has no hit
		}
	}
	for j := range byteWidth / 2 { // and the sums of the first query are at what they are compared with
		t := terms[byteTerms:]
		clear(t[byteWidth:])
		c := starts[0]
		for g := range groups {
			c += dot4(x[g*queries], y[(groups+g)*byteWidth+j])
		}
		t[j] = float32(c) + float32(j%2)
	}
	run := func(tile byteTile) (found uint64, hits []uint64, dots []int32) {
		hits, dots = make([]uint64, queries*soundPanels), make([]int32, queries*soundPanels*byteWidth)
		found = tile(hits, dots, x, y, terms, factors, limits, starts, spreads, groups, soundPanels)
		return found, hits, dots
	}
	found, hits, dots := run(tile)
	want, wantHits, wantDots := run(byteTileGeneric(queries))
	return found == want && sameHits(found, queries, hits, wantHits, dots, wantDots)
}

// sameHits compares the hits of the panels that have some, and their products.
func sameHits(found uint64, queries int, hits, wantHits []uint64, dots, wantDots []int32) bool {
	for i, word := range wantHits {
		if found>>(i/queries)&1 == 0 {
			continue
		}
		if hits[i] != word {
			return false
		}
		for ; word != 0; word &= word - 1 {
			at := i*byteWidth + bits.TrailingZeros64(word)
			if dots[at] != wantDots[at] {
				return false
			}
		}
	}
	return true
}

func soundAssign(tile *assignTile, groups int) bool {
	m, stride, words := mixer(groups), groups+1, (soundPanels*tile.width+63)/64
	x, y := m.words(tile.rows*stride), m.words(soundPanels*groups*tile.width)
	starts := m.below(2*soundPanels*tile.width, 5000)
	kinds, limits := make([]int32, tile.rows), m.below(tile.rows, 30000)
	for i := range kinds {
		kinds[i] = int32(i % 2 * soundPanels * tile.width)
		if i%3 > 0 {
			continue
		}
		limits[i] = starts[kinds[i]] // the first sum of every third row is at its limit
		for g := range groups {
			limits[i] += dot4(x[i*stride+g], y[g*tile.width])
		}
	}
	size := soundPanels * tile.width
	run := func(t *assignTile) (hits []uint64, most, sums []int32) {
		hits, most = make([]uint64, tile.rows*words), slices.Repeat([]int32{math.MinInt32}, 16*tile.rows)
		sums = make([]int32, tile.rows*size)
		t.near(hits, words, 0, limits, starts, kinds, x, stride, y, groups, soundPanels)
		t.most(most, sums, size, starts, kinds, x, stride, y, groups, soundPanels)
		return hits, most, sums
	}
	loop := assignTileGeneric(tile.rows, tile.width)
	hits, most, sums := run(tile)
	wantHits, wantMost, wantSums := run(&loop)
	return slices.Equal(hits, wantHits) && slices.Equal(most, wantMost) && slices.Equal(sums, wantSums)
}
