package dataset

import "testing"

// dense is a block of n records, each of whose values is the record's number.
func dense(n, width int) *Block {
	b := &Block{IDs: make([]Identity, n), Dense: Dense{Width: width}}
	for i := range n {
		for range width {
			b.Dense.Values = append(b.Dense.Values, float32(i))
		}
	}
	return b
}

// A block of at least 32 records settles which columns are quiet, as long as all of them are watched.
func TestSettleDense(t *testing.T) {
	for _, c := range []struct {
		rows, width int
		want        bool
	}{
		{sampled - 1, 1, false}, {sampled, 1, true}, {sampled, 3, true},
		{sampled, maxWatched, true}, {sampled, maxWatched + 1, false},
	} {
		w := watching()
		if w.settle(dense(c.rows, c.width)); w.quiet != c.want {
			t.Errorf("%d records of %d values: quiet %v, want %v", c.rows, c.width, w.quiet, c.want)
		}
	}
	w, b := watching(), dense(sampled, 2)
	for i := range sampled {
		b.Dense.Values[2*i] = 1000
	}
	if w.settle(b); w.quiet || w.cols[0].quiet || !w.cols[1].quiet {
		t.Errorf("a constant beside a column that spreads: %+v", w)
	}
	if w.settle(dense(sampled, 2)); !w.quiet || !w.cols[0].quiet {
		t.Errorf("the constant spreads in the next block: %+v", w)
	}
}

// A value that is not stored counts as 0, so a column that some records lack spreads.
func TestSettleSparse(t *testing.T) {
	b := &Block{IDs: make([]Identity, sampled), Sparse: Sparse{Width: 9, Indptr: []int{0}}}
	for i := range sampled {
		b.Sparse.Indices, b.Sparse.Values = append(b.Sparse.Indices, 0), append(b.Sparse.Values, 1000)
		if i%2 == 0 {
			b.Sparse.Indices, b.Sparse.Values = append(b.Sparse.Indices, 1), append(b.Sparse.Values, 1000)
		}
		b.Sparse.Indices, b.Sparse.Values = append(b.Sparse.Indices, 3), append(b.Sparse.Values, 1000)
		b.Sparse.Indptr = append(b.Sparse.Indptr, len(b.Sparse.Indices))
	}
	w := watching()
	if w.settle(b); w.quiet {
		t.Error("no column has moved, and all are quiet")
	}
	w.at(2)
	if w.settle(b); len(w.cols) != 3 || w.cols[0].quiet || !w.cols[1].quiet || !w.cols[2].quiet || w.quiet {
		t.Errorf("a constant, a column of half the records, and a column of no record: %+v", w.cols)
	}
	for i := range b.Sparse.Indices {
		if b.Sparse.Indices[i] == 0 {
			b.Sparse.Values[i] = float32(i)
		}
	}
	if w.settle(b); !w.quiet || !w.cols[0].quiet {
		t.Errorf("the constant spreads in the next block: %+v", w.cols)
	}
}
