package folds

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// strata says how many records of each class each part has, and begins the search for the draws at the cuts.
func (d dealer) strata(t *dealt, c *census, report *evaluation.Deal) error {
	if err := d.checkClasses(c); err != nil {
		return err
	}
	n := d.parts()
	t.labels = c.labels
	report.Classes = int64(len(c.records))
	dealt, all := 0, int64(0)
	for i, records := range c.records {
		sizes := make([]int64, n)
		if d.split.Folds == 0 {
			// rounding the sums keeps the share of all records, and a class has a record on either side
			share := rounded(d.split.Test, all+records) - rounded(d.split.Test, all)
			sizes[0] = min(max(1, share), records-1)
			sizes[1] = records - sizes[0]
		} else {
			for part := range sizes {
				sizes[part] = records / int64(n)
			}
			for range records % int64(n) { // go on with the part after the last that got one more
				sizes[dealt%n]++
				dealt++
			}
		}
		all += records
		below := int64(0)
		for part, size := range sizes {
			report.Add(part, string(c.labels.At(i)), size)
			if below += size; part < n-1 {
				t.search.begin(i, below)
			}
		}
	}
	t.cuts = make([]uint64, len(t.search.left))
	return nil
}

func rounded(share float64, of int64) int64 {
	return int64(math.Floor(float64(share*float64(of)) + 0.5)) //lint:checked at most of
}

// checkClasses refuses classes that cannot be spread.
func (d dealer) checkClasses(c *census) error {
	least := max(2, int64(d.split.Folds))
	switch {
	case c.over:
		return protocol.SpecFault("spec.input.split.by is label, and there are more than %d labels", maxClasses).
			WithHint("Labels that are numbers to predict are no classes: leave split.by out.")
	case len(c.records) == 0:
		return protocol.EmptyFault("no record").WithHint("Check spec.input.uri.")
	case len(c.records) == 1:
		return protocol.SpecFault("spec.input.split.by is label, and all %d records have the label %q", c.records[0],
			c.labels.At(0)).WithHint("Check spec.input.label, or leave split.by out.")
	}
	for i, records := range c.records {
		switch {
		case records < least && d.split.Folds == 0:
			return protocol.SpecFault("class %q has 1 record, and split.test needs one on each side", c.labels.At(i)).
				WithHint("Give more records of the class, or leave split.by out.")
		case records < least:
			return protocol.SpecFault("class %q has %s, fewer than there are folds (%d)", c.labels.At(i),
				protocol.Counted(records, "record"), least).
				WithHint("Take fewer folds, give more records of the class, or leave split.by out.")
		}
	}
	return nil
}

// search finds the draws that have given numbers of records of their class below them. Each cut is known to lie in a
// range of draws that share their first digits.
type search struct {
	depth int     // binary digits that are known
	class []int32 // of each cut
	left  []int64 // records of the range that are below the cut; 0 once it is found: where the range begins
}

// Fields lists the search for some cuts.
func (s *search) Fields(f *jobs.Fields, cuts int) {
	f.Int("folds.depth", &s.depth, 0, 64)
	jobs.List(f, "folds.class", &s.class, cuts)
	jobs.List(f, "folds.left", &s.left, cuts)
}

func (s *search) begin(class int, below int64) {
	s.class = append(s.class, int32(class))
	s.left = append(s.left, below)
}

// searching is a search with the ranges that it looks into: those of cuts that are not found, each once.
type searching struct {
	*dealt
	rest   jobs.Arrays
	ranges []span
	digits int // that a round finds
}

// span is a range of the draws of a class.
type span struct {
	class int32
	low   uint64
}

func (a span) compare(b span) int {
	switch {
	case a.class != b.class:
		return int(a.class) - int(b.class)
	case a.low < b.low:
		return -1
	case a.low > b.low:
		return 1
	}
	return 0
}

// cellsOfRound bounds the numbers that a round counts, unless there are more ranges.
const cellsOfRound = 1 << 18

