package kmeans

import (
	"context"
	"math"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/rows"
)

// chunk is some rows as dense vectors.
type chunk = rows.Chunk

// chunkFloats is how many numbers a chunk holds, so that it stays in the cache with what is made of it.
const chunkFloats = 1 << 15

// points reads blocks in chunks. One goroutine.
type points struct {
	reader *features.Reader
	dense  []float32 // where sparse rows are filled up
	rows   int
}

func newPoints(space *features.Space) *points {
	return &points{reader: space.NewReader(), rows: min(1024, max(16, chunkFloats/space.Width))}
}

// leaf visits the training rows of a leaf in order; again says that an earlier round has done so.
func (j job) leaf(ctx context.Context, space *features.Space, leaf jobs.Leaf, again bool,
	visit func(chunk) error) error {
	p, train := newPoints(space), j.train()
	if again {
		p.reader.Trust()
	}
	for block, err := range leaf.Blocks(ctx) {
		if err != nil {
			return err
		}
		if err := p.block(ctx, block, train, visit); err != nil {
			return err
		}
	}
	return nil
}

// block visits the rows of a block that keep chooses.
func (p *points) block(ctx context.Context, block *dataset.Block, keep func(dataset.Identity) bool,
	visit func(chunk) error) error {
	v, err := p.reader.Read(block, keep)
	if err != nil {
		return err
	}
	return rows.Chunks(ctx, v, p.rows, &p.dense, visit)
}

// zero reports whether a row has no direction.
func zero[T float32 | float64](row []T) bool {
	for _, v := range row {
		if v != 0 {
			return false
		}
	}
	return true
}

// distance is what a squared Euclidean distance is called outside: its root, or 1 - cosine.
func distance(sqDist float64, cosine bool) float64 {
	if cosine {
		return sqDist / 2
	}
	return math.Sqrt(sqDist)
}
