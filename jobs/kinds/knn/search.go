package knn

import (
	"context"
	"math"

	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
)

// searcher enters the rows of a base, chunk by chunk, into the lists of queries. One goroutine
// at a time.
type searcher struct {
	ops     *kernelops.Set
	of      metric
	power   power // of minkowski
	queries *points
	found   *lists
	own     bool // queries are records of the base, and none is its own neighbor
	marks   bool // targets of neighbors are their marks: see mark

	ws             kernelops.Workspace
	packed         kernelops.Base  // the dense rows of the base in a tile
	kept           *kernelops.Base // the same where the base stays, in one tile, from search to search; else nil
	narrow         narrow
	most           []float64 // of each query, the distance beyond which nothing enters its list
	xBuf, yBuf     []float32
	products       []float32
	xNorms, yNorms []float64
	ids, counts    []int
	dists          []float64
	cosines        []float64 // of the latitudes of the base
	editor         editor
	crossing       crossing
	setSearch      setSearch
	hashing        *hashing // nil where all rows are compared
}

// rankedRows is how many rows of the base a tile has where no matrix of products is written; the last one may be an
// eighth longer.
const rankedRows = 1 << 16

// tile is a rectangle of the table of queries and base.
type tile struct {
	x, y        kernelops.Matrix
	firstX      int // query of the first row of x
	firstY      int // row of base of the first row of y
	base        *points
	filterOfRow filter
}

// search enters all rows of base.
func (s *searcher) search(ctx context.Context, base *points) error {
	if base.N == 0 || s.queries.N == 0 {
		return nil
	}
	switch {
	case s.hashing != nil:
		return s.colliding(ctx, base)
	case s.of == edit:
		return s.each(ctx, func(q int) error { return s.edits(q, base) })
	case s.of == haversine:
		s.cosines = cosines(s.cosines, base)
		return s.each(ctx, func(q int) error { return s.sphere(q, base) })
	case s.of.given():
		return s.each(ctx, func(q int) error { return s.given(q, base) })
	case s.of == jaccard || s.of == hamming && s.fewElements(base):
		return s.sets(ctx, base)
	case s.of == hamming:
		return s.each(ctx, func(q int) error { return s.bits(q, base) })
	case base.Form == rows.Sparse && s.thin(base):
		return s.sparse(ctx, base)
	}
	return s.spreadOut(ctx, base)
}

// spreadOut enters all rows of base as dense ones.
func (s *searcher) spreadOut(ctx context.Context, base *points) error {
	switch {
	case s.of == l2 && s.found.k > 0:
		return s.tiles(ctx, base.ordered(), rows.BaseRows, rankedRows, s.ranked)
	case s.of == l2:
		return s.tiles(ctx, base, rows.QueryRows, rankedRows, s.within)
	case s.of == l1 || s.of == linf || s.of == minkowski:
		return s.tiles(ctx, base, rows.QueryRows, rows.BaseRows, s.differences)
	case s.byBytes(base):
		return s.tiles(ctx, base.ordered(), rows.BaseRows, rankedRows, s.rankedProducts)
	}
	return s.tiles(ctx, base, rows.QueryRows, rows.BaseRows, s.dots)
}

// each calls visit with every query.
func (s *searcher) each(ctx context.Context, visit func(q int) error) error {
	for q := range s.queries.N {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := visit(q); err != nil {
			return err
		}
	}
	return nil
}

// tiles calls visit with every tile, those of the same rows of the base after each other.
func (s *searcher) tiles(ctx context.Context, base *points, mostX, mostY int, visit func(tile) error) error {
	t := tile{base: base, filterOfRow: newFilter(base.Width)}
	for t.firstY, t.y = range base.LongTiles(0, base.N, mostY, &s.yBuf) {
		for t.firstX, t.x = range s.queries.Tiles(0, s.queries.N, mostX, &s.xBuf) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := visit(t); err != nil {
				return err
			}
		}
	}
	return nil
}

func norms(dst []float64, m kernelops.Matrix) []float64 {
	dst = kernelops.Resize(dst, m.Rows)
	for i := range dst {
		dst[i] = norm64(m.Row(i))
	}
	return dst
}

