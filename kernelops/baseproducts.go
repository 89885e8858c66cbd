package kernelops

import "math"

// PackProducts is PackFor for SearchProducts, of inner products or of cosines. It reports whether rows of 8 bits help;
// if not, nothing can be searched.
func (b *Base) PackProducts(s *Set, y, x Matrix, most []float64, cosine bool, queries int, ws *Workspace) bool {
	b.pack(s, y, byteTrial{x: x, most: most, queries: queries}, byteKind{products: true, cosine: cosine}, ws)
	if b.packed {
		b.measureLengths(ws)
	}
	return b.packed
}

// measureLengths measures the lengths of the rows in float64, for cosines.
func (b *Base) measureLengths(ws *Workspace) {
	if !b.bytes.cosine {
		return
	}
	b.lengths = Resize(b.lengths, b.rows.Rows)
	ws.divide(b.rows.Rows, 1, func(_ *scratch, from, to int) {
		for i := from; i < to; i++ {
			b.lengths[i] = math.Sqrt(dot64(b.rows.Row(i), b.rows.Row(i)))
		}
	})
}

// SearchProducts finds the k rows of the base with the least keys for each row of x, exactly:
//
//	ids[i*k:][:k], keys[i*k:][:k] = the first k of the pairs (j, key) in the order of (key, j)
//
// where the key of rows x and y is 0 - dot64(x, y), or, of cosines, 1 - dot64(x, y)/(|x| |y|), between 0 and 2, and 1
// where one of them is 0 (see productKey). Where there are fewer, id -1 and key +Inf fill up, and NaN and +Inf are
// never among them. What is beyond most[i] is left out. It returns a flag for each query: where it is set, 8 bits
// tell too little about the rows, and the query was not searched.
func (b *Base) SearchProducts(ids []int, keys []float64, k int, x Matrix, most []float64, ws *Workspace) (left []bool) {
	checkTop(ids, len(keys), k, x, b.rows)
	if !b.packed || !b.bytes.products || len(most) != x.Rows {
		panic("kernelops: the base is not packed for products, or limits have the wrong length")
	}
	b.left = Resize(b.left, x.Rows)
	for i := range b.left {
		b.left[i] = b.rows.Rows/leastByteShare < k
	}
	if x.Rows > 0 && !b.left[0] {
		b.searchProducts(ids, keys, k, x, most, ws)
	}
	return b.left
}

// searchProducts is SearchProducts, whatever k is.
func (b *Base) searchProducts(ids []int, keys []float64, k int, x Matrix, most []float64, ws *Workspace) {
	ws.divide(x.Rows, maxWidth, func(sc *scratch, from, to int) {
		q := newQueries(b.set, k, x.RowRange(from, to), b.rows, most[from:to])
		q.left = b.left[from:to]
		for i := range q.list {
			l := &q.list[i]
			l.scorer, l.products = nil, &productKey{cosine: b.bytes.cosine, norms: b.lengths}
			if b.bytes.cosine {
				l.products.x = math.Sqrt(dot64(l.x, l.x))
			}
		}
		q.throughBytes(b.set, &b.bytes, sc)
		for i := range q.list {
			q.list[i].best.store(ids[(from+i)*k:(from+i+1)*k], keys[(from+i)*k:], q.list[i].most)
		}
	})
}
