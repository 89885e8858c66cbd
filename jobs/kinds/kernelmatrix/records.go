package kernelmatrix

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/kernelops"
)

const recordsName = "records"

// Folders of who the records are, below the model's.
const (
	recordsFolder = "records" // of spec.input
	queriesFolder = "queries"
)

// recordsPhase learns the space of the vectors, and numbers the records.
type recordsPhase struct {
	*plan
	space *features.Builder
}

func (p *recordsPhase) phase() jobs.Phase {
	return jobs.MapReduce[jobs.Arrays, *counted]{
		Name: recordsName, State: jobs.Itself,
		Partial: func() *counted { return &counted{Counts: p.space.NewCounts()} },
		Map:     p.count, Merge: (*counted).plus, Step: p.finish,
	}.Phase()
}

// counted is what some neighboring leaves found of the vectors, and their records.
type counted struct {
	*features.Counts
	census census
}

// Fields lists both.
func (c *counted) Fields(f *jobs.Fields) {
	c.Counts.Fields(f)
	c.census.Fields(f)
}

// plus lists the shards of the right after these.
func (c *counted) plus(right *counted) (*counted, error) {
	all, err := c.Counts.Plus(right.Counts)
	return &counted{all, c.census.plus(right.census)}, err
}

// count counts the vectors of a leaf and writes its records down. A leaf does so as well for every shard of queries
// whose number is its own modulo the shards of the input.
func (p *recordsPhase) count(
	ctx context.Context, _ jobs.Arrays, leaf jobs.Leaf, ops *kernelops.Set,
) (*counted, error) {
	if err := p.checkShards(leaf.Plan); err != nil {
		return nil, err
	}
	own := newRoll(p.train(), p.way(jobs.Input))
	found, err := p.space.Count(ctx, leaf.Watched(own.add), ops)
	if err != nil {
		return nil, err
	}
	c := &counted{Counts: found}
	if err := c.census.add(ctx, leaf.Emit, jobs.Input, leaf.Index, own); err != nil {
		return nil, err
	}
	for shard := leaf.Index; shard < leaf.Plan.QueryShards; shard += leaf.Plan.Shards {
		queries := newRoll(nil, p.way(jobs.Queries))
		for block, err := range leaf.Read(ctx, jobs.Queries, shard) {
			if err != nil {
				return nil, err
			}
			queries.add(block)
		}
		if err := c.census.add(ctx, leaf.Emit, jobs.Queries, shard, queries); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// finish writes the indices of the records and plans the tiles.
func (p *recordsPhase) finish(
	ctx context.Context, _ jobs.Arrays, root *counted, round jobs.Round,
) (jobs.Next, error) {
	space, metrics, err := p.space.Space(root.Counts)
	if err != nil {
		return jobs.Next{}, err
	}
	grid, err := p.grid(ctx, &root.census, round)
	if err != nil {
		return jobs.Next{}, err
	}
	side, err := p.params.side(space.Width)
	if err != nil {
		return jobs.Next{}, err
	}
	if err := grid.checkSize(int64(p.params.MaxBytes), side); err != nil {
		return jobs.Next{}, err
	}
	state := jobs.ArraysOf(&state{space: space, grid: grid})
	return jobs.Next{Phase: tilesName, Trees: grid.trees(), State: state, Metrics: metrics}, nil
}

// grid lays the shards along the matrix, and writes the indices of their records.
func (p *recordsPhase) grid(ctx context.Context, c *census, round jobs.Round) (g grid, err error) {
	g.symmetric = !p.queries
	if g.columns, err = p.index(ctx, round.Emit, c, jobs.Input, round.Plan.Shards); err != nil {
		return grid{}, err
	}
	g.rows = g.columns
	if p.queries {
		g.rows, err = p.index(ctx, round.Emit, c, jobs.Queries, round.Plan.QueryShards)
	}
	return g, err
}

// checkShards refuses too many shards before any is read.
func (p *plan) checkShards(cut jobs.Plan) error {
	if p.queries {
		return checkPairs(cut.QueryShards, cut.Shards, false)
	}
	return checkPairs(cut.Shards, cut.Shards, true)
}

// index writes the index of a data set's records and returns how many there are in each shard.
func (p *plan) index(ctx context.Context, emit jobs.Emit, c *census, source jobs.Source, shards int) ([]int64, error) {
	list, err := c.of(source, shards)
	if err != nil {
		return nil, err
	}
	if _, err = parts.WriteIndex(ctx, emit, folderOf(source),
		parts.Index{Format: parts.CSV, Columns: newRoll(nil, p.way(source)).table().Names(), Parts: list}); err != nil {
		return nil, err
	}
	records := make([]int64, shards)
	for i, part := range list {
		records[i] = part.Rows
	}
	return records, nil
}

func folderOf(source jobs.Source) string {
	if source == jobs.Queries {
		return queriesFolder
	}
	return recordsFolder
}

// roll is who the records of a shard are.
type roll struct {
	keep   func(dataset.Identity) bool // nil keeps all
	ids    *parts.Identities
	labels []string
}

func newRoll(keep func(dataset.Identity) bool, way dataset.Way) *roll {
	return &roll{keep, parts.NewIdentities(way), []string{}}
}

func (r *roll) add(block *dataset.Block) {
	for i, id := range block.IDs {
		if r.keep != nil && !r.keep(id) {
			continue
		}
		label := ""
		if block.Labels != nil {
			label = string(block.Labels[i])
		}
		r.ids.Add(id)
		r.labels = append(r.labels, label)
	}
}

func (r *roll) table() parts.Table {
	return append(r.ids.Columns(), parts.Column{Name: "label", Texts: r.labels})
}

// shard is one of a data set.
type shard struct {
	source jobs.Source
	number int64
}

// census lists shards, in any order, with the part that names the records of each.
type census struct {
	shards []shard
	list   parts.List
}

func (c *census) add(ctx context.Context, emit jobs.Emit, source jobs.Source, number int, r *roll) error {
	part, err := parts.Write(ctx, emit, folderOf(source), number, parts.CSV, r.table())
	c.shards, c.list = append(c.shards, shard{source, int64(number)}), append(c.list, part...)
	return err
}

// Fields lists the census.
func (c *census) Fields(f *jobs.Fields) {
	c.list.Fields(f)
	flat := make([]int64, 0, 2*len(c.shards))
	for _, s := range c.shards {
		flat = append(flat, int64(s.source), s.number)
	}
	jobs.List(f, "parts.shards", &flat, len(c.list), 2)
	if !f.Reading() {
		return
	}
	c.shards = make([]shard, len(c.list))
	for i := range c.shards {
		source := flat[2*i]
		f.Require(source == int64(jobs.Input) || source == int64(jobs.Queries), "records of data set %d", source)
		c.shards[i] = shard{jobs.Source(source), flat[2*i+1]}
	}
}

// plus lists the shards of the right after these.
func (c census) plus(right census) census {
	return census{append(c.shards, right.shards...), append(c.list, right.list...)}
}

// of returns the parts of a data set in the order of its shards.
func (c *census) of(source jobs.Source, shards int) (parts.List, error) {
	list, found := make(parts.List, shards), make([]bool, shards)
	for i, s := range c.shards {
		if s.source != source {
			continue
		}
		if s.number < 0 || s.number >= int64(shards) || found[s.number] {
			return nil, jobs.Malformed("the records of shard %d of %v, which has %d, twice or out of place", s.number,
				source, shards)
		}
		list[s.number], found[s.number] = c.list[i], true
	}
	for i, ok := range found {
		if !ok {
			return nil, jobs.Malformed("the records of shard %d of %v are missing", i, source)
		}
	}
	return list, nil
}
