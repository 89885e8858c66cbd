package kernelmatrix

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/learn/parts"
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
		return Index{}, fmt.Errorf("%w: index: version %d, format %q, dtype %q", ErrDamaged, x.SchemaVersion, x.Format,
			x.DType)
	}
	if err := x.check(); err != nil {
		return Index{}, fmt.Errorf("%w: index: %w", ErrDamaged, err)
	}
	return x, nil
}

// maxRecords keeps products of two counts within int64.
const maxRecords = 1 << 31

const dtype = "float32"

// check compares every tile against the matrix, and their elements together with its own.
func (x Index) check() error {
	if x.Rows < 0 || x.Columns < 0 || x.Rows > maxRecords || x.Columns > maxRecords || x.Symmetric &&
		x.Rows != x.Columns {
		return fmt.Errorf("a matrix of %d x %d, symmetric: %v", x.Rows, x.Columns, x.Symmetric)
	}
	elements := int64(0)
	for _, t := range x.Tiles {
		if !x.holds(t) {
			return fmt.Errorf("the tile %q of %d x %d at (%d, %d) does not belong to a matrix of %d x %d", t.Name,
				t.Rows, t.Columns, t.Row,
				t.Column, x.Rows, x.Columns)
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

// writeIndex emits the index of the tiles.
func writeIndex(ctx context.Context, emit jobs.Emit, g grid, kernel kernelops.Kernel, tiles []Tile) (jobs.File, error) {
	x := Index{SchemaVersion: 1, Format: parts.NPY, DType: dtype, Symmetric: g.symmetric, Rows: g.height(),
		Columns: g.width(),
		Kernel:  kernels.Text(kernel), Tiles: tiles}
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

// Assemble writes the whole matrix as one npy file. read returns the bytes of a tile, which are held
// against their SHA-256; the memory is that of two tiles.
func Assemble(ctx context.Context, x Index, read func(context.Context, Tile) ([]byte, error), out io.WriterAt) error {
	header := parts.NPYHeader("<f4", x.Rows, int(x.Columns))
	if _, err := out.WriteAt(header, 0); err != nil {
		return err
	}
	place := func(row, column int64) int64 { return int64(len(header)) + 4*(row*x.Columns+column) }
	for _, t := range x.Tiles {
		data, err := read(ctx, t)
		if err != nil {
			return err
		}
		elements, err := t.elements(data)
		if err != nil {
			return err
		}
		if err := writeRows(out, elements, 4*t.Columns,
			func(i int) int64 { return place(t.Row+int64(i), t.Column) }); err != nil {
			return err
		}
		if !x.mirrored(t) {
			continue
		}
		if err := writeRows(out, t.transposed(elements), 4*t.Rows,
			func(i int) int64 { return place(t.Column+int64(i), t.Row) }); err != nil {
			return err
		}
	}
	return nil
}

// elements checks the bytes of a tile and returns them without the header.
func (t Tile) elements(data []byte) ([]byte, error) {
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != t.SHA256 {
		return nil, fmt.Errorf("%w: %s has another SHA-256 than the index says", ErrDamaged, t.Name)
	}
	elements, ok := bytes.CutPrefix(data, parts.NPYHeader("<f4", int64(t.Rows), t.Columns))
	if !ok || len(elements) != 4*t.Rows*t.Columns {
		return nil, fmt.Errorf("%w: %s is no npy file of %d x %d float32", ErrDamaged, t.Name, t.Rows, t.Columns)
	}
	return elements, nil
}

func (t Tile) transposed(elements []byte) []byte {
	other := make([]byte, 0, len(elements))
	for j := range t.Columns {
		for i := range t.Rows {
			other = append(other, elements[4*(i*t.Columns+j):][:4]...)
		}
	}
	return other
}

// writeRows writes rows of equal size, each at its place.
func writeRows(out io.WriterAt, elements []byte, width int, place func(row int) int64) error {
	for i := 0; len(elements) > 0; i++ {
		if _, err := out.WriteAt(elements[:width], place(i)); err != nil {
			return err
		}
		elements = elements[width:]
	}
	return nil
}
