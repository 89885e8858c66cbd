package dataset

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/gram-compute/gram/kernelops/decimal"
)

const (
	maxWatched = 1 << 16 // columns
	maxWholes  = 64      // columns whose large whole numbers are compared with each other
	wholeSlots = 1 << 12 // of them, those that are remembered of a column
	sampled    = 32      // records of a block that settle whether its columns need watching
)

// watch notices how values move when they become float32, and takes offsets off before. The zero value watches every
// column.
//
// Rounding moves a value by at most 2^-24 of it. In a column that spreads over more than a thousandth of its greatest
// value that is nothing, and such a column is quiet: the next block is read without looking. Whether it spreads is
// asked of a sample of every block.
type watch struct {
	fresh   bool // no block of the object was complete yet
	quiet   bool // every column is
	moved   bool // some column has what notes tell
	places  []int32
	cols    []watched // by place; places has the place of a column from 1, or 0 where it is not among them
	settled int       // columns before it that are not among cols are quiet
	samples samples
	beyond  int64
	tables  int
	name    func(col int) string
	shifts  []float64 // by column, up to the last one off which something is taken
	missing *missing  // what is a missing number
	over    int       // the last column of the record whose difference is beyond float32, from 1; 0 means no column
}

// watched is a column; low, high and count are of the values that moved since the last block.
type watched struct {
	col       int
	low, high float64 // low above high where none did
	count     int64
	quiet     bool
	table     *wholeTable
	equal     [2]string // see Rounding
	told      bool      // earlier notes have reported equal
}

// begin watches the columns of another object. offsets ascend by column.
func (w *watch) begin(name func(col int) string, offsets []Offset) {
	w.name, w.shifts = name, nil
	if len(offsets) > 0 {
		w.shifts = make([]float64, offsets[len(offsets)-1].Column+1)
	}
	for _, o := range offsets {
		w.shifts[o.Column] = o.Value
	}
	w.quiet, w.fresh, w.settled = false, true, 0
	for i := range w.cols {
		w.cols[i].quiet = false
	}
}

// at is a column, or nil beyond those that are watched. Only columns that were asked for take memory, as sparse
// vectors have many that no value ever moves in.
func (w *watch) at(col int) *watched {
	if col >= maxWatched {
		return nil
	}
	if col >= len(w.places) {
		w.places = append(w.places, make([]int32, col+1-len(w.places))...)
	}
	if w.places[col] == 0 {
		w.cols = append(w.cols, watched{col: col, low: math.Inf(1), high: math.Inf(-1), quiet: col < w.settled})
		w.places[col] = int32(len(w.cols))
	}
	return &w.cols[w.places[col]-1]
}

// take makes a value float32.
func (w *watch) take(col int, x number) float32 {
	if x.missing() {
		return x.value
	}
	if col < len(w.shifts) && w.shifts[col] != 0 {
		if x = x.minus(w.shifts[col]); math.IsInf(float64(x.value), 0) {
			w.over = col + 1
			return 0
		}
	}
	d := x.exact - float64(x.value)
	if x.isWhole {
		w.compare(col, x)
		d += x.excess()
	}
	if d != 0 {
		w.move(col, d)
	}
	return x.value
}

// judge returns a record's flaw: bad, or else that a difference of the record is beyond float32. The next record begins
// without one.
func (w *watch) judge(bad flaw) flaw {
	over := w.over
	w.over = 0
	if over == 0 || bad.reason != "" {
		return bad
	}
	name := w.name(over - 1)
	if plain, err := strconv.Unquote(name); err == nil {
		name = plain
	}
	return flaw{reason: differs32, path: name}
}

// short is take for a number that scanNumber read, whose whole numbers are all float32.
func (w *watch) short(col int, x short) float32 {
	value := x.float32()
	switch {
	case w.shifts != nil:
		return w.take(col, number{exact: x.float64(), value: value})
	case w.quiet:
		return value
	}
	if d := x.float64() - float64(value); d != 0 {
		w.move(col, d)
	}
	return value
}

// inexact says what is done with numbers that rounding moves: where columns are watched, they are read one by one.
func (w *watch) inexact() uint64 {
	if w.quiet {
		return decimal.Rounded
	}
	return decimal.Refused
}

func (w *watch) move(col int, d float64) {
	if col < w.settled && w.places[col] == 0 {
		return
	}
	c := w.at(col)
	switch {
	case c == nil:
		w.beyond++
		return
	case c.quiet:
		return
	}
	w.moved = true
	c.count++
	c.low, c.high = min(c.low, d), max(c.high, d)
}

// wholeTable remembers large whole numbers of a column by the float32 that they became, the latest in each slot.
type wholeTable [wholeSlots]struct {
	value float32
	whole int64
}

// compare looks for another whole number that became the same float32, and for nothing more once it has found one.
func (w *watch) compare(col int, x number) {
	c := w.at(col)
	if c == nil || c.equal[0] != "" {
		return
	}
	if c.table == nil {
		if w.tables == maxWholes {
			return
		}
		w.tables++
		c.table = new(wholeTable)
	}
	slot := &c.table[math.Float32bits(x.value)*2654435769>>20] // Fibonacci hashing (Knuth, volume 3, section 6.4)
	if slot.value == x.value && slot.whole != x.whole {
		c.equal = [2]string{strconv.FormatInt(slot.whole, 10), strconv.FormatInt(x.whole, 10)}
		w.moved = true
		return
	}
	slot.value, slot.whole = x.value, x.whole
}

// notes are those of the block, which is complete; nil where there is nothing to say. They settle which columns
// are watched in the next.
func (w *watch) notes(b *Block) *Notes {
	var n *Notes
	if w.moved || w.beyond > 0 {
		n = &Notes{Rounded: w.rounded(), Beyond: w.beyond}
		w.moved, w.beyond = false, 0
	}
	w.settle(b)
	return n
}

// rounded are the columns to tell of, ascending.
func (w *watch) rounded() []Rounding {
	var list []Rounding
	for at := range w.cols {
		c := &w.cols[at]
		if c.count == 0 && (c.equal[0] == "" || c.told) {
			continue
		}
		if c.count == 0 { // a quiet column counts no moves, but two numbers that became equal are reported all the same
			c.low, c.high = 0, 0
		}
		list = append(list, Rounding{
			Column: c.col, Name: w.name(c.col), Moved: c.count, Low: c.low, High: c.high, Equal: c.equal,
		})
		c.low, c.high, c.count, c.told = math.Inf(1), math.Inf(-1), 0, c.equal[0] != ""
	}
	// total order: columns differ
	slices.SortFunc(list, func(a, b Rounding) int { return cmp.Compare(a.Column, b.Column) })
	return list
}