// ranked is l2 for k: the exact search of kernelops, where ties go to the lower row.
func (s *searcher) ranked(t tile) error {
	k, packed := s.room(t), &s.packed
	switch {
	case s.kept != nil && t.y.Rows == t.base.N: // in one tile
		packed = s.kept
		packed.Keep(s.ops, t.y, t.x, &s.ws)
	case t.firstX == 0: // the next tiles have the same rows of the base
		packed.PackFor(s.ops, t.y, t.x, s.most, s.queries.N, &s.ws)
	}
	packed.Search(s.ids, s.dists, k, t.x, s.most, &s.ws)
	for i := range t.x.Rows {
		if err := s.enterAll(t, i, k); err != nil {
			return err
		}
	}
	return nil
}

// within is l2 by radius: the exact search of kernelops up to a distance.
func (s *searcher) within(t tile) error {
	s.limits(t)
	if t.firstX == 0 { // the next tiles have the same rows of the base
		s.packed.PackWithin(s.ops, t.y, t.x, s.most, s.queries.N, &s.ws)
	}
	return s.listed(t)
}

// listed enters the rows of a tile that are within the limits.
func (s *searcher) listed(t tile) (err error) {
	s.packed.SearchWithin(t.x, s.most, func(i, row int, dist float64) bool {
		if err == nil {
			err = s.enter(t.firstX+i, dist, t.base, t.firstY+row)
		}
		return err == nil
	}, &s.ws)
	return err
}

// room makes room for the nearest rows of a tile, and returns how many of each query are searched.
func (s *searcher) room(t tile) (k int) {
	k = s.found.k
	if s.own {
		k++ // the query itself may be among them
	}
	k = min(k, t.y.Rows)
	s.ids, s.dists = kernelops.Resize(s.ids, k*t.x.Rows), kernelops.Resize(s.dists, k*t.x.Rows)
	s.limits(t)
	return k
}

// limits sets the distances of the queries of a tile beyond which nothing enters their lists.
func (s *searcher) limits(t tile) {
	s.most = kernelops.Resize(s.most, t.x.Rows)
	for i := range s.most {
		s.most[i] = s.found.worst(t.firstX + i)
	}
}

// enterAll enters the k nearest rows of a tile into the list of its query i.
func (s *searcher) enterAll(t tile, i, k int) error {
	for j := i * k; j < (i+1)*k && s.ids[j] >= 0; j++ {
		if err := s.enter(t.firstX+i, s.dists[j], t.base, t.firstY+s.ids[j]); err != nil {
			return err
		}
	}
	return nil
}

// dots is inner_product and cosine, filtered by dot products.
func (s *searcher) dots(t tile) error {
	if t.firstX == 0 { // the next tiles have the same rows of the base
		s.yNorms = norms(s.yNorms, t.y)
	}
	return s.dotsOf(t, func(i int) int { return t.firstX + i })
}

// dotsOf is dots for rows of queries with these numbers, where the norms of the base are known.
func (s *searcher) dotsOf(t tile, number func(i int) int) error {
	s.products = kernelops.Resize(s.products, t.x.Rows*t.y.Rows)
	products := kernelops.Matrix{Data: s.products, Rows: t.x.Rows, Cols: t.y.Rows, Stride: t.y.Rows}
	s.ops.Dots(products, t.x, t.y, &s.ws)
	s.xNorms = norms(s.xNorms, t.x)
	for i := range t.x.Rows {
		if err := s.filtered(t, number(i), t.x.Row(i), s.xNorms[i], products.Row(i)); err != nil {
			return err
		}
	}
	return nil
}

// narrow is a search of products through rows of 8 bits.
type narrow struct {
	helps bool      // with the rows of the base that are in the tile
	left  []float32 // queries that were not searched
}

// byBytes reports whether the rows of a base with the largest products or cosines may be searched through rows of 8
// bits: as those of l2, in tiles of many rows, whose matrix of products is not written.
func (s *searcher) byBytes(base *points) bool {
	return (s.of == innerProduct || s.of == cosine) && s.found.k > 0 && kernelops.HasBytes(s.ops) &&
		kernelops.BytesPay(min(base.N, rankedRows), base.Width, s.queries.N, true)
}

