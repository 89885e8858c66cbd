package knn

import (
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
)

// narrow is a search of products through rows of 8 bits.
type narrow struct {
	helps bool      // with the rows of the base that are in the tile
	left  []float32 // queries that were not searched
}

// byBytes reports whether the rows of a base with the largest products or cosines may be searched through rows of 8
// bits: as those of l2, in tiles of many rows, whose matrix of products is not written.
func (s *searcher) byBytes(base *points) bool {
	return (s.of == innerProduct || s.of == cosine) && s.found.k > 0 && kernelops.HasBytes(s.ops) &&
		kernelops.BytesPay(min(base.N, rankedRows), base.Width, s.queries.N)
}

// rankedProducts is inner_product and cosine for k. Ties go to the lower row. Where 8 bits say too little, dots does
// the search.
func (s *searcher) rankedProducts(t tile) error {
	if t.firstX == 0 { // the next tiles have the same rows of the base
		s.narrow.helps = s.packed.PackProducts(s.ops, t.y, s.of == cosine, s.queries.N, &s.ws)
	}
	if !s.narrow.helps {
		return s.inParts(t, t.x, func(i int) int { return t.firstX + i })
	}
	k := s.room(t)
	var some []int
	for i, left := range s.packed.SearchProducts(s.ids, s.dists, k, t.x, s.most, &s.ws) {
		if left {
			some = append(some, i)
		} else if err := s.enterAll(t, i, k); err != nil {
			return err
		}
	}
	s.narrow.left = kernelops.Resize(s.narrow.left, len(some)*t.x.Cols)
	x := kernelops.Matrix{Data: s.narrow.left, Rows: len(some), Cols: t.x.Cols, Stride: t.x.Cols}
	for n, i := range some {
		copy(x.Row(n), t.x.Row(i))
	}
	return s.inParts(t, x, func(n int) int { return t.firstX + some[n] })
}

// inParts is dots for some rows of a tile's queries, in parts whose products fit in the cache. number is that of a row
// among the queries.
func (s *searcher) inParts(t tile, x kernelops.Matrix, number func(i int) int) error {
	for firstY := 0; firstY < t.y.Rows && x.Rows > 0; firstY += rows.BaseRows {
		part := t
		part.firstY, part.y = t.firstY+firstY, t.y.RowRange(firstY, min(t.y.Rows, firstY+rows.BaseRows))
		s.yNorms = norms(s.yNorms, part.y)
		for first := 0; first < x.Rows; first += rows.QueryRows {
			part.x = x.RowRange(first, min(x.Rows, first+rows.QueryRows))
			if err := s.dotsOf(part, func(i int) int { return number(first + i) }); err != nil {
				return err
			}
		}
	}
	return nil
}
