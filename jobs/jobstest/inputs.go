package jobstest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
)

// Option adds to what a job is given.
type Option func(*inputs)

// WithQueries gives the job a second data set. Its identities are rows of another object.
func WithQueries(shards [][]Record) Option { return func(in *inputs) { in.queries = shards } }

// WithModel gives the job a model to begin from.
func WithModel(model jobs.Arrays) Option { return func(in *inputs) { in.model = maps.Clone(model) } }

// WithMemos gives leaves a jobs.Memo. Whether what was kept in a round is lost before the next, forgets decides; nil
// loses nothing.
func WithMemos(forgets func(leaf int) bool) Option {
	return func(in *inputs) { in.memos = &memos{kept: map[leafKey]any{}, forgets: forgets} }
}

// memos are what leaves keep.
type memos struct {
	kept    map[leafKey]any
	forgets func(leaf int) bool
}

// leafMemo is the jobs.Memo of a leaf.
type leafMemo struct {
	*memos
	key leafKey
}

// Take takes the value out.
func (m leafMemo) Take() any {
	value := m.kept[m.key]
	delete(m.kept, m.key)
	return value
}

// Keep keeps the value unless it is forgotten.
func (m leafMemo) Keep(value any, _ int64) {
	if m.forgets == nil || !m.forgets(m.key.index) {
		m.kept[m.key] = value
	}
}

// blockRecords bounds the blocks of the queries.
func blockRecords(size int) Option { return func(in *inputs) { in.size = size } }

// inputs are what a job reads, and the files that it emits.
type inputs struct {
	model   jobs.Arrays
	queries [][]Record
	size    int
	shards  [2][]Blocks // by jobs.Source
	files   map[string][]byte
	memos   *memos // nil where leaves keep nothing
}

func inputsOf(shards []Blocks, opts []Option) *inputs {
	in := &inputs{model: jobs.Arrays{}, size: 1000, files: map[string][]byte{}}
	for _, option := range opts {
		option(in)
	}
	in.shards = [2][]Blocks{jobs.Input: shards, jobs.Queries: shardsOf("queries", in.queries, in.size)}
	return in
}

// Leaf is a leaf as a job over these shards has it, for a test that calls Map itself. Emitted
// files are dropped.
func Leaf(tree, index int, shards []Blocks, opts ...Option) jobs.Leaf {
	in := inputsOf(shards, opts)
	leaf := in.leaf(tree, index)
	leaf.Blocks = func(ctx context.Context) iter.Seq2[*dataset.Block, error] { return in.read(ctx, jobs.Input, index) }
	return leaf
}

func (in *inputs) leaf(tree, index int) jobs.Leaf {
	return jobs.Leaf{Tree: tree, Index: index, Plan: in.plan(), Read: in.read, Emit: in.emit}
}

func (in *inputs) plan() jobs.Plan {
	return jobs.Plan{Shards: len(in.shards[jobs.Input]), QueryShards: len(in.shards[jobs.Queries])}
}

func (in *inputs) read(ctx context.Context, from jobs.Source, shard int) iter.Seq2[*dataset.Block, error] {
	return in.shards[from][shard](ctx)
}

// emit keeps a file, and holds its name to one content.
func (in *inputs) emit(_ context.Context, name string, data []byte) (jobs.File, error) {
	if before, ok := in.files[name]; ok && !bytes.Equal(before, data) {
		return jobs.File{}, fmt.Errorf("jobstest: %q was emitted with other bytes before", name)
	}
	in.files[name] = bytes.Clone(data)
	sum := sha256.Sum256(data)
	return jobs.File{Name: name, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data))}, nil
}
