package knn

import (
	"context"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
)

// sparsePoints draws sparse rows, with rows of zeros, duplicates, entries that are 0, denormal or large, and columns
// that are seldom held.
func sparsePoints(t *rapid.T, name string, most, width int) *points {
	value := rapid.SampledFrom([]float32{0, 1, 1, -1, 2, 0.1, 0.3, 1e-30, -7e-42, 1e-45, 3e18, -2e19, 1e38, 33.25})
	p := &points{Rows: rows.New(rows.Sparse, width)}
	held := rapid.SampledFrom([]int{1, 3, 10}).Draw(t, "one in")
	for range rapid.IntRange(1, most).Draw(t, name) {
		if p.N > 0 && rapid.IntRange(0, 4).Draw(t, "again") == 0 {
			p.Append(&[]rows.Rows{p.Pick([]int{rapid.IntRange(0, p.N-1).Draw(t, "of")})}[0])
			continue
		}
		row := dataset.Sparse{Width: width, Indptr: []int{0}}
		for j := range width {
			if rapid.IntRange(1, held).Draw(t, "held") == 1 {
				row.Indices, row.Values = append(row.Indices, int32(j)), append(row.Values, value.Draw(t, "value"))
			}
		}
		row.Indptr = append(row.Indptr, len(row.Values))
		p.Append(&rows.Rows{Form: rows.Sparse, N: 1, Width: width, Sparse: row})
	}
	p.ids, p.target = make([]int64, p.N), make([]float64, p.N)
	for i := range p.ids {
		p.ids[i] = int64(3 * i)
	}
	return p
}

// By columns or as dense rows: the lists are the same to the bit, whatever the metric, the rule, the chunks, and the
// order of ids.
func TestSparseRowsAreSearchedAsDenseOnes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		width := rapid.SampledFrom([]int{1, 7, 8, 9, 40, 100}).Draw(rt, "width")
		of := rapid.SampledFrom([]metric{l2, innerProduct, cosine, l1, linf, minkowski}).Draw(rt, "metric")
		r := rule{k: rapid.IntRange(1, 12).Draw(rt, "k")}
		if rapid.Bool().Draw(rt, "by radius") {
			r = rule{radius: rapid.SampledFrom([]float64{0, 0.5, 1, 2, 3e18, 1e39}).Draw(rt, "radius"), most: 1000}
		}
		queries, own := sparsePoints(rt, "queries", 5, width), rapid.Bool().Draw(rt, "own")
		ops := rapid.SampledFrom(kernelops.All()).Draw(rt, "ops")
		var found [2]*lists
		bases := []*points{sparsePoints(rt, "base", 40, width), sparsePoints(rt, "more", 10, width)}
		for i := range bases[1].ids {
			bases[1].ids[i] += 1000
		}
		if rapid.Bool().Draw(rt, "by ids") {
			bases[0].order = rapid.Permutation(every(bases[0].N)).Draw(rt, "order")
			bases[0].place = make([]int64, bases[0].N)
			for place, i := range bases[0].order {
				bases[0].place[i] = int64(2 * place)
			}
		}
		for way := range found {
			found[way] = (&lists{rule: r, of: of}).begin(queries.N)
			s := &searcher{ops: ops, of: of, queries: queries, found: found[way], own: own, power: 3}
			for _, base := range bases {
				search := s.sparse
				if way == 1 {
					search = s.spreadOut
				}
				if err := search(t.Context(), base); err != nil {
					rt.Fatal(err)
				}
			}
			found[way].sort()
		}
		if !reflect.DeepEqual(found[0].rows, found[1].rows) {
			rt.Fatalf("%s, %+v: by columns %v, as dense rows %v", of, r, found[0].rows, found[1].rows)
		}
	})
}

// By elements or by words: the lists of sets of bits are the same.
func TestSetsAreSearchedAsBits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		width := rapid.SampledFrom([]int{1, 63, 64, 65, 1300}).Draw(rt, "width")
		draw := func(name string, most int) *points {
			p := &points{Rows: rows.New(rows.Bits, width)}
			p.N = rapid.IntRange(1, most).Draw(rt, name)
			p.Bits = make([]uint64, p.N*p.Words)
			for i := range p.N {
				p.ids = append(p.ids, int64(i))
				for range rapid.IntRange(0, 4).Draw(rt, "elements") {
					j := rapid.IntRange(0, min(9, width-1)).Draw(rt, "element") * ((width + 9) / 10) % width
					p.Bits[i*p.Words+j/64] |= 1 << (j % 64)
				}
			}
			return p
		}
		queries, base := draw("queries", 4), draw("base", 30)
		r := rule{k: rapid.IntRange(1, 12).Draw(rt, "k")}
		if rapid.Bool().Draw(rt, "by radius") {
			r = rule{radius: float64(rapid.IntRange(0, 3).Draw(rt, "radius")), most: 100}
		}
		var found [2]*lists
		for way := range found {
			found[way] = (&lists{rule: r, of: hamming}).begin(queries.N)
			s := &searcher{ops: kernelops.Best(), of: hamming, queries: queries, found: found[way]}
			search := s.sets
			if way == 1 {
				search = func(ctx context.Context, base *points) error {
					return s.each(ctx, func(q int) error { return s.bits(q, base) })
				}
			}
			if err := search(t.Context(), base); err != nil {
				rt.Fatal(err)
			}
			found[way].sort()
		}
		if !reflect.DeepEqual(found[0].rows, found[1].rows) {
			rt.Fatalf("%+v: by elements %v, by words %v", r, found[0].rows, found[1].rows)
		}
	})
}

// More rows than a block has, and a few that share a column with few others: most keys are tied.
func TestSparseBlocks(t *testing.T) {
	const n, width = 4096 + 50, 600
	draw := func(n, salt int) *points {
		p := &points{Rows: rows.New(rows.Sparse, width)}
		for i := range n {
			for e := range (i*salt)%4 + 1 {
				j := int32((i*salt%97)*5 + 7*e)
				p.Sparse.Indices = append(p.Sparse.Indices, j)
				p.Sparse.Values = append(p.Sparse.Values, float32((i*salt+e)%5-2))
			}
			p.Sparse.Indptr = append(p.Sparse.Indptr, len(p.Sparse.Values))
			p.ids, p.N = append(p.ids, int64(i)), p.N+1
		}
		return p
	}
	queries, base := draw(5, 31), draw(n, 17)
	for _, of := range []metric{l2, innerProduct, cosine, l1, linf} {
		for _, k := range []int{1, 300} {
			var found [2]*lists
			for way := range found {
				found[way] = (&lists{rule: rule{k: k}, of: of}).begin(queries.N)
				s := &searcher{ops: kernelops.Best(), of: of, queries: queries, found: found[way]}
				if !s.thin(base) {
					t.Error("not thin")
				}
				search := s.sparse
				if way == 1 {
					search = s.spreadOut
				}
				if err := search(t.Context(), base); err != nil {
					t.Fatal(err)
				}
			}
			if !reflect.DeepEqual(found[0].rows, found[1].rows) {
				t.Errorf("%s, k %d: other lists by columns than of dense rows", of, k)
			}
		}
	}
}
