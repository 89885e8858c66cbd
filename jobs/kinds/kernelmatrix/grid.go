package kernelmatrix

import (
	"cmp"
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/protocol"
)

// grid is how logical blocks lie along the matrix.
type grid struct {
	symmetric     bool
	rows, columns []int64 // training records of each block
}

// Fields lists the grid; whether it is symmetric is known.
func (g *grid) Fields(f *jobs.Fields) {
	jobs.List(f, "grid.rows", &g.rows) // training records of each block of rows
	if g.symmetric {
		g.columns = g.rows
	} else {
		jobs.List(f, "grid.columns", &g.columns) // of columns; absent where the matrix is symmetric
	}
	f.Check(func() error { return cmp.Or(checkAxis(g.rows), checkAxis(g.columns)) })
}

func checkAxis(axis []int64) error {
	total := int64(0)
	for _, n := range axis {
		if n < 0 || n > math.MaxInt64-total {
			return jobs.Malformed("a block of %d records after %d", n, total)
		}
		total += n
	}
	return nil
}

// A tree is for a block of rows, a leaf of it for a block of columns. A round may have that number of trees.
const (
	maxTrees = 16 << 10
	maxPairs = 1 << 20
)

// checkPairs refuses more blocks of rows and of columns than a round has room for pairs of.
func checkPairs(rows, columns int, symmetric bool) error {
	pairs := int64(rows) * int64(columns)
	if symmetric {
		pairs = int64(rows) * int64(rows+1) / 2
	}
	if pairs <= maxPairs && rows <= maxTrees {
		return nil
	}
	if symmetric {
		return protocol.InputFault(protocol.CodeInputLimit,
			"%d blocks have %d pairs; a kernel matrix takes up to %d", rows, pairs, maxPairs).
			WithHint("Raise spec.params.block_records, so that there are fewer blocks.")
	}
	return protocol.InputFault(protocol.CodeInputLimit,
		"%d blocks of queries and %d of the input have %d pairs; a kernel matrix takes up to %d, and %d blocks of "+
			"queries",
		rows, columns, pairs, maxPairs, maxTrees).
		WithHint("Raise spec.params.block_records, so that there are fewer blocks.")
}

// trees lists the leaves of each tree: those on the diagonal and to the right of it, where the matrix is symmetric.
func (g grid) trees() []int {
	trees := make([]int, len(g.rows))
	for row := range trees {
		trees[row] = len(g.columns)
		if g.symmetric {
			trees[row] -= row
		}
	}
	return trees
}

// pair returns the blocks of a leaf.
func (g grid) pair(tree, leaf int) (row, column int, err error) {
	if g.symmetric {
		leaf += tree
	}
	if tree < 0 || tree >= len(g.rows) || leaf < 0 || leaf >= len(g.columns) {
		return 0, 0, jobs.Malformed("leaf %d of tree %d of %d and %d blocks", leaf, tree, len(g.rows), len(g.columns))
	}
	return tree, leaf, nil
}

// first is the number of the first record of a block.
func first(axis []int64, block int) int64 { return sums.Total(axis[:block]) }

// axisOf cuts records, none held out, into blocks.
func axisOf(records, each int64) (axis []int64) {
	for ; records > 0; records -= each {
		axis = append(axis, min(records, each))
	}
	return axis
}

func (g grid) height() int64 { return first(g.rows, len(g.rows)) }
func (g grid) width() int64  { return first(g.columns, len(g.columns)) }

// checkSize holds the size of all tiles of at most side records each way against a bound.
func (g grid) checkSize(most int64, side int) error {
	rows, columns := g.height(), g.width()
	if rows <= maxRecords && columns <= maxRecords {
		elements, tiles := g.written(int64(side))
		if tiles <= most/tileHeader && elements <= (most-tiles*tileHeader)/4 {
			return nil
		}
	}
	return protocol.InputFault(protocol.CodeInputLimit,
		"the tiles of a kernel matrix of %d x %d float32 do not fit into params.max_bytes, %d", rows, columns, most).
		WithHint("Raise params.max_bytes, or take fewer records.")
}

// tileHeader is the length of the header of a tile, whatever its shape.
var tileHeader = int64(len(parts.NPYHeader("<f4", maxTile, maxTile)))

// written counts the elements and the files of all tiles. Of a symmetric matrix those above the diagonal are written,
// and those on it, which are whole squares. Axes of up to maxRecords keep both within int64.
func (g grid) written(side int64) (elements, tiles int64) {
	down, squares := stripsOf(g.rows, side)
	if !g.symmetric {
		across, _ := stripsOf(g.columns, side)
		return g.height() * g.width(), down * across
	}
	return (g.height()*g.height()-squares)/2 + squares, down * (down + 1) / 2
}

// stripsOf cuts each block of an axis into strips of up to side records: how many there are, and the sum of their
// squares.
func stripsOf(axis []int64, side int64) (strips, squares int64) {
	for _, n := range axis {
		full, rest := n/side, n%side
		strips, squares = strips+full, squares+full*side*side+rest*rest
		if rest > 0 {
			strips++
		}
	}
	return strips, squares
}
