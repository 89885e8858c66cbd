package knn

import (
	"context"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/lsh"
	"github.com/gram-compute/gram/jobs/learn/pairwise"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/philox"
)

// neighborsName names the search.
const neighborsName = "neighbors"

const (
	// grown is how many times its size a gathered shard takes, with what it last grew out of.
	grown = 2
	// chunkBytes is what a chunk of a base takes, and the memory that is left behind as it grows.
	chunkBytes = 2 * 4 * rows.TileFloats
)

// chunkBytes is what a chunk of the base takes: of records with ids also the copy that is in their order.
func (p *plan) chunkBytes() int64 {
	if p.named {
		return chunkBytes + 4*rows.TileFloats
	}
	return chunkBytes
}

// gathers estimates what a leaf keeps in memory.
func (p *plan) gathers() func(jobs.Leaf, func(jobs.Source, int) int64) int64 {
	of := pairwise.Gathers(p.Source(), grown, p.chunkBytes())
	if p.params.Index != indexLSH {
		return of
	}
	return func(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
		return of(leaf, records) + lsh.SearchBytes
	}
}

// search is the phase of the search and the one that looks mistakes up.
func (p *plan) search() pairwise.Phase[*index, *partial] {
	return pairwise.Phase[*index, *partial]{
		Name: neighborsName, Sides: p.Sides, State: p.readIndex, Partial: p.newPartial,
		Find: p.find, Merge: (*partial).merge, Gathers: p.gathers(),
		Answers: func(in *index) jobs.Answers { return p.params.answers(in.labels) },
		Decider: func(in *index) pairwise.Decider[*partial] {
			if p.graph != nil {
				return &graphOutput{plan: p, in: in}
			}
			return newOutput(p, in)
		},
		Scoring: p.scoring, Finish: p.finish,
	}
}

// find finds the neighbors of the queries of a shard among the base of a run of shards. It holds the
// queries, their lists and a chunk of the base in memory; a chunk is searched within the limits of those before.
func (p *plan) find(
	ctx context.Context, in *index, leaf jobs.Leaf, ops *kernelops.Set,
) (*partial, *pairwise.Asked, error) {
	sample := p.newSample(in)
	queries, asked, err := p.readQueries(ctx, in, leaf, sample)
	if err != nil {
		return nil, nil, err
	}
	s := p.newSearch(in, ops, queries, sample)
	chunk := func(base *points) error { return s.search(ctx, base) }
	run, err := in.run(p.grain, p.Trees(leaf.Plan), leaf.Index)
	if err != nil {
		return nil, nil, err
	}
	if err := in.readBase(ctx, leaf, run, baseReader{keep: p.Base(), named: s.result.names != nil,
		chunk: chunk}); err != nil {
		return nil, nil, err
	}
	return s.partial(), asked, nil
}

// pairsOfQuery is how many records of the base a sampled query is measured against.
const pairsOfQuery = 8

// sample are the queries that are searched exactly as well. The draw goes by identity, so that it
// is the same however the queries are cut. The zero value, and nil, draw none.
type sample struct {
	share  float64
	base   uint64 // records of spec.input
	chosen *dataset.Draws
	pairs  [pairsOfQuery]*dataset.Draws

	rows   []int
	others [][pairsOfQuery]int64 // of each, the records that it is measured against
}

func (p *plan) newSample(in *index) *sample {
	size, queries := in.sampled()
	if size == 0 || queries == 0 {
		return nil
	}
	s := &sample{share: float64(size) / float64(queries),
		base: uint64(in.offsets[len(in.offsets)-1]), chosen: dataset.NewDraws(philox.New(p.seed, "knn/sample"))}
	for i := range s.pairs {
		s.pairs[i] = dataset.NewDraws(philox.New(p.seed, fmt.Sprintf("knn/pair/%d", i)))
	}
	return s
}

// draw draws a query, which is row number row.
func (s *sample) draw(row int, id dataset.Identity) {
	if s == nil || !(s.chosen.Float64(id) < s.share) {
		return
	}
	var others [pairsOfQuery]int64
	for i, draws := range s.pairs {
		others[i] = int64(draws.Uint64(id) % s.base)
	}
	s.rows, s.others = append(s.rows, row), append(s.others, others)
}

