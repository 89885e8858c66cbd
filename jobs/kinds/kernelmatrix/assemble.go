package kernelmatrix

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/gram-compute/gram/jobs/learn/parts"
)

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