// rankedProducts is inner_product and cosine for k. Ties go to the lower row. Where 8 bits say too little, dots does
// the search.
func (s *searcher) rankedProducts(t tile) error {
	k := s.room(t)
	if t.firstX == 0 { // the next tiles have the same rows of the base
		s.narrow.helps = s.packed.PackProducts(s.ops, t.y, t.x, s.most, s.of == cosine, s.queries.N, &s.ws)
	}
	if !s.narrow.helps {
		return s.inParts(t, t.x, func(i int) int { return t.firstX + i })
	}
	var some []int
	for i, left := range s.packed.SearchProducts(s.ids, s.dists, k, t.x, s.most, &s.ws) {
		if left {
			some = append(some, i)
		} else if err := s.enterAll(t, i, k); err != nil {
			return err
		}
	}
	s.narrow.left = kernelops.Resize(s.narrow.left, len(some)*t.x.Cols)
	x := kernelops.Matrix{Data: s.narrow.left, Rows: len(some), Cols: t.x.Cols, Stride: t.x.Cols}
	for n, i := range some {
		copy(x.Row(n), t.x.Row(i))
	}
	return s.inParts(t, x, func(n int) int { return t.firstX + some[n] })
}

// inParts is dots for some rows of a tile's queries, in parts whose products fit in the cache. number is that of a row
// among the queries.
func (s *searcher) inParts(t tile, x kernelops.Matrix, number func(i int) int) error {
	for firstY := 0; firstY < t.y.Rows && x.Rows > 0; firstY += rows.BaseRows {
		part := t
		part.firstY, part.y = t.firstY+firstY, t.y.RowRange(firstY, min(t.y.Rows, firstY+rows.BaseRows))
		s.yNorms = norms(s.yNorms, part.y)
		for first := 0; first < x.Rows; first += rows.QueryRows {
			part.x = x.RowRange(first, min(x.Rows, first+rows.QueryRows))
			if err := s.dotsOf(part, func(i int) int { return number(first + i) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// filtered enters the rows of a tile into the list of query q, x, whose products with them are given.
func (s *searcher) filtered(t tile, q int, x []float32, xNorm float64, products []float32) error {
	f, worst := t.filterOfRow, s.found.worst(q)
	for j, c := range products {
		if f.out(c, f.need(s.of, worst, xNorm, s.yNorms[j]), xNorm, s.yNorms[j]) {
			continue
		}
		key := s.of.key(x, t.y.Row(j), xNorm, s.yNorms[j])
		if err := s.enter(q, key, t.base, t.firstY+j); err != nil {
			return err
		}
		worst = s.found.worst(q)
	}
	return nil
}

// differences is l1, linf and minkowski, whose distance is at least that of linf.
func (s *searcher) differences(t tile) error {
	scan := s.ops.LInfRows
	if s.of == l1 {
		scan = s.ops.L1Rows
	}
	s.products = kernelops.Resize(s.products, t.y.Rows)
	for i := range t.x.Rows {
		q, x := t.firstX+i, t.x.Row(i)
		scan(s.products, t.y, x)
		worst := s.found.worst(q)
		for j, d := range s.products {
			if t.filterOfRow.beyond(d, worst) {
				continue
			}
			key := 0.0
			if y := t.y.Row(j); s.of == minkowski {
				key = s.power.distance(x, y)
			} else {
				key = s.of.key(x, y, 0, 0)
			}
			if err := s.enter(q, key, t.base, t.firstY+j); err != nil {
				return err
			}
			worst = s.found.worst(q)
		}
	}
	return nil
}

// bits is hamming.
func (s *searcher) bits(q int, base *points) error {
	s.counts = kernelops.Resize(s.counts, base.N)
	words := base.Words
	s.ops.HammingRows(s.counts, base.Bits, s.queries.Bits[q*words:(q+1)*words])
	worst := s.found.worst(q)
	for j, n := range s.counts {
		if float64(n) > worst {
			continue
		}
		if err := s.enter(q, float64(n), base, j); err != nil {
			return err
		}
		worst = s.found.worst(q)
	}
	return nil
}

// edits is edit: no distance is computed beyond the worst that can enter.
func (s *searcher) edits(q int, base *points) error {
	text := s.queries.Texts[q]
	for j, other := range base.Texts {
		limit := math.MaxInt
		if worst := s.found.worst(q); worst < 1<<31 {
			limit = int(math.Floor(worst)) //lint:checked below 2^31
		}
		d := s.editor.distance(text, other, limit)
		if d > limit {
			continue
		}
		if err := s.enter(q, float64(d), base, j); err != nil {
			return err
		}
	}
	return nil
}

// enter offers row j of the base to the list of query q.
func (s *searcher) enter(q int, key float64, base *points, j int) error {
	if s.own && base.ids[j] == s.queries.ids[q] {
		return nil
	}
	n := neighbor{key, base.idOf(j), base.targetOf(j)}
	if s.marks {
		n.target = unmarked
	}
	return s.found.add(q, n)
}
