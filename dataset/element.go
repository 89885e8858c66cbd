package dataset

import (
	"encoding/binary"
	"math"
	"strconv"
)

// element is how one number is stored in a binary format.
type element struct {
	kind  byte // 'f' IEEE 754, 'i' two's complement, 'u' unsigned, 'b' 0 or 1
	size  int  // bytes
	order binary.ByteOrder
}

// decode reads a row of numbers, each rounded to the nearest float32.
func (e element) decode(to []float32, row []byte, w *watch) flaw {
	if e.kind == 'u' && e.size == 1 {
		for i, b := range row[:len(to)] {
			to[i] = float32(b)
		}
		return flaw{}
	}
	if e.kind == 'b' {
		return bools(to, row)
	}
	if e.kind == 'f' && e.size == 4 && e.order == binary.LittleEndian && floats(to, row) {
		return flaw{}
	}
	if e.kind == 'f' && e.size == 8 && e.order == binary.LittleEndian && w.quiet && w.shifts == nil &&
		doubles(to, row) {
		return flaw{}
	}
	if e.kind != 'f' {
		e.integers(to, row, w)
		return flaw{}
	}
	for i := range to {
		value := e.float(row[i*e.size:])
		to[i] = float32(value)
		if float64(to[i])-float64(to[i]) != 0 { // infinity or NaN
			switch {
			case value-value == 0:
				return flaw{reason: beyond32, column: i + 1}
			case value != value && w.missing != nil && w.missing.nan:
				to[i] = float32(math.NaN()) // one NaN, whatever its bits were
				continue
			}
			return flaw{reason: notFinite, column: i + 1}
		}
		if !e.short() {
			to[i] = w.take(i, floatNumber(value))
		}
	}
	return flaw{}
}

// bools decodes numpy's truth values: a byte of 0 or 1 each.
func bools(to []float32, row []byte) flaw {
	for i, b := range row[:len(to)] {
		if b > 1 {
			return flaw{reason: notBool, column: i + 1}
		}
		to[i] = float32(b)
	}
	return flaw{}
}

// floats decodes the commonest kind of row, many at a time; false means that a value is not finite.
func floats(to []float32, row []byte) bool {
	const sign, infinity = 1 << 31, 0xff << 23
	most := uint32(0)
	for i := range to {
		bits := binary.LittleEndian.Uint32(row)
		to[i], row = math.Float32frombits(bits), row[4:]
		most = max(most, bits&^sign)
	}
	return most < infinity
}

// integers decodes whole numbers. Small ones are float32s.
func (e element) integers(to []float32, row []byte, w *watch) {
	for i := range to {
		b := row[i*e.size:]
		switch n := e.signed(b); {
		case e.short():
			to[i] = e.integer32(b)
		case w.shifts == nil && n <= float32Wholes && n >= -float32Wholes && (e.kind == 'i' || n >= 0):
			to[i] = float32(n)
		default:
			to[i] = w.take(i, e.integer(b))
		}
	}
}

// doubles is floats for float64; false too where a value is so large that its whole numbers are compared.
func doubles(to []float32, row []byte) bool {
	const sign, large = 1 << 63, 1047 << 52 // 2^24
	most := uint64(0)
	for i := range to {
		bits := binary.LittleEndian.Uint64(row)
		to[i], row = float32(math.Float64frombits(bits)), row[8:]
		most = max(most, bits&^sign)
	}
	return most < large
}

func (e element) float(b []byte) float64 {
	if e.size == 4 {
		return float64(math.Float32frombits(e.order.Uint32(b)))
	}
	return math.Float64frombits(e.order.Uint64(b))
}

func (e element) unsigned(b []byte) uint64 {
	switch e.size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(e.order.Uint16(b))
	case 4:
		return uint64(e.order.Uint32(b))
	}
	return e.order.Uint64(b)
}

func (e element) signed(b []byte) int64 {
	shift := 64 - 8*e.size
	return int64(e.unsigned(b)<<shift) >> shift
}

// short reports that every number of the kind is a float32.
func (e element) short() bool { return e.size < 4 || e.kind == 'f' && e.size == 4 }

// integer is a whole number; one beyond int64 is not compared with others.
func (e element) integer(b []byte) number {
	if e.kind == 'u' {
		if n := e.unsigned(b); n > math.MaxInt64 {
			return number{exact: float64(n), value: float32(n)}
		}
		return wholeNumber(int64(e.unsigned(b)))
	}
	return wholeNumber(e.signed(b))
}

func (e element) integer32(b []byte) float32 {
	if e.kind == 'u' {
		return float32(e.unsigned(b))
	}
	return float32(e.signed(b))
}

// label appends the number in decimal: the shortest that reads back as the same.
func (e element) label(to, b []byte) ([]byte, flaw) {
	switch e.kind {
	case 'b':
		if b[0] > 1 {
			return to, flaw{reason: notBool}
		}
		return append(to, '0'+b[0]), flaw{}
	case 'u':
		return strconv.AppendUint(to, e.unsigned(b), 10), flaw{}
	case 'i':
		return strconv.AppendInt(to, e.signed(b), 10), flaw{}
	}
	value := e.float(b)
	if value-value != 0 {
		return to, flaw{reason: badNumberLabel}
	}
	return strconv.AppendFloat(to, value, 'g', -1, 8*e.size), flaw{}
}
