package kernelmatrix

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/kernels"
	"github.com/gram-compute/gram/jobs/parts"
	"github.com/gram-compute/gram/jobs/sampling"
	"github.com/gram-compute/gram/kernelops"
)

// ErrDamaged is wrapped where an index or a tile is not what was written.
var ErrDamaged = errors.New("damaged kernel matrix")

// Index tells a reader what the tiles of a matrix are: tiles/index.json.
type Index struct {
	SchemaVersion int    `json:"schema_version"`
	Format        string `json:"format"` // "npy"
	DType         string `json:"dtype"`  // "float32"
	// Symmetric: the tiles below the diagonal are left out, being the transposes of those above.
	Symmetric bool   `json:"symmetric"`
	Rows      int64  `json:"rows"`
	Columns   int64  `json:"columns"`
	Kernel    string `json:"kernel"` // for people
	Tiles     []Tile `json:"tiles"`
}

// Tile is a file of consecutive rows and columns of the matrix.
type Tile struct {
	jobs.File
	Row     int64 `json:"row"`    // of the first element
	Column  int64 `json:"column"` // of the first element
	Rows    int   `json:"rows"`
	Columns int   `json:"columns"`
}

// ReadIndex reads an index strictly: its tiles lie within the matrix and have as many elements, or
// with their transposes, as it has.
func ReadIndex(data []byte) (Index, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var x Index
	if err := dec.Decode(&x); err != nil {
		return Index{}, fmt.Errorf("%w: index: %w", ErrDamaged, err)
	}
	if x.SchemaVersion != 1 || x.Format != parts.NPY || x.DType != dtype {
		return Index{}, fmt.Errorf("%w: index: version %d, format %q, dtype %q", ErrDamaged, x.SchemaVersion, x.Format, x.DType)
	}
	if err := x.check(); err != nil {
		return Index{}, fmt.Errorf("%w: index: %w", ErrDamaged, err)
	}
	return x, nil
}

// maxRecords keeps products of two counts within int64.
const maxRecords = 1 << 31

const dtype = "float32"

// check holds every tile against the matrix, and their elements together against its own.
func (x Index) check() error {
	if x.Rows < 0 || x.Columns < 0 || x.Rows > maxRecords || x.Columns > maxRecords || x.Symmetric && x.Rows != x.Columns {
		return fmt.Errorf("a matrix of %d x %d, symmetric: %v", x.Rows, x.Columns, x.Symmetric)
	}
	elements := int64(0)
	for _, t := range x.Tiles {
		if !x.holds(t) {
			return fmt.Errorf("the tile %q of %d x %d at (%d, %d) is none of %d x %d", t.Name, t.Rows, t.Columns, t.Row, t.Column, x.Rows, x.Columns)
		}
		elements += int64(t.Rows) * int64(t.Columns)
		if x.mirrored(t) {
			elements += int64(t.Rows) * int64(t.Columns)
		}
		if elements > x.Rows*x.Columns {
			break
		}
	}
	if elements != x.Rows*x.Columns {
		return fmt.Errorf("%d tiles have not the elements of %d x %d", len(x.Tiles), x.Rows, x.Columns)
	}
	return nil
}

// holds says whether a tile is one of the matrix.
func (x Index) holds(t Tile) bool {
	switch {
	case t.Rows < 1 || t.Columns < 1 || t.Rows > maxTile || t.Columns > maxTile,
		t.Row < 0 || t.Column < 0 || t.Row > x.Rows-int64(t.Rows) || t.Column > x.Columns-int64(t.Columns):
		return false
	case !x.Symmetric:
		return true
	case t.Row == t.Column:
		return t.Rows == t.Columns
	}
	return t.Column >= t.Row+int64(t.Rows)
}

// mirrored says whether the transpose of a tile is another part of the matrix.
func (x Index) mirrored(t Tile) bool { return x.Symmetric && t.Row != t.Column }

// bytesOf is the size of all tiles.
func bytesOf(tiles []Tile) int64 {
	total := int64(0)
	for _, t := range tiles {
		total += t.Size
	}
	return total
}

