// Package ranks finds numbers of given ranks in the columns of a table: exactly, in four passes over the records,
// within memory that does not grow with them.
//
// A number's key is its bits in an order that ascends as numbers do. Each pass counts the next eight bits of the keys
// that begin as the wanted one does, and so finds them: a radix search from the top, as in Knuth, "The Art of Computer
// Programming", volume 3, section 5.2.5. Counts are integers, so no order of records changes a rank's number.
package ranks

import (
	"math"

	"github.com/gram-compute/gram/jobs"
)

// Passes is how many passes over the records a search takes.
const Passes = 4

const bins = 256

// key orders float32 as numbers; -0 is 0.
func key(v float32) uint32 {
	b := math.Float32bits(v + 0) // -0 + 0 is 0
	if b>>31 == 1 {
		return ^b
	}
	return b | 1<<31
}

// number is the inverse of key.
func number(k uint32) float32 {
	if k>>31 == 1 {
		return math.Float32frombits(k &^ (1 << 31))
	}
	return math.Float32frombits(^k)
}

// Search is how far the search has come. It is not changed while a pass counts.
type Search struct {
	width  int
	ranks  []int64  // from 0, of every column
	pass   int      // passes that are over
	prefix []uint32 // [ranks x width]: the first bits of the key of each rank
	below  []int64  // [ranks x width]: the keys that begin with less
}

// New begins a search for the numbers of the given ranks in each of width columns.
func New(width int, ranks []int64) *Search {
	n := width * len(ranks)
	return &Search{width: width, ranks: ranks, prefix: make([]uint32, n), below: make([]int64, n)}
}

// Fields lists the search.
func (s *Search) Fields(f *jobs.Fields) {
	jobs.List(f, "ranks", &s.ranks)
	f.Int("ranks.width", &s.width, 1, math.MaxInt32)
	jobs.Enum(f, "ranks.pass", &s.pass, 0, Passes)
	jobs.List(f, "ranks.prefix", &s.prefix, len(s.ranks), s.width)
	jobs.List(f, "ranks.below", &s.below, len(s.ranks), s.width)
}

// Of returns a fault if the search has another width or another number of ranks.
func (s *Search) Of(width, ranks int) error {
	if s.width != width || len(s.ranks) != ranks {
		return jobs.Malformed("a search of %d ranks of %d columns, not %d of %d", len(s.ranks), s.width, ranks, width)
	}
	return nil
}

// Done reports whether the numbers are found.
func (s *Search) Done() bool { return s.pass == Passes }

// At is the number of a rank, by its place among the ranks, in a column; once the search is done.
func (s *Search) At(rank, column int) float32 { return number(s.prefix[rank*s.width+column]) }

// Counts are those of one pass over some records: for each rank and column, the keys that have its prefix, by their
// next eight bits.
type Counts struct{ of []int64 }

// NewCounts counts nothing yet.
func (s *Search) NewCounts() *Counts { return &Counts{make([]int64, len(s.prefix)*bins)} }

// Add counts a row of finite numbers. O(ranks x width).
func (s *Search) Add(c *Counts, row []float32) {
	known := 8 * s.pass
	for j, v := range row {
		k := key(v)
		next := int(k << known >> 24)
		for at := j; at < len(s.prefix); at += s.width {
			if k>>(32-known) == s.prefix[at] { // a shift by 32 leaves 0
				c.of[at*bins+next]++
			}
		}
	}
}

// Plus adds the counts of other records.
func (c *Counts) Plus(other *Counts) (*Counts, error) {
	if len(c.of) != len(other.of) {
		return nil, jobs.Malformed("%d and %d counts of ranks", len(c.of), len(other.of))
	}
	sum := &Counts{make([]int64, len(c.of))}
	for i, n := range c.of {
		sum.of[i] = n + other.of[i]
	}
	return sum, nil
}

// Fields lists the counts.
func (c *Counts) Fields(f *jobs.Fields) {
	jobs.List(f, "ranks.counts", &c.of)
	f.Check(func() error {
		for _, n := range c.of {
			if n < 0 {
				return jobs.Malformed("a count of ranks below 0")
			}
		}
		return nil
	})
}

// Narrow returns the search after a pass, given the counts of all records. Counts that do not hold the ranks are
// malformed.
func (s *Search) Narrow(c *Counts) (*Search, error) {
	if len(c.of) != len(s.prefix)*bins {
		return nil, jobs.Malformed("%d counts for %d ranks of %d columns", len(c.of), len(s.ranks), s.width)
	}
	next := New(s.width, s.ranks)
	next.pass = s.pass + 1
	for at, prefix := range s.prefix {
		rank, below, bin := s.ranks[at/s.width], s.below[at], 0
		for ; bin < bins && below+c.of[at*bins+bin] <= rank; bin++ {
			below += c.of[at*bins+bin]
		}
		if bin == bins {
			return nil, jobs.Malformed("column %d has no number of rank %d", at%s.width, rank)
		}
		next.prefix[at], next.below[at] = prefix<<8|uint32(bin), below
	}
	return next, nil
}