func readSearching(state jobs.Arrays) (*searching, error) {
	t, err := jobs.Load[dealt](state)
	if err != nil {
		return nil, err
	}
	s := &searching{dealt: t, rest: state}
	for i, left := range t.search.left {
		if at := (span{t.search.class[i], t.cuts[i]}); left > 0 {
			s.ranges = append(s.ranges, at)
		}
	}
	// total order: equal ranges are one
	slices.SortFunc(s.ranges, span.compare)
	s.ranges = slices.Compact(s.ranges)
	if len(s.ranges) == 0 || t.search.depth >= 64 {
		return nil, jobs.Malformed("a search of %d digits for %d cuts", t.search.depth, len(s.ranges))
	}
	s.digits = min(64-t.search.depth, max(1, bits.Len(uint(cellsOfRound/len(s.ranges)))-1))
	return s, nil
}

// rangeOf is the number of the range that a draw of a class lies in.
func (s *searching) rangeOf(class int, draw uint64) (at int, ok bool) {
	return slices.BinarySearchFunc(s.ranges, span{int32(class), draw &^ (^uint64(0) >> s.search.depth)},
		span.compare)
}

// found are the numbers of records in the cells of the ranges.
type found struct{ cells []int64 }

// Fields lists the numbers.
func (c *found) Fields(f *jobs.Fields) { jobs.List(f, "cells", &c.cells) }

func (c *found) plus(right *found) (*found, error) {
	if len(c.cells) != len(right.cells) {
		return nil, jobs.Malformed("%d cells and %d", len(c.cells), len(right.cells))
	}
	sum := slices.Clone(c.cells)
	for i, n := range right.cells {
		sum[i] += n
	}
	return &found{sum}, nil
}

// rank counts the records of a leaf in the cells of the ranges.
func (d dealer) rank(ctx context.Context, s *searching, leaf jobs.Leaf, _ *kernelops.Set) (*found, error) {
	c, draws := &found{make([]int64, len(s.ranges)<<s.digits)}, dataset.NewDraws(d.key())
	for block, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		for i, id := range block.IDs {
			class, ok := s.class[string(block.Labels[i])]
			if !ok {
				continue // the marker says so
			}
			draw := draws.Uint64(id)
			if at, ok := s.rangeOf(class, draw); ok {
				cell := draw << s.search.depth >> (64 - s.digits)
				c.cells[at<<s.digits|int(cell)]++
			}
		}
	}
	return c, nil
}

// ranked narrows the ranges. A cut is found where a cell begins that has as many records before it. Records with the
// same draw, which are those with the same id, stay together.
func (d dealer) ranked(_ context.Context, s *searching, c *found, _ jobs.Round) (jobs.Next, error) {
	if len(c.cells) != len(s.ranges)<<s.digits {
		return jobs.Next{}, jobs.Malformed("%d cells of %d ranges", len(c.cells), len(s.ranges))
	}
	t := &dealt{labels: s.labels, cuts: slices.Clone(s.cuts),
		search: search{depth: s.search.depth + s.digits, class: s.search.class, left: slices.Clone(s.search.left)}}
	open := false
	for i, left := range s.search.left {
		if left == 0 {
			continue
		}
		at, _ := s.rangeOf(int(s.search.class[i]), s.cuts[i])
		cells := c.cells[at<<s.digits : (at+1)<<s.digits]
		cell := 0
		for cell < len(cells)-1 && left >= cells[cell] && left > 0 {
			left -= cells[cell]
			cell++
		}
		t.cuts[i] |= uint64(cell) << (64 - t.search.depth)
		if t.search.depth == 64 {
			left = 0
		}
		t.search.left[i] = left
		open = open || left > 0
	}
	next := jobs.Next{Phase: d.next, State: withDealt(s.rest, t)}
	if open {
		next.Phase = ranksName
	}
	return next, nil
}
