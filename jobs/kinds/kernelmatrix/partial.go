package kernelmatrix

import (
	"iter"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/learn/sampling"
)

// written is what some neighboring leaves of a row wrote.
type written struct {
	tiles  []Tile
	sample *sampling.Sample // of the leaf on the diagonal; nil for none
	roads  *kernels.Roads   // nil for kernels without
}

// Fields lists the tiles, how their values were found, and the sample.
func (w *written) Fields(f *jobs.Fields) {
	tileFields(f, &w.tiles)
	if f.Has("sample.keys", w.sample != nil) {
		sampling.Fields(f, "sample", &w.sample) // of package sampling; only on the diagonal
	}
	kernels.PartialRoads(f, &w.roads)
}

func tileFields(f *jobs.Fields, tiles *[]Tile) {
	var names, sums jobs.Strings
	var places []int64
	for _, t := range *tiles {
		names.Append([]byte(t.Name))
		sums.Append([]byte(t.SHA256))
		places = append(places, t.Size, t.Row, t.Column, int64(t.Rows), int64(t.Columns))
	}
	f.Strings("tiles", &names)
	f.Strings("tiles.sha256", &sums)
	n := names.Len()
	f.Require(sums.Len() == n, "%d tiles with %d digests", n, sums.Len())
	jobs.List(f, "tiles.places", &places, n, 5) // size, row, column, rows, columns
	if !f.Reading() {
		return
	}
	*tiles = make([]Tile, n)
	for i := range *tiles {
		p := places[5*i:]
		f.Require(p[3] >= 1 && p[3] <= maxTile && p[4] >= 1 && p[4] <= maxTile, "a tile of %d x %d", p[3], p[4])
		(*tiles)[i] = Tile{File: jobs.File{Name: string(names.At(i)), SHA256: string(sums.At(i)), Size: p[0]},
			Row: p[1], Column: p[2], Rows: int(p[3]), Columns: int(p[4])}
	}
}

// plus lists the tiles of neighbors in a row. The sample, of the leaf on the diagonal, is in the first.
func (w *written) plus(right *written) (*written, error) {
	if right.sample != nil {
		return nil, jobs.Malformed("a sample off the diagonal")
	}
	if (w.roads == nil) != (right.roads == nil) {
		return nil, jobs.Malformed("tiles of two kernels")
	}
	w.tiles = append(w.tiles, right.tiles...)
	if w.roads != nil {
		w.roads.Add(*right.roads)
	}
	return w, nil
}

// gather gathers the tiles of all trees, how their values were found, and the samples into sample, if that is one.
func gather(roots iter.Seq2[*written, error], kernel kernels.Function, sample *sampling.Sample) (all written,
	err error) {
	all.roads = &kernels.Roads{}
	for root, err := range roots {
		if err != nil {
			return all, err
		}
		if (root.roads != nil) != kernel.HasRoads() {
			return all, jobs.Malformed("tiles of another kernel")
		}
		if root.roads != nil {
			all.roads.Add(*root.roads)
		}
		if sample != nil && root.sample != nil {
			if err := sample.Merge(root.sample); err != nil {
				return all, err
			}
		}
		all.tiles = append(all.tiles, root.tiles...)
	}
	return all, nil
}
