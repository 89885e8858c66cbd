package knn

import (
	"context"
	"iter"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/lsh"
	"github.com/gram-compute/gram/jobs/learn/pairwise"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// Phases that choose hash tables for a recall: one draws queries and records, the other searches the queries exactly.
const (
	drawName = "draw"
	tuneName = "tune"
)

const (
	mostDrawn   = 128
	leastDrawn  = 16
	drawnFloats = 1 << 21 // of the queries that are drawn, and of the records, at most

	mostDrawnWidth = drawnFloats / leastDrawn
)

// drawnRows is how many queries, and how many records, are drawn.
func drawnRows(width int) int { return min(mostDrawn, max(leastDrawn, drawnFloats/max(1, width))) }

// drawn are queries and records of the base, by identity.
type drawn struct{ queries, base *sampling.Sample }

// Fields lists both samples.
func (d *drawn) Fields(f *jobs.Fields) {
	sampling.Fields(f, "drawn.queries", &d.queries)
	sampling.Fields(f, "drawn.base", &d.base)
}

func (d *drawn) merge(right *drawn) (*drawn, error) {
	if err := d.queries.Merge(right.queries); err != nil {
		return nil, err
	}
	return d, d.base.Merge(right.base)
}

// tuning is the state of phase "tune".
type tuning struct {
	*index
	drawn
}

// Fields lists the state.
func (t *tuning) Fields(f *jobs.Fields) {
	t.index.Fields(f)
	t.drawn.Fields(f)
}

func (p *plan) tunePhases() []jobs.Phase {
	gathers := func(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
		return 4*4*drawnFloats + min(p.chunkBytes(), grown*records(jobs.Input, leaf.Index))
	}
	return []jobs.Phase{
		jobs.MapReduce[*index, *drawn]{
			Name: drawName, State: p.readIndex, Partial: func() *drawn { return &drawn{} }, Map: p.draw,
			Merge: (*drawn).merge, Gathers: gathers,
			Step: func(_ context.Context, in *index, root *drawn, _ jobs.Round) (jobs.Next, error) {
				return jobs.Next{Phase: tuneName, State: jobs.ArraysOf(&tuning{in, *root})}, nil
			},
		}.Phase(),
		jobs.MapReduce[*tuning, *nearby]{
			Name: tuneName, Partial: p.newNearby, Map: p.nearby, Merge: (*nearby).merge, Step: p.tune, Gathers: gathers,
			State: func(a jobs.Arrays) (*tuning, error) {
				return jobs.Read(a, &tuning{index: &index{space: &space{params: p.params}}})
			},
		}.Phase(),
	}
}

// draw draws among the records of a leaf, and among the queries of every query shard whose number is its own modulo the
// shards.
func (p *plan) draw(ctx context.Context, in *index, leaf jobs.Leaf, _ *kernelops.Set) (*drawn, error) {
	size := drawnRows(in.vectors.Width)
	d := &drawn{sampling.New(size), sampling.New(size)}
	if err := p.drawOf(in, leaf.Blocks(ctx), d.base, "knn/lsh/base", p.Base); err != nil {
		return nil, err
	}
	if p.Own != nil {
		return d, p.drawOf(in, leaf.Blocks(ctx), d.queries, "knn/lsh/queries", p.Own)
	}
	for shard := leaf.Index; shard < leaf.Plan.QueryShards; shard += leaf.Plan.Shards {
		blocks := leaf.Read(ctx, jobs.Queries, shard)
		if err := p.drawOf(in, blocks, d.queries, "knn/lsh/queries", nil); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (p *plan) drawOf(
	in *index, blocks iter.Seq2[*dataset.Block, error], to *sampling.Sample, purpose string, records jobs.Records,
) error {
	race, r := sampling.NewRace(p.seed, purpose), in.newReader(0)
	var keep jobs.Choice
	if records != nil {
		keep = records()
	}
	var buf []float32
	for block, err := range blocks {
		if err != nil {
			return err
		}
		v, err := r.vectors.Read(block, keep)
		if err != nil {
			return err
		}
		all := rows.Of(v)
		for i, id := range v.IDs {
			limit := to.Limit()
			if time := race.Time(id, 1, limit); time <= limit {
				to.Offer(time, id, all.Tile(i, i+1, &buf).Row(0))
			}
		}
	}
	return nil
}

// pointsOf are the rows of a sample, which are not records of the base.
func (s *space) pointsOf(draws []sampling.Draw) (*points, error) {
	p := s.newPoints()
	for _, d := range draws {
		v := features.Vectors{Rows: 1, IDs: []dataset.Identity{d.ID},
			Dense: kernelops.Matrix{Data: d.Row, Rows: 1, Cols: len(d.Row), Stride: len(d.Row)}}
		switch {
		case len(d.Row) != p.Width:
			return nil, jobs.Malformed("a sample of rows of %d numbers, not %d", len(d.Row), p.Width)
		case p.Form == rows.Bits:
			if err := p.addBits(v); err != nil {
				return nil, err
			}
		case p.Form == rows.Sparse:
			v.Sparse = sparseOf(d.Row)
			p.Add(v, 0, 1)
		default:
			p.Add(v, 0, 1)
		}
		p.ids = append(p.ids, -1)
	}
	return p, nil
}

func sparseOf(row []float32) dataset.Sparse {
	s := dataset.Sparse{Width: len(row), Indptr: []int{0}}
	for j, v := range row {
		if v != 0 {
			s.Indices, s.Values = append(s.Indices, int32(j)), append(s.Values, v)
		}
	}
	s.Indptr = append(s.Indptr, len(s.Values))
	return s
}

// nearby are the exact lists of the queries that were drawn. Where these are of the base themselves, lists are longer
// by one: a query is in its own.
type nearby struct{ *lists }

// Fields lists the lists.
func (n *nearby) Fields(f *jobs.Fields) { n.lists.fields(f, "nearby") }

func (n *nearby) merge(right *nearby) (*nearby, error) { return n, n.lists.merge(right.lists) }

func (p *plan) newNearby() *nearby {
	rule := p.params.rule()
	if rule.k > 0 {
		rule.k++
	}
	rule.most++
	return &nearby{&lists{rule: rule, of: p.params.Metric}}
}

func (p *plan) nearby(ctx context.Context, t *tuning, leaf jobs.Leaf, ops *kernelops.Set) (*nearby, error) {
	queries, err := t.pointsOf(t.queries.Draws())
	if err != nil {
		return nil, err
	}
	n := p.newNearby()
	s := p.params.searcher(ops, queries, n.lists)
	chunk := func(base *points) error { return s.search(ctx, base) }
	own := pairwise.Run{First: leaf.Index, End: leaf.Index + 1}
	if err := t.readBase(ctx, leaf, own, baseReader{keep: p.Base(), chunk: chunk}); err != nil {
		return nil, err
	}
	n.sort()
	return n, nil
}

// tune chooses the tables.
func (p *plan) tune(_ context.Context, t *tuning, root *nearby, round jobs.Round) (jobs.Next, error) {
	queries := t.queries.Draws()
	if root.queries() != len(queries) {
		return jobs.Next{}, jobs.Malformed("%d lists of %d queries", root.queries(), len(queries))
	}
	far, err := p.farther(t, queries, t.base.Draws())
	if err != nil {
		return jobs.Next{}, err
	}
	near := p.nearDistances(root.lists)
	switch {
	case len(near) > 0:
	case len(far) > 0 && p.params.Radius != nil: // all are farther
		near = []float64{*p.params.Radius}
	default: // nothing is compared
		near = []float64{0}
	}
	if len(far) == 0 {
		far = near
	}
	goal := lsh.Goal{Recall: *p.params.LSH.Recall, Near: near, Far: far, Records: t.records, Queries: t.hashed.queries,
		Columns: t.vectors.Width}
	if p.params.LSH.Width != nil {
		goal.Width = *p.params.LSH.Width
	}
	family, _ := p.params.Metric.family()
	c, ok := lsh.Choose(family, goal)
	if !ok {
		return jobs.Next{}, protocol.SpecFault("spec.params: lsh.recall %v is not reached with %d tables, or with %d "+
			"random numbers for %d columns: give a lower recall, a larger width, fewer columns (texts by "+
			"features.hashing), or index exact", goal.Recall, lsh.MaxTables, lsh.MaxNumbers, goal.Columns)
	}
	t.hashed.tables, t.hashed.hashes, t.hashed.width = c.Tables, c.Hashes, c.Width
	chosen, err := jobs.NewMetric(chosenMetric, Chosen{Tables: c.Tables, Hashes: c.Hashes, Width: c.Width,
		Queries: len(queries), Recall: c.Mean(near), Share: c.Mean(far)})
	if err != nil {
		return jobs.Next{}, err
	}
	next := jobs.Next{State: jobs.ArraysOf(t.index), Metrics: []jobs.Metric{chosen}}
	return p.afterIndex(t.index, next, round)
}

// nearDistances are those of the neighbors that were found. Of a query that is of the base itself the least is its own,
// or that of a duplicate, which is the same.
func (p *plan) nearDistances(found *lists) []float64 {
	var near []float64
	for _, row := range found.rows {
		if p.ownNeighbors() && len(row) > 0 {
			row = row[1:]
		}
		for _, n := range row {
			near = append(near, p.params.Metric.distance(n.key))
		}
	}
	return near
}

// farther are the distances of queries and records that were drawn, without those of a record and itself.
func (p *plan) farther(t *tuning, queries, base []sampling.Draw) (far []float64, err error) {
	x, err := t.pointsOf(queries)
	if err != nil {
		return nil, err
	}
	y, err := t.pointsOf(base)
	if err != nil {
		return nil, err
	}
	s := p.params.searcher(nil, x, &lists{rule: rule{k: 1}})
	s.xNorms = s.hashedNorms(nil, x, 0, x.N)
	for j, record := range base {
		s.yNorms = s.hashedNorms(s.yNorms, y, j, j+1)
		for q, query := range queries {
			if !p.ownNeighbors() || query.ID != record.ID {
				far = append(far, p.params.Metric.distance(s.keyOf(q, y, j)))
			}
		}
		if y.Form == rows.Sparse {
			s.crossing.clear(y, j)
		}
	}
	return far, nil
}
