package kernelmatrix

import (
	"context"
	"slices"

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

// finish writes the indices of the records and plans the tiles; where records are held out, those that are left in each
// block must be counted before.
func (p *recordsPhase) finish(
	ctx context.Context, _ jobs.Arrays, root *counted, round jobs.Round,
) (jobs.Next, error) {
	space, metrics, err := p.space.Space(root.Counts)
	if err != nil {
		return jobs.Next{}, err
	}
	if err := p.checkBlocks(round.Plan); err != nil {
		return jobs.Next{}, err
	}
	columns, err := p.index(ctx, round.Emit, &root.census, jobs.Input, round.Plan.Shards)
	if err != nil {
		return jobs.Next{}, err
	}
	each := int64(p.params.BlockRecords)
	s := &state{space: space, grid: grid{symmetric: !p.queries, columns: axisOf(columns, each)}}
	if s.grid.rows = s.grid.columns; p.queries {
		rows, err := p.index(ctx, round.Emit, &root.census, jobs.Queries, round.Plan.QueryShards)
		if err != nil {
			return jobs.Next{}, err
		}
		s.grid.rows = axisOf(rows, each)
	}
	next := jobs.Next{Phase: heldOutName, Trees: []int{round.Plan.Blocks}, State: jobs.ArraysOf(s)}
	if !p.heldOut {
		next, err = p.tile(ctx, s, round)
	}
	next.Metrics = slices.Concat(metrics, next.Metrics)
	return next, err
}

// tile plans the tiles. A matrix without rows ends here.
func (p *plan) tile(ctx context.Context, s *state, round jobs.Round) (jobs.Next, error) {
	side, err := p.params.side(s.space.Width)
	if err != nil {
		return jobs.Next{}, err
	}
	if err := s.grid.checkSize(int64(p.params.MaxBytes), side); err != nil {
		return jobs.Next{}, err
	}
	if len(s.grid.rows) > 0 {
		return jobs.Next{Phase: tilesName, Trees: s.grid.trees(), State: jobs.ArraysOf(s)}, nil
	}
	if s.kernel, err = p.function(s.space); err != nil {
		return jobs.Next{}, err
	}
	return (&tilesPhase{p}).finish(ctx, s, func(func(*written, error) bool) {}, round)
}

// checkBlocks refuses too many blocks before a tile is computed.
func (p *plan) checkBlocks(cut jobs.Plan) error {
	if p.queries {
		return checkPairs(cut.QueryBlocks, cut.Blocks, false)
	}
	return checkPairs(cut.Blocks, cut.Blocks, true)
}

// index writes the index of a data set's records and returns how many there are.
func (p *plan) index(
	ctx context.Context, emit jobs.Emit, c *census, source jobs.Source, shards int,
) (records int64, err error) {
	list, err := c.of(source, shards)
	if err != nil {
		return 0, err
	}
	for _, part := range list {
		records += part.Rows
	}
	_, err = parts.WriteIndex(ctx, emit, folderOf(source),
		parts.Index{Format: parts.CSV, Columns: newRoll(nil, p.way(source)).table().Names(), Parts: list})
	return records, err
}

func folderOf(source jobs.Source) string {
	if source == jobs.Queries {
		return queriesFolder
	}
	return recordsFolder
}

// roll is who the records of a shard are.
type roll struct {
	keep   jobs.Choice // nil keeps all
	ids    *parts.Identities
	labels []string
}

func newRoll(keep jobs.Choice, way dataset.Way) *roll {
	return &roll{keep, parts.NewIdentities(way), []string{}}
}

func (r *roll) add(block *dataset.Block) {
	for i, id := range block.IDs {
		if r.keep != nil && !r.keep(block, i) {
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
