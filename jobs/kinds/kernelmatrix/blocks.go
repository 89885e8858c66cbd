package kernelmatrix

import (
	"context"
	"iter"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

const (
	// maxBlockBytes bounds a block of rows.
	maxBlockBytes = 16 << 20
	// maxWidth is that of a row that fills a block alone.
	maxWidth = 1 << 22
)

// side is the most records of a block of vectors of a width.
func (p Params) side(width int) (int, error) {
	if width > maxWidth {
		return 0, protocol.InputFault(protocol.CodeInputLimit,
			"vectors of %d columns; a kernel matrix takes at most %d", width, maxWidth).
			WithHint("Keep fewer terms or columns.")
	}
	return min(p.Tile, max(1, maxBlockBytes/(4*max(1, width)))), nil
}

// block is some consecutive records of a shard as dense rows.
type block struct {
	first  int64 // number of the first of them within the matrix
	x      kernelops.Matrix
	points kernels.Points // of x
	ids    []dataset.Identity
}

// axis reads the blocks of a shard, for its rows or for its columns. It keeps memory between
// blocks: one pass at a time.
type axis struct {
	read   func(context.Context) iter.Seq2[*dataset.Block, error]
	keep   func(dataset.Identity) bool
	space  *features.Space
	kernel kernels.Function
	ops    *kernelops.Set
	first  int64
	side   int
	block  block
	data   []float32
	row    []float32 // a sparse one, filled up
}

// blocks yields the shard's blocks in order, each valid until the next.
func (a *axis) blocks(ctx context.Context) iter.Seq2[*block, error] {
	return func(yield func(*block, error) bool) {
		reader := a.space.NewReader()
		a.begin(a.first)
		for read, err := range a.read(ctx) {
			var v features.Vectors
			if err == nil {
				v, err = reader.Read(read, a.keep)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range v.Rows {
				a.add(v, i)
				if len(a.block.ids) < a.side {
					continue
				}
				if !yield(a.full(), nil) {
					return
				}
				a.begin(a.block.first + int64(a.side))
			}
		}
		if len(a.block.ids) > 0 {
			yield(a.full(), nil)
		}
	}
}

func (a *axis) begin(first int64) {
	a.block.first, a.block.ids, a.data = first, a.block.ids[:0], a.data[:0]
}

// add copies row i of some vectors.
func (a *axis) add(v features.Vectors, i int) {
	a.grow()
	a.block.ids = append(a.block.ids, v.IDs[i])
	all := rows.Of(v)
	a.data = append(a.data, all.Tile(i, i+1, &a.row).Data...)
}

// grow takes the memory of a whole block once a quarter of it is there: growing to it by and by would leave
// as much behind.
func (a *axis) grow() {
	size, full := len(a.data)+a.space.Width, a.side*a.space.Width
	if size > cap(a.data) && size >= full/4 && size <= full {
		a.data = slices.Grow(a.data, full-len(a.data))
	}
}

func (a *axis) full() *block {
	width := a.space.Width
	a.block.x = kernelops.Matrix{Data: a.data, Rows: len(a.block.ids), Cols: width, Stride: width}
	a.block.points.Set(a.kernel, a.ops, a.block.x)
	return &a.block
}

// axes are the rows and the columns of a leaf, in the space and of the kernel of like.
func (p *plan) axes(g grid, like axis, leaf jobs.Leaf, row, column int) (rows, columns *axis, err error) {
	if like.side, err = p.params.side(like.space.Width); err != nil {
		return nil, nil, err
	}
	source := jobs.Input
	keep := p.train()
	if p.queries {
		source, keep = jobs.Queries, nil
	}
	of := func(source jobs.Source, shard int) func(context.Context) iter.Seq2[*dataset.Block, error] {
		return func(ctx context.Context) iter.Seq2[*dataset.Block, error] { return leaf.Read(ctx, source, shard) }
	}
	down, across := like, like
	down.read, down.keep, down.first = of(source, row), keep, first(g.rows, row)
	across.read, across.keep, across.first = of(jobs.Input, column), p.train(), first(g.columns, column)
	return &down, &across, nil
}
