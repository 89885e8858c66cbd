package rows

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/kernelops"
)

// Chunk is some records of a block as dense vectors, valid until the next.
type Chunk struct {
	X       kernelops.Matrix
	IDs     []dataset.Identity
	Class   []int32
	Weights []float32 // nil where each weighs 1
}

// Weight is what a record counts.
func (c Chunk) Weight(i int) float64 {
	if c.Weights == nil {
		return 1
	}
	return float64(c.Weights[i])
}

// Chunks cuts vectors into chunks of at most that number of records, and visits them. Sparse ones are filled up with
// their zeros in the memory of buf.
func Chunks(
	ctx context.Context, v features.Vectors, most int, buf *[]float32, visit func(Chunk) error,
) error {
	for from := 0; from < v.Rows; from += most {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := visit(ChunkOf(v, from, min(from+most, v.Rows), buf)); err != nil {
			return err
		}
	}
	return nil
}

// ChunkOf is the records from up to, not including, to.
func ChunkOf(v features.Vectors, from, to int, buf *[]float32) Chunk {
	all := Of(v)
	c := Chunk{X: all.Tile(from, to, buf), IDs: v.IDs[from:to], Class: v.Class[from:to]}
	if v.Weights != nil {
		c.Weights = v.Weights[from:to]
	}
	return c
}
