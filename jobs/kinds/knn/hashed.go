package knn

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/lsh"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// searchIndex says which records a query is compared with; the default is empty, so that models before it had a name
// stay as they are.
type searchIndex string

const (
	indexExact searchIndex = "exact"
	indexLSH   searchIndex = "lsh"
)

// UnmarshalText reads the default's name as no name.
func (x *searchIndex) UnmarshalText(name []byte) error {
	if *x = searchIndex(name); *x == indexExact {
		*x = ""
	}
	return nil
}

// family is the hash functions of a metric; ok is false where there are none.
func (m metric) family() (f lsh.Family, ok bool) {
	switch m {
	case l2:
		return lsh.Normal, true
	case l1:
		return lsh.Cauchy, true
	case cosine:
		return lsh.Hyperplanes, true
	case hamming:
		return lsh.Bits, true
	}
	return 0, false
}

func (p Params) checkIndex() error {
	family, ok := p.Metric.family()
	switch {
	case p.Index != indexLSH && p.LSH != nil:
		return protocol.SpecFault("lsh is the section of index lsh: set index to lsh, or leave lsh out")
	case p.Index != indexLSH:
		return nil
	case !ok:
		return protocol.SpecFault("index lsh has no hash functions for metric %s: it takes l2, l1, cosine and hamming",
			p.Metric)
	case p.Projection != nil:
		return protocol.SpecFault("projection and index lsh exclude each other: hash functions project rows themselves")
	case p.Counts:
		return protocol.SpecFault("counts is of index exact: with lsh, the neighbors that it misses would be left out")
	}
	if p.LSH == nil {
		return nil // Complete writes the default in
	}
	return p.LSH.CheckFamily(family, string(p.Metric))
}

// approximate reports whether a search may miss neighbors, and is measured.
func (p Params) approximate() bool { return p.Projection != nil || p.Index == indexLSH }

// tunes reports whether the tables are chosen by the data.
func (p Params) tunes() bool { return p.Index == indexLSH && p.LSH.Recall != nil }

// sampled is about how many queries are searched exactly too, and of how many.
func (in *index) sampled() (size int, queries int64) {
	switch {
	case in.params.Projection != nil:
		return in.params.Projection.Sample, in.projected.queries
	case in.params.Index == indexLSH:
		return in.params.LSH.Sample, in.hashed.queries
	}
	return 0, 0
}

// hashed is an index by hashing; the zero value stands for none, and 0 tables for those that are not chosen yet.
type hashed struct {
	tables, hashes int
	width          float64 // 0 where the family has none
	seed           uint64
	queries        int64 // of the data set of queries; of a state alone
}

// Fields lists what makes the hash functions.
func (h *hashed) Fields(f *jobs.Fields) {
	f.Int("lsh.tables", &h.tables, 0, lsh.MaxTables)
	f.Int("lsh.hashes", &h.hashes, 0, lsh.MaxHashes)
	jobs.Scalar(f, "lsh.width", &h.width)
	jobs.Scalar(f, "lsh.seed", &h.seed)
}

// checkHashed refuses tables that are not those of a search; of a state there may be none yet.
func (s *space) checkHashed(h hashed) error {
	if h == (hashed{seed: h.seed, queries: h.queries}) {
		return nil
	}
	if c := s.curve(h); c.Check() != nil {
		return jobs.Malformed("an index by hashing: %v", c.Check())
	}
	return nil
}

// curve is the S-curve of an index.
func (s *space) curve(h hashed) lsh.Curve {
	family, _ := s.params.Metric.family()
	return lsh.Curve{Family: family, Width: h.width, Tables: h.tables, Hashes: h.hashes, Columns: s.vectors.Width}
}

// beginHashing notes the tables that are given, if an index is by hashing, and refuses those that are too large.
func (p *plan) beginHashing(in *index, queries int64) error {
	if p.params.Index != indexLSH {
		return nil
	}
	in.hashed = hashed{seed: p.seed, queries: queries}
	family, _ := p.params.Metric.family()
	if c, ok := p.params.LSH.Given(family, in.vectors.Width); ok {
		in.hashed.tables, in.hashed.hashes, in.hashed.width = c.Tables, c.Hashes, c.Width
		return c.CheckSize()
	}
	if in.vectors.Width > mostDrawnWidth {
		return protocol.InputFault(protocol.CodeInputLimit, "rows have %d columns; to choose tables for a recall they have "+
			"at most %d", in.vectors.Width, mostDrawnWidth).
			WithHint("Give params.lsh.tables and params.lsh.hashes, or fewer columns (params.features.hashing).")
	}
	return nil
}

// hashing is a search by collisions. One goroutine at a time.
type hashing struct {
	hasher     *lsh.Hasher
	tables     lsh.Tables
	count      int // of tables
	keys       []uint64
	entered    bool // all queries are in the tables
	candidates int64
}

func (s *space) newHashing(h hashed) *hashing {
	return &hashing{hasher: lsh.NewHasher(s.curve(h), s.form().rows, h.seed), count: h.tables}
}

// forget makes the tables ready for other queries.
func (h *hashing) forget() *hashing {
	h.entered = false
	return h
}

