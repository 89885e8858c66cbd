// Package jobstest runs an algorithm in one process as a cluster would: leaves
// mapped in any grouping, every result through its stored bytes. Tests use it to hold that
// grouping never changes a bit.
package jobstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"sync"

	"github.com/gram-compute/gram/dataset"
)

// errWritten finds out a phase that writes to a block, which other readers may share.
var errWritten = errors.New("jobstest: a block was written to")

// Blocks reads one shard.
type Blocks func(ctx context.Context) iter.Seq2[*dataset.Block, error]

// Shards turns records in memory into shards whose blocks hold up to size records.
// Identities are ids, or rows of one object over all shards. A block ends where the width of the
// vectors changes. Each block's memory is overwritten once the next is asked for, as a real
// reader does; a phase that writes to one gets an error.
func Shards(shards [][]Record, size int) []Blocks { return shardsOf("records", shards, size) }

// Files is Shards where each shard is an object of its own, whose rows its identities are.
func Files(shards [][]Record, size int) []Blocks {
	all := make([]Blocks, 0, len(shards))
	whole := setOf("", shards, size)
	for i, records := range shards {
		whole.object = fmt.Sprintf("part-%d", i)
		all = append(all, whole.blocks(records, 0, memosOf(i)))
	}
	return all
}

func shardsOf(object string, shards [][]Record, size int) []Blocks {
	set := setOf(object, shards, size)
	all := make([]Blocks, len(shards))
	row := int64(0)
	for i, records := range shards {
		all[i] = set.blocks(records, row, memosOf(i))
		row += int64(len(records))
	}
	return all
}

// dataSet is what the shards of one have in common.
type dataSet struct {
	object          string
	size            int
	labels, weights bool
}

func setOf(object string, shards [][]Record, size int) dataSet {
	set := dataSet{object: object, size: size}
	for _, records := range shards {
		for _, r := range records {
			set.labels = set.labels || r.Label != "" || r.vectorWidth() == 0
			set.weights = set.weights || r.Weight != 0
		}
	}
	return set
}

// blockMemos are those of the blocks of a shard, by their first record. Every second shard has none, as one has that
// does not fit into a worker's memory: no result may depend on that.
type blockMemos struct {
	sync.Mutex
	of map[int]dataset.Memo
}

func memosOf(shard int) *blockMemos {
	if shard%2 == 1 {
		return nil
	}
	return &blockMemos{of: map[int]dataset.Memo{}}
}

// at returns the memo of the block that begins at a record.
func (m *blockMemos) at(begin int) dataset.Memo {
	if m == nil {
		return dataset.Memo{}
	}
	m.Lock()
	defer m.Unlock()
	memo, ok := m.of[begin]
	if !ok {
		memo = dataset.NewMemo(boundless{})
		m.of[begin] = memo
	}
	return memo
}

// boundless is room for any memo.
type boundless struct{}

func (boundless) Reserve(int64) bool { return true }
func (boundless) Release(int64)      {}

func (s dataSet) blocks(records []Record, row int64, kept *blockMemos) Blocks {
	return func(ctx context.Context) iter.Seq2[*dataset.Block, error] {
		return func(yield func(*dataset.Block, error) bool) {
			for begin, end := 0, 0; begin < len(records); begin = end {
				if err := ctx.Err(); err != nil {
					yield(nil, err)
					return
				}
				end = begin + 1
				for end < len(records) && end < begin+s.size && records[end].alike(records[begin]) {
					end++
				}
				block := s.block(records[begin:end], row+int64(begin))
				block.Memo = kept.at(begin)
				more := yield(block, nil)
				if more && !same(block, s.block(records[begin:end], row+int64(begin))) {
					yield(nil, errWritten)
					return
				}
				overwrite(block)
				if !more {
					return
				}
			}
		}
	}
}

func (r Record) vectorWidth() int { return max(len(r.Dense), r.Width, len(r.Categories)) }

func (r Record) alike(other Record) bool {
	return len(r.Dense) == len(other.Dense) && r.Width == other.Width && len(r.Categories) == len(other.Categories)
}

func (s dataSet) block(records []Record, row int64) *dataset.Block {
	block := &dataset.Block{}
	for i, r := range records {
		block.IDs = append(block.IDs, s.name(r, row+int64(i)))
		if s.labels {
			block.Labels = append(block.Labels, []byte(r.Label))
		}
		if s.weights {
			block.Weights = append(block.Weights, r.Weight)
		}
		if r.Group != "" {
			block.Groups = append(block.Groups, dataset.GroupOf([]byte(r.Group)))
		}
		if r.vectorWidth() == 0 {
			block.Texts = append(block.Texts, []byte(r.Text))
		}
		block.Dense.Values = append(block.Dense.Values, r.Dense...)
		for _, category := range r.Categories {
			block.Categories.Values = append(block.Categories.Values, []byte(category))
		}
	}
	block.Dense.Width, block.Categories.Width = len(records[0].Dense), len(records[0].Categories)
	block.Sparse = sparse(records)
	return block
}

func (s dataSet) name(r Record, row int64) dataset.Identity {
	if r.ID != "" {
		return dataset.ByID(r.ID)
	}
	return dataset.Identity{Object: s.object, Offset: row}
}

func sparse(records []Record) (rows dataset.Sparse) {
	if rows.Width = records[0].Width; rows.Width == 0 {
		return rows
	}
	rows.Indptr = []int{0}
	for _, r := range records {
		rows.Indices = append(rows.Indices, r.Indices...)
		rows.Values = append(rows.Values, r.Values...)
		rows.Indptr = append(rows.Indptr, len(rows.Values))
	}
	return rows
}

func overwrite(block *dataset.Block) {
	for _, text := range slices.Concat(block.Labels, block.Texts, block.Categories.Values) {
		clear(text)
	}
	for _, values := range [][]float32{block.Weights, block.Dense.Values, block.Sparse.Values} {
		for i := range values {
			values[i] = float32(math.NaN())
		}
	}
	for i := range block.Sparse.Indices {
		block.Sparse.Indices[i] = -1
	}
	clear(block.IDs)
	clear(block.Groups)
	clear(block.Sparse.Indptr)
}

// same compares what a phase could have written to; bits, so that NaN equals itself.
func same(a, b *dataset.Block) bool {
	bits := func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) }
	return slices.Equal(a.IDs, b.IDs) && slices.Equal(a.Groups, b.Groups) && a.Folds == nil &&
		slices.EqualFunc(a.Labels, b.Labels, bytes.Equal) &&
		slices.EqualFunc(a.Texts, b.Texts, bytes.Equal) &&
		slices.EqualFunc(a.Categories.Values, b.Categories.Values, bytes.Equal) &&
		slices.EqualFunc(a.Weights, b.Weights, bits) && slices.EqualFunc(a.Dense.Values, b.Dense.Values, bits) &&
		slices.Equal(a.Sparse.Indptr, b.Sparse.Indptr) && slices.Equal(a.Sparse.Indices, b.Sparse.Indices) &&
		slices.EqualFunc(a.Sparse.Values, b.Sparse.Values, bits)
}
