package kernelmean

import (
	"context"

	"github.com/gram-compute/gram/kernelops"
)

const (
	productFloats = 1 << 20 // float64 products held at a time, unless a class alone has more rows
	tileColumns   = 1 << 10 // columns and
	tileCells     = 1 << 17 // values of a tile of the base at most: 1 MiB of float64, which stays in the cache
)

// expansion finds inner products in float64, where every product of two float32 is exact, each sum in the order of
// the columns. One goroutine.
type expansion struct {
	ops      *kernelops.Set
	products []float64 // of some queries: a row each
	tile     []float64 // of the base, column by column
}

// queries is how many queries are multiplied with rows at a time.
func (e *expansion) queries(rows int) int { return max(1, productFloats/max(1, rows)) }

// multiply sets products to those of the chosen rows of x with the rows of a base from first on. It takes time in
// proportion to chosen * rows * width, columns that are 0 in x, or in sparse rows, left out.
func (e *expansion) multiply(ctx context.Context, x kernelops.Matrix, chosen []int, b *base, first, rows int) error {
	e.products = kernelops.Resize(e.products, len(chosen)*rows)
	clear(e.products)
	if b.Sparse.Indptr != nil {
		return e.multiplySparse(ctx, x, chosen, b, first, rows)
	}
	columns := min(max(1, b.Width), tileColumns)
	step := tileCells / columns
	for from := 0; from < rows; from += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(step, rows-from)
		for column := 0; column < b.Width; column += columns {
			width := min(columns, b.Width-column)
			e.turn(b, first+from, n, column, width)
			for i, query := range chosen {
				e.addTile(e.products[i*rows+from:][:n], x.Row(query)[column:column+width])
			}
		}
	}
	return nil
}

// turn makes the tile of n rows from first on and some columns.
func (e *expansion) turn(b *base, first, n, column, width int) {
	if cap(e.tile) < n*width {
		e.tile = make([]float64, tileCells)
	}
	e.tile = e.tile[:n*width]
	for i := range n {
		for j, v := range b.Dense[(first+i)*b.Width+column:][:width] {
			e.tile[j*n+i] = float64(v)
		}
	}
}

// addTile adds the products of some columns of a query with the rows of the tile. A 0 adds nothing to any.
func (e *expansion) addTile(products []float64, x []float32) {
	n := len(products)
	for j, v := range x {
		if v != 0 {
			e.ops.AddScaled(products, e.tile[j*n:(j+1)*n], float64(v))
		}
	}
}

func (e *expansion) multiplySparse(
	ctx context.Context, x kernelops.Matrix, chosen []int, b *base, first, rows int,
) error {
	for i, query := range chosen {
		if err := ctx.Err(); err != nil {
			return err
		}
		row, products := x.Row(query), e.products[i*rows:(i+1)*rows]
		for k := range products {
			indices, values := b.Sparse.Row(first + k)
			sum := 0.0
			for p, j := range indices {
				sum += float64(float64(row[j]) * float64(values[p]))
			}
			products[k] = sum
		}
	}
	return nil
}