// Arrays of a partial.
const (
	partNames  = "tiles"
	partSHA256 = "tiles.sha256"
	partPlaces = "tiles.places" // I64 [tiles, 5]: size, row, column, rows, columns
	partSample = "sample"       // of package sampling; only on the diagonal
)

func (w *tiler) partial() jobs.Arrays {
	a := jobs.Arrays{}
	putTiles(a, w.found)
	if w.sample != nil {
		w.sample.Put(a, partSample)
	}
	w.evaluator.Roads.Put(a, w.kernel)
	return a
}

func putTiles(a jobs.Arrays, tiles []Tile) {
	names, sums, places := make([]string, len(tiles)), make([]string, len(tiles)), make([]int64, 0, 5*len(tiles))
	for i, t := range tiles {
		names[i], sums[i] = t.Name, t.SHA256
		places = append(places, t.Size, t.Row, t.Column, int64(t.Rows), int64(t.Columns))
	}
	a.PutStrings(partNames, jobs.StringsOf(names...))
	a.PutStrings(partSHA256, jobs.StringsOf(sums...))
	jobs.Put(a, partPlaces, places, len(names), 5)
}

// sampled reports whether a partial has a sample.
func sampled(a jobs.Arrays) bool {
	_, drawn := a[partSample+".keys"]
	return drawn
}

// readTiles reads what putTiles wrote.
func readTiles(a jobs.Arrays) ([]Tile, error) {
	names, err := a.Strings(partNames)
	if err != nil {
		return nil, err
	}
	sums, err := a.Strings(partSHA256)
	if err != nil {
		return nil, err
	}
	places, err := jobs.Get[int64](a, partPlaces, names.Len(), 5)
	if err != nil {
		return nil, err
	}
	if sums.Len() != names.Len() {
		return nil, jobs.Malformed("%d tiles with %d digests", names.Len(), sums.Len())
	}
	tiles := make([]Tile, names.Len())
	for i := range tiles {
		p := places[5*i:]
		if p[3] < 1 || p[3] > maxTile || p[4] < 1 || p[4] > maxTile {
			return nil, jobs.Malformed("a tile of %d x %d", p[3], p[4])
		}
		tiles[i] = Tile{File: jobs.File{Name: string(names.At(i)), SHA256: string(sums.At(i)), Size: p[0]},
			Row: p[1], Column: p[2], Rows: int(p[3]), Columns: int(p[4])}
	}
	return tiles, nil
}

// readRoots gathers the tiles of all trees, how their values were found, and the sample of those that have one.
func (p *tilesPhase) readRoots(ctx context.Context, round jobs.Round, f kernels.Function, sample *sampling.Sample) ([]Tile, kernels.Roads, error) {
	var tiles []Tile
	var roads kernels.Roads
	for tree := range round.Trees {
		root, err := round.Root(ctx, tree)
		if err != nil {
			return nil, roads, err
		}
		more, err := readTiles(root)
		if err != nil {
			return nil, roads, err
		}
		some, err := kernels.ReadRoads(root, f)
		if err != nil {
			return nil, roads, err
		}
		tiles = append(tiles, more...)
		roads.Add(some)
		if sample == nil || !sampled(root) {
			continue
		}
		draws, err := sampling.Read(root, partSample)
		if err != nil {
			return nil, roads, err
		}
		sample.Merge(draws)
	}
	return tiles, roads, nil
}

// writeIndex emits the index of the tiles.
func writeIndex(ctx context.Context, emit jobs.Emit, g grid, kernel kernelops.Kernel, tiles []Tile) (jobs.File, error) {
	x := Index{SchemaVersion: 1, Format: parts.NPY, DType: dtype, Symmetric: g.symmetric, Rows: g.height(), Columns: g.width(),
		Kernel: kernels.Text(kernel), Tiles: tiles}
	if tiles == nil {
		x.Tiles = []Tile{}
	}
	if err := x.check(); err != nil {
		return jobs.File{}, jobs.Malformed("%v", err)
	}
	data, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return jobs.File{}, fmt.Errorf("kernelmatrix: encode the index: %w", err)
	}
	return emit(ctx, TilesFolder+"/"+parts.IndexName, append(data, '\n'))
}