// search is the search of one leaf.
type search struct {
	*searcher // in the space of the lists
	in        *index
	result    *partial
	exactly   *searcher // of the sampled queries; nil where nothing is measured
	sample    *sample
	one, two  []float32
	keys      []uint64 // of the sampled queries, in each table
}

func (p *plan) newSearch(in *index, ops *kernelops.Set, queries *points, drawn *sample) *search {
	s := &search{in: in, result: p.newPartial(), sample: drawn}
	if drawn == nil {
		s.sample = &sample{}
	}
	if s.result.exact != nil {
		if p.params.Projection != nil {
			s.result.pairs = newDistortion(p.params.Projection.Eps)
		}
		s.exactly = p.newSearcher(ops, queries.pick(s.sample.rows), s.result.exact)
		s.exactly.marks = p.params.Index == indexLSH
	}
	if in.dims > 0 {
		queries = in.project(ops, queries)
	}
	s.searcher = p.newSearcher(ops, queries, s.result.found)
	if p.params.Index == indexLSH {
		s.searcher.hashing = in.newHashing(in.hashed)
	}
	return s
}

// searcher begins the lists of queries.
func (p Params) searcher(ops *kernelops.Set, queries *points, found *lists) *searcher {
	s := &searcher{ops: ops, of: p.Metric, queries: queries, found: found.begin(queries.N)}
	if p.P != nil {
		s.power = power(*p.P)
	}
	return s
}

func (p *plan) newSearcher(ops *kernelops.Set, queries *points, found *lists) *searcher {
	s := p.params.searcher(ops, queries, found)
	s.own = p.ownNeighbors()
	return s
}

// search enters a chunk of the base.
func (s *search) search(ctx context.Context, base *points) error {
	if s.result.names == nil || base.N == 0 || s.queries.N == 0 {
		return s.enterAll(ctx, base)
	}
	chunk := &names{numbers: base.ids, ids: base.names, order: orderOf(base.names)}
	all := unite(s.result.names, chunk)
	for _, l := range s.result.lists() {
		l.renumber(all.places[0])
	}
	base.order, base.place = chunk.order, all.places[1]
	if chunk.order != nil {
		base.place = make([]int64, base.N)
		for i, place := range all.places[1] {
			base.place[chunk.order[i]] = place
		}
	}
	if err := s.enterAll(ctx, base); err != nil {
		return err
	}
	s.result.names = all.listed(s.result.lists())
	return nil
}

// enterAll enters the rows of a chunk whose order is known.
func (s *search) enterAll(ctx context.Context, base *points) error {
	if s.exactly != nil {
		if err := s.exactly.search(ctx, base); err != nil {
			return err
		}
		if s.exactly.marks {
			s.mark(base)
		}
	}
	if s.in.dims == 0 || base.N == 0 {
		return s.searcher.search(ctx, base)
	}
	projected := s.in.project(s.ops, base)
	if s.exactly != nil {
		s.measure(base, projected)
	}
	return s.searcher.search(ctx, projected)
}

// measure compares the squared distances of sampled pairs before and after projection.
func (s *search) measure(base, after *points) {
	for i, others := range s.sample.others {
		for _, id := range others {
			j, ok := slices.BinarySearch(base.ids, id)
			if !ok || s.own && id == s.exactly.queries.ids[i] {
				continue
			}
			x := s.exactly.queries.Tile(i, i+1, &s.one)
			y := base.Tile(j, j+1, &s.two)
			px, py := s.queries.Tile(s.sample.rows[i], s.sample.rows[i]+1, nil), after.Tile(j, j+1, nil)
			s.result.pairs.add(square64(px.Data, py.Data), square64(x.Data, y.Data))
		}
	}
}

// partial is what the leaf found.
func (s *search) partial() *partial {
	s.found.sort()
	if s.hashing != nil {
		s.result.candidates = s.hashing.candidates
	}
	if s.exactly != nil {
		s.result.exact.sort()
		for _, row := range s.sample.rows {
			s.result.rows = append(s.result.rows, int64(row))
		}
	}
	return s.result
}
