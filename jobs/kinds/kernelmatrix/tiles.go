package kernelmatrix

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/kernelops"
)

const (
	tilesName = "tiles"
	// TilesFolder is where the tiles and their index lie below the model's folder.
	TilesFolder = "tiles"
	// maxSampleBytes bounds the rows of the sample, which travel with the partials and are held several
	// times where these meet: 256 rows of 4,096 columns, fewer of more.
	maxSampleBytes = 4 << 20
)

// tilesPhase computes the matrix: a tree for each block of rows, in it a leaf for each of columns.
type tilesPhase struct{ *plan }

func (p *tilesPhase) phase() jobs.Phase {
	return jobs.MapReduce[*state, *written]{
		Name: tilesName, State: p.readState, Partial: func() *written { return new(written) },
		Map: p.compute, Merge: (*written).plus, Forest: p.finish, Gathers: p.gathers,
	}.Phase()
}

// state is what the tiles are computed from.
type state struct {
	space  *features.Space
	grid   grid
	kernel kernels.Function // follows from the parameters
}

// Fields lists the state.
func (s *state) Fields(f *jobs.Fields) {
	jobs.Make(f, &s.space).Fields(f)
	s.grid.Fields(f)
}

func (p *tilesPhase) readState(a jobs.Arrays) (*state, error) {
	s, err := jobs.Read(a, &state{grid: grid{symmetric: !p.queries}})
	if err != nil {
		return nil, err
	}
	s.kernel, err = p.function(s.space)
	return s, err
}

// compute computes the tiles of two blocks and writes them out.
func (p *tilesPhase) compute(ctx context.Context, s *state, leaf jobs.Leaf, ops *kernelops.Set) (*written, error) {
	space, kernel, g := s.space, s.kernel, s.grid
	row, column, err := g.pair(leaf.Tree, leaf.Index)
	if err != nil {
		return nil, err
	}
	rows, columns, err := p.axes(g, axis{space: space, kernel: kernel, ops: ops}, leaf, row, column)
	if err != nil {
		return nil, err
	}
	w := &tiler{kernel: kernel, evaluator: kernels.Evaluator{Ops: ops}, emit: leaf.Emit, symmetric: g.symmetric}
	if g.symmetric && row == column {
		w.sample, w.race = p.newSample(space), sampling.NewRace(p.seed, "kernelmatrix/psd")
	}
	if err := w.leaf(ctx, rows, columns); err != nil {
		return nil, err
	}
	out := &written{tiles: w.found, sample: w.sample}
	if kernel.HasRoads() {
		out.roads = &w.evaluator.Roads
	}
	return out, nil
}

// newSample is as large as the parameters and the memory for its rows allow; nil for none.
func (p *plan) newSample(space *features.Space) *sampling.Sample {
	if p.params.PSDSample == 0 {
		return nil
	}
	return sampling.New(max(1, min(p.params.PSDSample, maxSampleBytes/(4*max(1, space.Width)))))
}

// gathers counts two strips, both centered and one of them packed for the kernel as well, a tile and its file, and the
// sample on its way.
func (p *tilesPhase) gathers(jobs.Leaf, func(jobs.Source, int) int64) int64 {
	return 5*maxStripBytes + 2*4*int64(p.params.Tile)*int64(p.params.Tile) + 2*maxSampleBytes
}

// tiler computes the tiles of a leaf.
type tiler struct {
	kernel    kernels.Function
	evaluator kernels.Evaluator
	emit      jobs.Emit
	symmetric bool
	sample    *sampling.Sample // nil for none
	race      *sampling.Race

	values []float32
	found  []Tile
}

// leaf passes over the columns once for each strip of rows.
func (w *tiler) leaf(ctx context.Context, rows, columns *axis) error {
	for x, err := range rows.strips(ctx) {
		if err != nil {
			return err
		}
		w.offer(x)
		for y, err := range columns.strips(ctx) {
			if err != nil {
				return err
			}
			if w.symmetric && y.first < x.first {
				continue // the transpose of another
			}
			if err := w.tile(ctx, x, y); err != nil {
				return err
			}
		}
	}
	return nil
}

// offer offers a strip's records to the sample. They are drawn by their ordinals, so that neither files nor shards
// matter.
func (w *tiler) offer(x *strip) {
	if w.sample == nil {
		return
	}
	for i, ordinal := range x.ordinals {
		id := dataset.Identity{Offset: ordinal}
		w.sample.Offer(w.race.NumberTime(uint64(ordinal), 1, w.sample.Limit()), id, x.x.Row(i))
	}
}

// tile computes and writes one tile.
func (w *tiler) tile(ctx context.Context, x, y *strip) error {
	w.values = kernelops.Resize(w.values, x.x.Rows*y.x.Rows)
	k := kernelops.Matrix{Data: w.values, Rows: x.x.Rows, Cols: y.x.Rows, Stride: y.x.Rows}
	err := error(nil)
	if w.symmetric && x.first == y.first {
		err = w.evaluator.Symmetric(w.kernel, k, &x.points)
	} else {
		err = w.evaluator.Matrix(w.kernel, k, &x.points, &y.points)
	}
	if err != nil {
		return err
	}
	for i, id := range x.ids {
		if !jobs.Finite(k.Row(i)) {
			return kernels.Beyond(id, w.kernel.Kernel)
		}
	}
	file, err := w.emit(ctx, tileName(x.first, y.first), encode(k))
	if err != nil {
		return err
	}
	w.found = append(w.found, Tile{File: file, Row: x.first, Column: y.first, Rows: k.Rows, Columns: k.Cols})
	return nil
}

func tileName(row, column int64) string {
	return fmt.Sprintf("%s/%09d-%09d.npy", TilesFolder, row, column)
}

// encode writes a matrix as an npy file.
func encode(k kernelops.Matrix) []byte {
	header := parts.NPYHeader("<f4", int64(k.Rows), k.Cols)
	data := make([]byte, len(header), len(header)+4*k.Rows*k.Cols)
	copy(data, header)
	for i := range k.Rows {
		for _, v := range k.Row(i) {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
	}
	return data
}
