package kernelperceptron

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/kernels"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/philox"
	"github.com/gram-compute/gram/protocol"
)

// chunk is some records in the order in which they are learned from, valid until the next.
type chunk struct {
	x       kernelops.Matrix
	ids     []dataset.Identity
	class   []int32
	weights []float32 // nil where each weighs 1
}

func (c chunk) weight(i int) float64 {
	if c.weights == nil {
		return 1
	}
	return float64(c.weights[i])
}

// chunkRows is how many records a chunk of vectors has at most. Results do not depend on it.
func chunkRows(width int) int { return min(128, max(16, 1<<18/max(1, width))) }

// shardAt is the shard that comes at a position of an epoch.
func (j job) shardAt(epoch, position int64, shards int) int {
	if !j.params.Shuffle {
		return int(position) // below the number of shards
	}
	key := philox.New(j.seed, "kernelperceptron/shards")
	order := make([]int, shards)
	draw := make([]uint64, shards)
	for i := range order {
		order[i], draw[i] = i, key.Uint64(uint64(epoch), uint64(i))
	}
	// total order: no shard stands there twice
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(draw[a], draw[b]), cmp.Compare(a, b)) })
	return order[position]
}

// visit goes through the training records of a shard in the order of an epoch.
func (j job) visit(ctx context.Context, space *features.Space, leaf jobs.Leaf, shard int, epoch int64, learn func(chunk) error) error {
	reader, train, rows := space.NewReader(), j.train(), kernels.Rows{}
	kept := kept{width: space.Width}
	for block, err := range leaf.Read(ctx, jobs.Input, shard) {
		if err != nil {
			return err
		}
		v, err := reader.Read(block, train)
		if err != nil {
			return err
		}
		if at := slices.Index(v.Class, -1); at >= 0 {
			return unseen(v.IDs[at])
		}
		for from, size := 0, chunkRows(space.Width); from < v.Rows; from += size {
			c := chunkOf(v, &rows, from, min(from+size, v.Rows))
			if j.params.Shuffle {
				kept.add(c)
			} else if err := learn(c); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return kept.shuffled(ctx, philox.New(j.seed, fmt.Sprintf("kernelperceptron/records/%d", epoch)), learn)
}

func chunkOf(v features.Vectors, rows *kernels.Rows, from, to int) chunk {
	c := chunk{x: rows.Of(v, from, to), ids: v.IDs[from:to], class: v.Class[from:to]}
	if v.Weights != nil {
		c.weights = v.Weights[from:to]
	}
	return c
}

func unseen(id dataset.Identity) error {
	return &protocol.Fault{Code: protocol.CodeCorrupt, Class: protocol.ClassTask, Object: id.Object, Offset: id.Offset,
		What: fmt.Sprintf("a training record has a label that phase %q did not see", features.Name)}
}

// kept are the records of a shard in memory.
type kept struct {
	width   int
	rows    [][]float32
	ids     []dataset.Identity
	class   []int32
	weights []float32 // nil where each weighs 1
}

func (k *kept) add(c chunk) {
	memory := make([]float32, 0, c.x.Rows*k.width)
	for i := range c.x.Rows {
		memory = append(memory, c.x.Row(i)...)
		k.rows = append(k.rows, memory[len(memory)-k.width:])
	}
	k.ids, k.class = append(k.ids, c.ids...), append(k.class, c.class...)
	k.weights = append(k.weights, c.weights...)
}

// shuffled visits the records in an order drawn by their identities.
func (k *kept) shuffled(ctx context.Context, key philox.Key, learn func(chunk) error) error {
	order, draw := make([]int, len(k.rows)), make([]uint64, len(k.rows))
	var object philox.Object
	for i, id := range k.ids {
		if i == 0 || id.Object != k.ids[i-1].Object {
			object = key.Object(id.Object)
		}
		order[i], draw[i] = i, object.Uint64(id.Offset)
	}
	// total order: no record stands there twice
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(draw[a], draw[b]), cmp.Compare(a, b)) })
	size := chunkRows(k.width)
	x := kernelops.NewMatrix(min(size, len(order)), k.width)
	for len(order) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(size, len(order))
		if err := learn(k.gather(x.RowRange(0, n), order[:n])); err != nil {
			return err
		}
		order = order[n:]
	}
	return nil
}

func (k *kept) gather(x kernelops.Matrix, order []int) chunk {
	c := chunk{x: x}
	for i, r := range order {
		copy(x.Row(i), k.rows[r])
		c.ids, c.class = append(c.ids, k.ids[r]), append(c.class, k.class[r])
		if k.weights != nil {
			c.weights = append(c.weights, k.weights[r])
		}
	}
	return c
}