// enterQueries puts the queries from up to, not including, to into the tables.
func (s *searcher) enterQueries(from, to int) {
	h := s.hashing
	h.tables.Begin(h.count, to-from)
	h.hash(s.ops, s.queries, from, to, func(q int, keys []uint64) { h.tables.Enter(q-from, keys) })
}

// hash visits the rows from up to, not including, to with their keys.
func (h *hashing) hash(ops *kernelops.Set, p *points, from, to int, visit func(row int, keys []uint64)) {
	step := h.hasher.RowsOfCall()
	h.keys = kernelops.Resize(h.keys, step*h.count)
	for ; from < to; from += step {
		end := min(from+step, to)
		h.hasher.Keys(ops, h.keys, &p.Rows, from, end)
		for i := from; i < end; i++ {
			visit(i, h.keys[(i-from)*h.count:][:h.count])
		}
	}
}

// colliding enters the rows of base into the lists of the queries with which they share a key in a table. Queries are
// taken in blocks, so that their tables have a bounded size; more than one block hashes the base once for each.
func (s *searcher) colliding(ctx context.Context, base *points) error {
	h := s.hashing
	s.xNorms = s.hashedNorms(s.xNorms, s.queries, 0, s.queries.N)
	most := lsh.RowsOfTables(h.count)
	for first := 0; first < s.queries.N; first += most {
		if to := min(first+most, s.queries.N); !h.entered {
			s.enterQueries(first, to)
			h.entered = to-first == s.queries.N
		}
		var err error
		h.hash(s.ops, base, 0, base.N, func(j int, keys []uint64) {
			if err == nil {
				err = ctx.Err()
			}
			if err == nil {
				err = s.compare(first, h.tables.Colliding(keys), base, j)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// hashedNorms are the norms of rows, which cosine alone needs.
func (s *searcher) hashedNorms(dst []float64, p *points, from, to int) []float64 {
	dst = dst[:0]
	for i := from; i < to && s.of == cosine; i++ {
		indices, values := p.Row(i)
		if p.Form == rows.Sparse {
			dst = append(dst, math.Sqrt(sparseSquare(indices, values)))
		} else {
			dst = append(dst, norm64(values))
		}
	}
	return dst
}

// compare enters row j of base into the lists of queries, whose numbers count from first.
func (s *searcher) compare(first int, queries []int32, base *points, j int) error {
	if len(queries) == 0 {
		return nil
	}
	s.yNorms = s.hashedNorms(s.yNorms, base, j, j+1)
	if base.Form == rows.Sparse {
		defer s.crossing.clear(base, j)
	}
	for _, number := range queries {
		q := first + int(number)
		if s.own && base.ids[j] == s.queries.ids[q] {
			continue
		}
		s.hashing.candidates++
		if err := s.enter(q, s.keyOf(q, base, j), base, j); err != nil {
			return err
		}
	}
	return nil
}

// keyOf is the key of query q and row j of base, to the bit that of the exact search. Sparse rows change places, so
// that row j is spread out once for all its queries; no key minds.
func (s *searcher) keyOf(q int, base *points, j int) float64 {
	x, y := 0.0, 0.0
	if s.of == cosine {
		x, y = s.xNorms[q], s.yNorms[0]
	}
	switch base.Form {
	case rows.Bits:
		differ, words := 0, base.Words
		other := base.Bits[j*words : (j+1)*words]
		for w, word := range s.queries.Bits[q*words : (q+1)*words] {
			differ += bits.OnesCount64(word ^ other[w])
		}
		return float64(differ)
	case rows.Sparse:
		return s.crossing.key(s.of, base, j, s.queries, q, y, x)
	}
	width := base.Width
	return s.of.key(s.queries.Dense[q*width:(q+1)*width], base.Dense[j*width:(j+1)*width], x, y)
}

// Marks of the neighbors in exact lists, in place of their targets: 1 + t where table t alone finds a neighbor, 1 + the
// tables where several do.
const (
	unmarked = -1
	missed   = 0
)

// mark marks the neighbors in the exact lists that are of this base.
func (s *search) mark(base *points) {
	h, found := s.hashing, s.exactly.found
	if s.keys == nil {
		h.hash(s.ops, s.exactly.queries, 0, s.exactly.queries.N, func(_ int, keys []uint64) {
			s.keys = append(s.keys, keys...)
		})
	}
	type entry struct{ q, place int }
	entries := map[int64][]entry{} // by neighbor
	for q, row := range found.rows {
		for place, n := range row {
			if n.target == unmarked {
				entries[n.id] = append(entries[n.id], entry{q, place})
			}
		}
	}
	var listed []int
	for j := range base.N {
		if entries[base.idOf(j)] != nil {
			listed = append(listed, j)
		}
	}
	for some := range slices.Chunk(listed, h.hasher.RowsOfCall()) { // of which there is a copy
		h.hash(s.ops, base.pick(some), 0, len(some), func(i int, keys []uint64) {
			for _, e := range entries[base.idOf(some[i])] {
				found.rows[e.q][e.place].target = markOf(s.keys[e.q*h.count:][:h.count], keys)
			}
		})
	}
}

// markOf is the mark of two rows by their keys.
func markOf(x, y []uint64) float64 {
	mark := missed
	for t, key := range x {
		switch {
		case key != y[t]:
		case mark == missed:
			mark = 1 + t
		default:
			return float64(1 + len(x))
		}
	}
	return float64(mark)
}
