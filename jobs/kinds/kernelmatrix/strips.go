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
	// maxStripBytes bounds a strip of rows.
	maxStripBytes = 16 << 20
	// maxWidth is that of a row that fills a strip alone.
	maxWidth = 1 << 22
)

// side is the most records of a strip of vectors of a width.
func (p Params) side(width int) (int, error) {
	if width > maxWidth {
		return 0, protocol.InputFault(protocol.CodeInputLimit,
			"vectors of %d columns; a kernel matrix takes at most %d", width, maxWidth).
			WithHint("Keep fewer terms or columns.")
	}
	return min(p.Tile, max(1, maxStripBytes/(4*max(1, width)))), nil
}

// strip is some consecutive records of a logical block as dense rows.
type strip struct {
	first    int64 // number of the first of them within the matrix
	x        kernelops.Matrix
	points   kernels.Points // of x
	ids      []dataset.Identity
	ordinals []int64
}

// axis reads the strips of a logical block, for its rows or for its columns. It keeps memory between
// strips: one pass at a time.
type axis struct {
	read   func(context.Context) iter.Seq2[jobs.Part, error]
	keep   jobs.Choice
	space  *features.Space
	kernel kernels.Function
	ops    *kernelops.Set
	first  int64
	side   int
	strip  strip
	data   []float32
	row    []float32 // a sparse one, filled up
}

// strips yields the block's strips in order, each valid until the next.
func (a *axis) strips(ctx context.Context) iter.Seq2[*strip, error] {
	return func(yield func(*strip, error) bool) {
		reader := a.space.NewReader()
		a.begin(a.first)
		for part, err := range a.read(ctx) {
			var v features.Vectors
			if err == nil {
				v, err = reader.Read(part.Block, a.keep)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range v.Rows {
				a.add(v, i, part.First)
				if len(a.strip.ids) < a.side {
					continue
				}
				if !yield(a.full(), nil) {
					return
				}
				a.begin(a.strip.first + int64(a.side))
			}
		}
		if len(a.strip.ids) > 0 {
			yield(a.full(), nil)
		}
	}
}

func (a *axis) begin(first int64) {
	a.strip.first, a.strip.ids, a.strip.ordinals, a.data = first, a.strip.ids[:0], a.strip.ordinals[:0], a.data[:0]
}

// add copies row i of some vectors of a part, whose first record has an ordinal.
func (a *axis) add(v features.Vectors, i int, first int64) {
	a.grow()
	a.strip.ids = append(a.strip.ids, v.IDs[i])
	a.strip.ordinals = append(a.strip.ordinals, first+int64(v.Records[i]))
	all := rows.Of(v)
	a.data = append(a.data, all.Tile(i, i+1, &a.row).Data...)
}

// grow takes the memory of a whole strip once a quarter of it is there: growing to it by and by would leave
// as much behind.
func (a *axis) grow() {
	size, full := len(a.data)+a.space.Width, a.side*a.space.Width
	if size > cap(a.data) && size >= full/4 && size <= full {
		a.data = slices.Grow(a.data, full-len(a.data))
	}
}

func (a *axis) full() *strip {
	width := a.space.Width
	a.strip.x = kernelops.Matrix{Data: a.data, Rows: len(a.strip.ids), Cols: width, Stride: width}
	a.strip.points.Set(a.kernel, a.ops, a.strip.x)
	return &a.strip
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
	of := func(source jobs.Source, block int) func(context.Context) iter.Seq2[jobs.Part, error] {
		return func(ctx context.Context) iter.Seq2[jobs.Part, error] { return leaf.ReadBlock(ctx, source, block) }
	}
	down, across := like, like
	down.read, down.keep, down.first = of(source, row), keep, first(g.rows, row)
	across.read, across.keep, across.first = of(jobs.Input, column), p.train(), first(g.columns, column)
	return &down, &across, nil
}
