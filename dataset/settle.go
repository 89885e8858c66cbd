package dataset

import "math"

// spread is how far the sampled values of a column lie apart.
type spread struct {
	n, first, sum, squares, most float64 // sums of differences from the first
}

func (s *spread) add(v float64) {
	if s.n == 0 {
		s.first = v
	}
	d := v - s.first
	s.n, s.sum, s.squares, s.most = s.n+1, s.sum+d, s.squares+float64(d*d), max(s.most, math.Abs(v))
}

// wide says that rounding moves no value of the column by more than a sixteenth of a thousandth of its
// standard deviation.
func (s *spread) wide() bool {
	variance := (s.squares - float64(s.sum*s.sum)/s.n) / s.n
	least := float64(s.most * (0x1p-24 * 16 * 1000))
	return variance >= float64(least*least)
}

// samples are the spreads of the columns that a sample of records has values in. They keep memory between blocks.
type samples struct {
	places  []int32 // of a column in spreads, from 1
	columns []int
	spreads []spread
}

// begin makes room for columns up to n.
func (s *samples) begin(n int) {
	for _, col := range s.columns {
		s.places[col] = 0
	}
	s.columns, s.spreads = s.columns[:0], s.spreads[:0]
	if len(s.places) < n {
		s.places = make([]int32, n)
	}
}

// add takes a value that is not missing.
func (s *samples) add(col int, v float32) {
	if v != v {
		return
	}
	if s.places[col] == 0 {
		s.columns, s.spreads = append(s.columns, col), append(s.spreads, spread{})
		s.places[col] = int32(len(s.columns))
	}
	s.spreads[s.places[col]-1].add(float64(v))
}

// settle finds the quiet columns of a block of vectors.
func (w *watch) settle(b *Block) {
	w.fresh = false
	rows := len(b.IDs)
	if rows < sampled || len(w.cols) == 0 && b.Dense.Width == 0 {
		return
	}
	if b.Dense.Width > 0 {
		w.settleDense(b)
	} else {
		w.settleSparse(b)
	}
}

// sampleOf is the k-th record of a sample of n. The records lie evenly and in no period (Knuth, volume 3, section 6.4).
func sampleOf(k, n int) int { return int(uint64(uint32(k)*2654435769) * uint64(n) >> 32) }

func (w *watch) settleDense(b *Block) {
	width := b.Dense.Width
	most := min(width, maxWatched)
	w.samples.begin(most)
	for k := range sampled {
		for col, v := range b.Dense.Row(sampleOf(k, len(b.IDs)))[:most] {
			w.samples.add(col, v)
		}
	}
	w.quiet = width <= maxWatched
	for at, col := range w.samples.columns {
		c := w.at(col)
		c.quiet = w.samples.spreads[at].wide()
		w.quiet = w.quiet && c.quiet
	}
}

// settleSparse counts what is not stored as zeros: a column that has any among the sample spreads, for its values
// lie as far from 0 as they are large. Columns up to the last one that was asked for are settled; time is linear in the
// sample, and in the columns that are watched one by one.
func (w *watch) settleSparse(b *Block) {
	w.settled = len(w.places)
	w.samples.begin(w.settled)
	for k := range sampled {
		index, value := b.Sparse.Row(sampleOf(k, len(b.IDs)))
		for k, col := range index {
			if int(col) < w.settled {
				w.samples.add(int(col), value[k])
			}
		}
	}
	for at := range w.cols {
		w.cols[at].quiet = true
	}
	w.quiet = true
	for at, col := range w.samples.columns {
		s := &w.samples.spreads[at]
		if s.n < sampled {
			s.add(0)
		}
		if !s.wide() {
			w.at(col).quiet, w.quiet = false, false
		}
	}
}
