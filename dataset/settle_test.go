package dataset

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

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
	if w.settle(b); w.quiet || w.at(0).quiet || !w.at(1).quiet {
		t.Errorf("a constant beside a column that spreads: %+v", w)
	}
	if w.settle(dense(sampled, 2)); !w.quiet || !w.at(0).quiet {
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
	if w.settle(b); len(w.places) != 3 || w.at(0).quiet || !w.at(1).quiet || !w.at(2).quiet || w.quiet {
		t.Errorf("a constant, a column of half the records, and a column of no record: %+v", w.cols)
	}
	for i := range b.Sparse.Indices {
		if b.Sparse.Indices[i] == 0 {
			b.Sparse.Values[i] = float32(i)
		}
	}
	if w.settle(b); !w.quiet || !w.at(0).quiet {
		t.Errorf("the constant spreads in the next block: %+v", w.cols)
	}
}

// plainWatch is a watch of moves alone that has an entry for every column up to the greatest that was asked for.
type plainWatch struct {
	quiet []bool
	count []int64
}

func (w *plainWatch) move(col int) {
	for len(w.quiet) <= col {
		w.quiet, w.count = append(w.quiet, false), append(w.count, 0)
	}
	if !w.quiet[col] {
		w.count[col]++
	}
}

// settle goes over all columns, and returns the columns that moved and how often.
func (w *plainWatch) settle(b *Block) map[int]int64 {
	told := map[int]int64{}
	for col, n := range w.count {
		if w.count[col] = 0; n > 0 {
			told[col] = n
		}
	}
	for col := range w.quiet {
		var s spread
		for k := range sampled {
			index, value := b.Sparse.Row(sampleOf(k, len(b.IDs)))
			for e, j := range index {
				if int(j) == col {
					s.add(float64(value[e]))
				}
			}
		}
		if s.n < sampled {
			s.add(0)
		}
		w.quiet[col] = s.wide()
	}
	return told
}

// What is told of sparse columns is what a watch tells that goes over all of them after every block.
func TestSettleAsAllColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for range 50 {
		w, plain, told := watching(), &plainWatch{}, 0
		for range 6 {
			rows, width := sampled+r.IntN(40), 1+r.IntN(30)
			b := &Block{IDs: make([]Identity, rows), Sparse: Sparse{Width: 30, Indptr: []int{0}}}
			for range rows {
				for col := range width {
					x := floatNumber([]float64{0.1, 0.1 + r.Float64(), 1000.1, 1000.1 + 1e-5*r.Float64()}[col%4])
					if col%3 == 0 && r.IntN(4) == 0 {
						continue
					}
					b.Sparse.Indices = append(b.Sparse.Indices, int32(col))
					b.Sparse.Values = append(b.Sparse.Values, x.value)
					if w.take(col, x); x.exact != float64(x.value) {
						plain.move(col)
					}
				}
				b.Sparse.Indptr = append(b.Sparse.Indptr, len(b.Sparse.Indices))
			}
			got, want := map[int]int64{}, plain.settle(b)
			if n := w.notes(b); n != nil {
				for _, rounded := range n.Rounded {
					got[rounded.Column] = rounded.Moved
				}
			}
			if told += len(want); !reflect.DeepEqual(got, want) {
				t.Fatalf("moved %v, want %v", got, want)
			}
		}
		if told == 0 {
			t.Error("nothing moved")
		}
	}
}
