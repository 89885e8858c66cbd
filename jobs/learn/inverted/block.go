// Package inverted keeps sparse rows by column, so that what is the sum over the columns that two rows share takes time
// by the entries in these columns (term at a time: Zobel and Moffat, "Inverted files for text search engines", ACM
// Computing Surveys 38(2), 2006, section 3).
//
// All sums are float64 and add the entries of the query in its own order, for each row of the block. A row that shares
// no column with the query is told from one whose sum is 0: see Apart.
package inverted

import (
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
)

// MostRows is how many rows a block has at most: their sums stay in the nearest caches.
const MostRows = 4096

// Sums has a sum for each row of a block.
type Sums [MostRows]float64

// apart is the sum of a row that shares no column with the query. No sum of a row that does is it: a sum begins with
// it, -0, to which a positive or negative number or +0 is added, and x - x is +0.
var apart = math.Copysign(0, -1)

// none are the sums of rows that share nothing.
var none = func() (s Sums) {
	for i := range s {
		s[i] = apart
	}
	return s
}()

// Apart reports whether a sum is that of a row that shares no column with the query, or none in which both have other
// values than 0.
func Apart(sum float64) bool { return math.Float64bits(sum) == 1<<63 }

// Block is some rows by column. One goroutine at a time; the zero value is a block of no rows.
type Block struct {
	N       int     // rows
	slot    []int32 // of each column, 1 plus its place among columns; 0 where no row has it
	columns []int32
	ends    []int32 // of each of columns, where its entries end
	rows    []uint16
	values  []float32
	fill    []int32
	indices []int32 // of a row as a set
	full    full
}

// Build makes the block anew of the rows from up to, not including, to, at most MostRows: sparse ones with their
// values, others as sets of the columns in which they are not 0. It takes time linear in their entries, and at first in
// the width.
func (b *Block) Build(r *rows.Rows, from, to int) { b.build(r, from, to, r.Form != rows.Sparse) }

// BuildSets is Build of rows of any form as sets.
func (b *Block) BuildSets(r *rows.Rows, from, to int) { b.build(r, from, to, true) }

func (b *Block) build(r *rows.Rows, from, to int, sets bool) {
	for _, j := range b.columns {
		b.slot[j] = 0
	}
	if len(b.slot) < r.Width {
		b.slot = make([]int32, r.Width)
	}
	b.N, b.columns, b.ends = to-from, b.columns[:0], b.ends[:0]
	entries := 0
	for i := from; i < to; i++ {
		indices, _ := b.row(r, i, sets)
		entries += len(indices)
		for _, j := range indices {
			if b.slot[j] == 0 {
				b.columns, b.ends = append(b.columns, j), append(b.ends, 0)
				b.slot[j] = int32(len(b.columns))
			}
			b.ends[b.slot[j]-1]++
		}
	}
	b.fill = append(b.fill[:0], b.ends...)
	end := int32(0)
	for c, n := range b.ends {
		b.fill[c] = end
		end += n
		b.ends[c] = end
	}
	b.enter(r, from, entries, sets)
	if b.full.forget(); !sets {
		b.fillOut()
	}
}

// enter puts the entries of the rows below their columns.
func (b *Block) enter(r *rows.Rows, from, entries int, sets bool) {
	b.rows, b.values = slices.Grow(b.rows[:0], entries)[:entries], b.values[:0]
	if !sets {
		b.values = slices.Grow(b.values, entries)[:entries]
	}
	for i := range b.N {
		indices, values := b.row(r, from+i, sets)
		for e, j := range indices {
			at := &b.fill[b.slot[j]-1]
			b.rows[*at] = uint16(i)
			if !sets {
				b.values[*at] = values[e]
			}
			*at++
		}
	}
}

// row is a row by the columns that it has; a set has no values.
func (b *Block) row(r *rows.Rows, i int, sets bool) (indices []int32, values []float32) {
	if !sets {
		return r.Sparse.Row(i)
	}
	b.indices = Columns(r, i, b.indices)
	return b.indices, nil
}

// Entries is how many entries of the block a column has.
func (b *Block) Entries(column int32) int {
	from, to := b.span(column)
	return int(to - from)
}

func (b *Block) span(column int32) (from, to int32) {
	c := b.slot[column]
	if c == 0 {
		return 0, 0
	}
	if c > 1 {
		from = b.ends[c-2]
	}
	return from, b.ends[c-1]
}

// column is the entries of a column, by row.
func (b *Block) column(column int32) ([]uint16, []float32) {
	from, to := b.span(column)
	return b.rows[from:to], b.values[from:to]
}

// holders are the rows that have a column.
func (b *Block) holders(column int32) []uint16 {
	from, to := b.span(column)
	return b.rows[from:to]
}

// Dots sets sums to the products of the rows with a query: each is the sum of exact products, ascending by the columns
// of the query.
func (b *Block) Dots(sums *Sums, indices []int32, values []float32, ops *kernelops.Set) {
	copy(sums[:b.N], none[:])
	for e, j := range indices {
		x := float64(values[e])
		if column := b.full.column(b.slot[j], b.N); column != nil && x > 0 {
			ops.Mixed.Axpy(sums[:b.N], column, x)
			continue
		}
		held, of := b.column(j)
		of = of[:len(held)]
		for i, r := range held {
			sums[r%MostRows] += float64(x * float64(of[i]))
		}
	}
}

// Common sets sums to what the magnitudes of the rows and of a query have in common: the sum of |x| + |y| - |x-y|,
// whose terms are at least 0.
func (b *Block) Common(sums *Sums, indices []int32, values []float32) {
	copy(sums[:b.N], none[:])
	for e, j := range indices {
		x := float64(values[e])
		held, of := b.column(j)
		of = of[:len(held)]
		for i, r := range held {
			y := float64(of[i])
			sums[r%MostRows] += (math.Abs(x) + math.Abs(y)) - math.Abs(x-y)
		}
	}
}

// Farthest sets sums to the largest |x-y| of the columns that a row and a query share.
func (b *Block) Farthest(sums *Sums, indices []int32, values []float32) {
	copy(sums[:b.N], none[:])
	for e, j := range indices {
		x := float64(values[e])
		held, of := b.column(j)
		of = of[:len(held)]
		for i, r := range held {
			sums[r%MostRows] = max(0, sums[r%MostRows], math.Abs(x-float64(of[i])))
		}
	}
}

// Shared sets sums to the number of columns that a row and a query share.
func (b *Block) Shared(sums *Sums, indices []int32) {
	copy(sums[:b.N], none[:])
	for _, j := range indices {
		for _, r := range b.holders(j) {
			sums[r%MostRows]++
		}
	}
}
