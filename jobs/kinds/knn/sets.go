package knn

import (
	"context"

	"github.com/gram-compute/gram/jobs/learn/inverted"
	"github.com/gram-compute/gram/jobs/learn/rows"
)

// setSearch is what a search of sets by their elements has in memory. One goroutine at a time.
type setSearch struct {
	block    inverted.Block
	sums     inverted.Sums
	elements []int32
	xSizes   []float64 // of each query
	ySizes   []float64 // of each row of the block
}

// sets enters the rows of base, by hamming and jaccard, as sets of the features that are not 0.
func (s *searcher) sets(ctx context.Context, base *points) error {
	c := &s.setSearch
	if len(c.xSizes) < s.queries.N {
		c.xSizes = c.sizes(nil, s.queries, 0, s.queries.N)
	}
	for from := 0; from < base.N; from += inverted.MostRows {
		to := min(base.N, from+inverted.MostRows)
		c.block.BuildSets(&base.Rows, from, to)
		c.ySizes = c.sizes(c.ySizes, base, from, to)
		if err := s.each(ctx, func(q int) error { return s.overlaps(q, base, from) }); err != nil {
			return err
		}
	}
	return nil
}

func (c *setSearch) sizes(dst []float64, p *points, from, to int) []float64 {
	dst = dst[:0]
	for i := from; i < to; i++ {
		c.elements = inverted.Columns(&p.Rows, i, c.elements)
		dst = append(dst, float64(len(c.elements)))
	}
	return dst
}

// overlaps enters the rows of the block, by the elements that each shares with query q.
func (s *searcher) overlaps(q int, base *points, first int) error {
	c := &s.setSearch
	c.elements = inverted.Columns(&s.queries.Rows, q, c.elements)
	c.block.Shared(&c.sums, c.elements)
	x, worst := c.xSizes[q], s.found.worst(q)
	tied := s.found.open(q, worst)
	sums, ids := c.sums[:len(c.ySizes)], base.order64(first)
	for r, y := range c.ySizes {
		key := s.of.ofSets(x, y, sums[r])
		if key > worst || key == worst && ids[r] >= tied {
			continue
		}
		if err := s.enter(q, key, base, first+r); err != nil {
			return err
		}
		worst = s.found.worst(q)
		tied = s.found.open(q, worst)
	}
	return nil
}

// ofSets is the key of two sets by their sizes and what they share, which are exact: the elements that one of them has,
// by jaccard their share of those that either has.
func (m metric) ofSets(x, y, shared float64) float64 {
	differ := (x + y) - float64(2*shared)
	if m == jaccard && differ > 0 {
		return differ / ((x + y) - shared)
	}
	return differ
}

// fewElements reports whether sets of bits are so small that a search by elements takes less time than one by words, by
// the first block.
func (s *searcher) fewElements(base *points) bool {
	if base.Form != rows.Bits || base.Words < 2*wordsOfPair {
		return false
	}
	c := &s.setSearch
	c.block.BuildSets(&base.Rows, 0, min(base.N, inverted.MostRows))
	shared := 0.0
	for q := range s.queries.N {
		c.elements = inverted.Columns(&s.queries.Rows, q, c.elements)
		for _, j := range c.elements {
			shared += float64(c.block.Entries(j))
		}
	}
	pairs := float64(float64(s.queries.N) * float64(c.block.N))
	return float64(wordsOfPair*shared) <= float64(pairs*float64(base.Words-wordsOfPair))
}

// wordsOfPair is how many words two sets of bits are compared by in the time that a pair of them takes by elements, or
// an element that they share, about.
const wordsOfPair = 8
