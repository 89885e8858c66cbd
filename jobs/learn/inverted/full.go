package inverted

// A column that at least one row in leastShare has is also kept with its zeros, for vector routines go through eight of
// these in less time than through one entry of a list. mostFull bounds the memory: 4 MiB.
const (
	leastShare = 8
	mostFull   = 256
)

// full are columns of a block with a value for each of its rows. That of a row that does not have the column is -0: its
// product with a number above 0 is -0, which changes no sum, be it that of Apart.
type full struct {
	place  []int32 // by slot, 1 plus its place among the full columns; 0 for others
	values []float32
}

func (f *full) forget() { f.place, f.values = f.place[:0], f.values[:0] }

// column is that of a slot, of n rows; nil where it is not full.
func (f *full) column(slot int32, n int) []float32 {
	if int(slot) >= len(f.place) || f.place[slot] == 0 {
		return nil
	}
	from := int(f.place[slot]-1) * n
	return f.values[from : from+n]
}

// fillOut makes the full columns of the block, in the order in which its rows have them.
func (b *Block) fillOut() {
	f, places := &b.full, int32(0)
	f.place = append(f.place, 0) // of the slot of no column
	from := int32(0)
	for _, end := range b.ends {
		if int(end-from)*leastShare < b.N || places == mostFull {
			f.place = append(f.place, 0)
		} else {
			places++
			f.place = append(f.place, places)
			f.fill(b.N, b.rows[from:end], b.values[from:end])
		}
		from = end
	}
}

// fill appends a column of n rows.
func (f *full) fill(n int, rows []uint16, values []float32) {
	from := len(f.values)
	f.values = append(f.values, empty[:n]...)
	for i, r := range rows {
		f.values[from+int(r)] = values[i]
	}
}

// empty are rows without the column.
var empty = func() (e [MostRows]float32) {
	for i := range e {
		e[i] = float32(apart)
	}
	return e
}()
