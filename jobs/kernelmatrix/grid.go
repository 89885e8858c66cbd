package kernelmatrix

import (
	"math"

	"github.com/gram-compute/gram/jobs"
)

// Arrays of the state of phase "tiles", beside those of features.Space.
const (
	gridRows    = "grid.rows"    // I64: records of each shard of rows
	gridColumns = "grid.columns" // I64: of columns; absent where the matrix is symmetric
)

// grid is how shards lie along the matrix.
type grid struct {
	symmetric     bool
	rows, columns []int64 // records of each shard
}

func (g grid) put(a jobs.Arrays) {
	jobs.Put(a, gridRows, g.rows)
	if !g.symmetric {
		jobs.Put(a, gridColumns, g.columns)
	}
}

func (p *plan) readGrid(a jobs.Arrays) (g grid, err error) {
	g.symmetric = !p.queries
	if g.rows, err = jobs.Get[int64](a, gridRows); err != nil {
		return grid{}, err
	}
	if g.columns = g.rows; !g.symmetric {
		if g.columns, err = jobs.Get[int64](a, gridColumns); err != nil {
			return grid{}, err
		}
	}
	for _, axis := range [][]int64{g.rows, g.columns} {
		total := int64(0)
		for _, n := range axis {
			if n < 0 || n > math.MaxInt64-total {
				return grid{}, jobs.Malformed("a shard of %d records after %d", n, total)
			}
			total += n
		}
	}
	return g, nil
}

// maxPairs is how many trees a round may have.
const maxPairs = 16 << 10

// checkPairs refuses more pairs of shards than there may be trees, before a list of them is made.
func (g grid) checkPairs() error {
	if n := g.trees(); n > maxPairs {
		return limitFault("Raise input.shard_bytes, so that there are fewer shards.",
			"%d and %d shards have %d pairs; a kernel matrix takes up to %d", len(g.rows), len(g.columns), n, maxPairs)
	}
	return nil
}

// trees is the number of pairs of shards.
func (g grid) trees() int {
	if g.symmetric {
		return len(g.rows) * (len(g.rows) + 1) / 2
	}
	return len(g.rows) * len(g.columns)
}

// pair returns the shards of a tree: from left to right, then down.
func (g grid) pair(tree int) (row, column int, err error) {
	if tree < 0 || tree >= g.trees() {
		return 0, 0, jobs.Malformed("tree %d of %d pairs of shards", tree, g.trees())
	}
	if !g.symmetric {
		return tree / len(g.columns), tree % len(g.columns), nil
	}
	for tree >= len(g.columns)-row {
		tree -= len(g.columns) - row
		row++
	}
	return row, row + tree, nil
}

// first is the number of the first record of a shard.
func first(axis []int64, shard int) int64 {
	total := int64(0)
	for _, n := range axis[:shard] {
		total += n
	}
	return total
}

func (g grid) height() int64 { return first(g.rows, len(g.rows)) }
func (g grid) width() int64  { return first(g.columns, len(g.columns)) }

// checkSize holds the bytes of the elements against a bound.
func (g grid) checkSize(most int64) error {
	rows, columns := g.height(), g.width()
	elements := most / 4
	if g.symmetric && elements < math.MaxInt64/2 {
		elements *= 2 // a half is stored
	}
	if rows > maxRecords || columns > maxRecords || rows > 0 && columns > elements/rows {
		return limitFault("Raise params.max_bytes, or take fewer records.",
			"a kernel matrix of %d x %d float32 does not fit into params.max_bytes, %d", rows, columns, most)
	}
	return nil
}
