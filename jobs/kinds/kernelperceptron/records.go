package kernelperceptron

import (
	"context"
	"fmt"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/rank"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/jobs/learn/shuffle"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/philox"
)

// chunk is some records in the order in which they are learned from.
type chunk = rows.Chunk

// chunkRows is how many records a chunk of vectors has at most. Results do not depend on it.
func chunkRows(width int) int { return min(128, max(16, 1<<18/max(1, width))) }

// shardAt is the shard that comes at a position of an epoch.
func (j job) shardAt(epoch, position int64, shards int) int {
	if !j.Params.Shuffle {
		return int(position) // below the number of shards
	}
	key := philox.New(j.Seed, "kernelperceptron/shards")
	return rank.Least(shards, func(i int) uint64 { return key.Uint64(uint64(epoch), uint64(i)) })[position]
}

// visit goes through the training records of a shard in the order of an epoch.
func (j job) visit(
	ctx context.Context, space *features.Space, leaf jobs.Leaf, shard int, epoch int64, learn func(chunk) error,
) error {
	var dense []float32
	w := newWindow(ctx, space.Width, philox.New(j.Seed, fmt.Sprintf("kernelperceptron/records/%d", epoch)), learn)
	if j.Params.Shuffle {
		learn = w.add
	}
	for v, err := range space.Rows(leaf.Read(ctx, jobs.Input, shard), j.Train()) {
		if err != nil {
			return err
		}
		if err := rows.Chunks(ctx, v, chunkRows(space.Width), &dense, learn); err != nil {
			return err
		}
	}
	return w.Flush()
}

// window keeps records until they are shuffled.
type window struct {
	*shuffle.Window[drawn]
	values shuffle.Store[float32]
	x      kernelops.Matrix // of a chunk
}

// drawn is a kept record.
type drawn struct {
	row    []float32
	id     dataset.Identity
	class  int32
	weight float32
}

func newWindow(ctx context.Context, width int, key philox.Key, learn func(chunk) error) *window {
	w := &window{x: kernelops.NewMatrix(chunkRows(width), width)}
	w.Window = shuffle.New(key, chunkRows(width), func(records []drawn) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return learn(w.gather(records))
	})
	return w
}

// add keeps copies of the records of a chunk. Whenever the window is full, they are learned
// from.
func (w *window) add(c chunk) error {
	for i, id := range c.IDs {
		r := drawn{w.values.Copy(c.X.Row(i)), id, c.Class[i], 1}
		if c.Weights != nil {
			r.weight = c.Weights[i]
		}
		full, err := w.Add(id, len(r.row), r)
		if err != nil {
			return err
		}
		if full {
			w.values.Empty()
		}
	}
	return nil
}

func (w *window) gather(records []drawn) chunk {
	c := chunk{X: w.x.RowRange(0, len(records))}
	for i, r := range records {
		copy(c.X.Row(i), r.row)
		c.IDs, c.Class, c.Weights = append(c.IDs, r.id), append(c.Class, r.class), append(c.Weights, r.weight)
	}
	return c
}
