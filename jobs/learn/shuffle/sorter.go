package shuffle

import (
	"cmp"
	"math/bits"
	"slices"
)

// sorter sorts draws; it keeps memory between calls.
type sorter struct {
	begin  []int32 // of each bucket
	places []place
	order  []int32
}

// place is a draw and where it was.
type place struct {
	draw  uint64
	index int32
}

// sort returns the indices of draws, at most 2^31 of them, in the order of (draw, index). Draws are random, so
// that as many buckets as there are of them by their highest bits hold about one each.
func (s *sorter) sort(draws []uint64) []int32 {
	if len(draws) == 0 {
		return nil
	}
	shift := 64 - bits.Len(uint(len(draws)))
	s.begin = append(s.begin[:0], make([]int32, 1<<(64-shift)+1)...)
	for _, d := range draws {
		s.begin[d>>shift+1]++
	}
	for b := 1; b < len(s.begin); b++ {
		s.begin[b] += s.begin[b-1]
	}
	s.places, s.order = slices.Grow(s.places[:0], len(draws))[:len(draws)],
		slices.Grow(s.order[:0], len(draws))[:len(draws)]
	for i, d := range draws {
		at := &s.begin[d>>shift]
		s.places[*at] = place{d, int32(i)}
		*at++
	}
	from := int32(0)
	for _, to := range s.begin[:len(s.begin)-1] { // each begins now where the next began
		sortPlaces(s.places[from:to])
		from = to
	}
	for i, p := range s.places {
		s.order[i] = p.index
	}
	return s.order
}

func sortPlaces(p []place) {
	if len(p) < 2 {
		return
	}
	// total order: indices differ
	slices.SortFunc(p, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.draw, b.draw),
			cmp.Compare(a.index, b.index))
	})
}
