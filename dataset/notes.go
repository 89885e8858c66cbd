package dataset

import "math"

// Notes are what a reader noticed among the records of a block, those that were passed over included.
type Notes struct {
	Rounded []Rounding // by column, ascending
	Beyond  int64      // values that rounding moved in columns beyond maxWatched
}

// Rounding is how values of a column were moved when they became float32.
type Rounding struct {
	Column    int     // of the vector, from 0
	Name      string  // as people know the column
	Moved     int64   // values that are no float32
	Low, High float64 // the least and the greatest of value - float32(value) among these
	// Equal are two different whole numbers that became one float32; empty where none were seen.
	Equal [2]string
}

// Offset is what was taken off the values of a column before they were rounded.
type Offset struct {
	Column int     `json:"column"` // of the vector, from 0
	Value  float64 `json:"value"`
}

const (
	float32Wholes = 1 << 24 // all whole numbers up to here are float32
	float64Wholes = 1 << 53
)

// number is a value as it was written, and as float32.
type number struct {
	exact float64 // the nearest float64
	value float32 // the float32 nearest to what was written
	whole int64   // where isWhole: the value itself
	// isWhole says that the value is a whole number beyond those that all are float32, and is in whole.
	isWhole bool
}

// wholeNumber is an integer of a binary format.
func wholeNumber(n int64) number {
	x := number{exact: float64(n), value: float32(n)}
	if n > float32Wholes || n < -float32Wholes {
		x.whole, x.isWhole = n, true
	}
	return x
}

// floatNumber is a float64 of a binary format.
func floatNumber(v float64) number {
	x := number{exact: v, value: float32(v)}
	if a := math.Abs(v); a > float32Wholes && a < float64Wholes && v == math.Trunc(v) {
		x.whole, x.isWhole = int64(v), true //lint:checked below 2^53
	}
	return x
}

// excess returns by how much a whole number exceeds its float64; 0 up to 2^53.
func (x number) excess() float64 {
	if x.exact >= 1<<63 {
		return float64(x.whole - 1<<62 - 1<<62)
	}
	return float64(x.whole - int64(x.exact)) //lint:checked within int64
}

// minus takes an offset off: of whole numbers exactly, else in float64.
func (x number) minus(offset float64) number {
	diff := x.exact - offset
	if x.isWhole && offset == math.Trunc(offset) && math.Abs(offset) < 1<<62 && math.Abs(diff) < 1<<62 {
		return wholeNumber(x.whole - int64(offset)) //lint:checked below 2^62, as is the difference
	}
	return floatNumber(diff)
}
