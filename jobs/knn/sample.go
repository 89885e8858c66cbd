package knn

import (
	"context"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/philox"
)

// pairsOfQuery is how many records of the base a sampled query is measured against.
const pairsOfQuery = 8

// sample are the queries that are searched exactly as well. The draw goes by identity, so that it
// is the same however the queries are cut. The zero value, and nil, draw none.
type sample struct {
	share  float64
	base   uint64 // records of spec.input
	chosen philox.Key
	pairs  [pairsOfQuery]philox.Key

	rows   []int
	others [][pairsOfQuery]int64 // of each, the records that it is measured against
}

func (p *plan) newSample(in *index) *sample {
	if p.params.Projection == nil || p.params.Projection.Sample == 0 || in.projected.queries == 0 {
		return nil
	}
	s := &sample{share: float64(p.params.Projection.Sample) / float64(in.projected.queries),
		base: uint64(in.offsets[len(in.offsets)-1]), chosen: philox.New(p.seed, "knn/sample")}
	for i := range s.pairs {
		s.pairs[i] = philox.New(p.seed, fmt.Sprintf("knn/pair/%d", i))
	}
	return s
}

// draw draws a query, which is row number row.
func (s *sample) draw(row int, id dataset.Identity) {
	if s == nil || !(s.chosen.Float64At(id.Object, id.Offset) < s.share) {
		return
	}
	var others [pairsOfQuery]int64
	for i, key := range s.pairs {
		others[i] = int64(key.Object(id.Object).Uint64(id.Offset) % s.base)
	}
	s.rows, s.others = append(s.rows, row), append(s.others, others)
}

// search is the search of one leaf.
type search struct {
	*searcher        // in the space of the lists
	in        *index // nil at prediction
	exact     *searcher
	sample    *sample
	distorted distortion
	one, two  []float32
}

func (p *plan) newSearch(in *index, ops *kernelops.Set, queries *points, drawn *sample) *search {
	s := &search{in: in, sample: drawn}
	if in.dims == 0 {
		s.searcher = p.newSearcher(ops, queries)
		return s
	}
	s.searcher = p.newSearcher(ops, in.project(ops, queries))
	s.distorted = newDistortion(p.params.Projection.Eps)
	if drawn == nil {
		s.sample = &sample{}
	}
	s.exact = p.newSearcher(ops, queries.subset(s.sample.rows))
	return s
}

func (p *plan) newSearcher(ops *kernelops.Set, queries *points) *searcher {
	return &searcher{ops: ops, of: p.params.Metric, queries: queries, own: !p.queries && !p.holdsOut,
		found: newLists(p.params.rule(), p.params.Metric, queries.rows)}
}

// search enters a chunk of the base.
func (s *search) search(ctx context.Context, base *points) error {
	if s.exact == nil || base.rows == 0 {
		return s.searcher.search(ctx, base)
	}
	if err := s.exact.search(ctx, base); err != nil {
		return err
	}
	projected := s.in.project(s.ops, base)
	s.measure(base, projected)
	return s.searcher.search(ctx, projected)
}

// measure compares the squared distances of sampled pairs before and after projection.
func (s *search) measure(base, after *points) {
	for i, others := range s.sample.others {
		for _, id := range others {
			j, ok := slices.BinarySearch(base.ids, id)
			if !ok || s.own && id == s.exact.queries.ids[i] {
				continue
			}
			x := s.exact.queries.tile(i, i+1, &s.one)
			y := base.tile(j, j+1, &s.two)
			px, py := s.queries.tile(s.sample.rows[i], s.sample.rows[i]+1, nil), after.tile(j, j+1, nil)
			s.distorted.add(square64(px.Data, py.Data), square64(x.Data, y.Data))
		}
	}
}

// partial is what the leaf found.
func (s *search) partial(targets bool) jobs.Arrays {
	a := jobs.Arrays{}
	s.found.sort()
	s.found.put(a, foundLists, targets)
	if s.exact != nil {
		s.exact.found.sort()
		s.exact.found.put(a, exactLists, false)
		s.distorted.put(a)
		rows := make([]int64, len(s.sample.rows))
		for i, row := range s.sample.rows {
			rows[i] = int64(row)
		}
		jobs.Put(a, sampledRows, rows)
	}
	return a
}

// subset copies rows.
func (p *points) subset(rows []int) *points {
	to := &points{rows: len(rows), width: p.width}
	if p.sparse.indptr != nil {
		to.sparse.indptr = []int{0}
	}
	for _, i := range rows {
		to.ids = append(to.ids, p.ids[i])
		if p.sparse.indptr == nil {
			to.dense = append(to.dense, p.dense[i*p.width:(i+1)*p.width]...)
			continue
		}
		begin, end := p.sparse.indptr[i], p.sparse.indptr[i+1]
		to.sparse.indices = append(to.sparse.indices, p.sparse.indices[begin:end]...)
		to.sparse.values = append(to.sparse.values, p.sparse.values[begin:end]...)
		to.sparse.indptr = append(to.sparse.indptr, len(to.sparse.values))
	}
	return to
}
