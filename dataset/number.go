package dataset

import (
	"bytes"
	"errors"
	"math"
	"strconv"
)

// float32Tens are the powers of ten that float32 holds exactly.
var float32Tens = [...]float32{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10}

// short is a decimal number of few digits: a whole number below 2^24 over a power of ten up to 10^10.
type short struct {
	digits float32
	point  uint8 // digits after the point
}

// float32 is the nearest float32, and float64 the nearest float64.
//
// A mantissa below 2^24 and a power of ten up to 10^10 are both exact in float32, so their
// quotient is rounded once (Clinger, "How to read floating point numbers accurately", 1990).
func (s short) float32() float32 {
	if s.point == 0 {
		return s.digits
	}
	return s.digits / float32Tens[s.point]
}

func (s short) float64() float64 { return float64(s.digits) / float64(float32Tens[s.point]) }

// scanNumber reads as much of text as is a short decimal number. n is 0 where there is none, or where it takes
// parseNumber to round it.
func scanNumber(text []byte) (x short, n int) {
	i, mantissa, digits, point := 0, uint32(0), 0, -1
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		i = 1
	}
	for ; i < len(text); i++ {
		c := text[i]
		if d := uint32(c - '0'); c >= '0' && c <= '9' {
			if mantissa = mantissa*10 + d; mantissa >= 1<<24 {
				return x, 0
			}
			digits++
		} else if c == '.' && point < 0 {
			point = digits
		} else {
			break
		}
	}
	if digits == 0 {
		return x, 0
	}
	if point >= 0 {
		if digits-point >= len(float32Tens) {
			return x, 0
		}
		x.point = uint8(digits - point)
	}
	if x.digits = float32(mantissa); negative {
		x.digits = -x.digits
	}
	return x, i
}

// parseNumber reads a decimal number such as 12, -0.5 or 1e-3, with spaces around it, rounded
// to the nearest float32 (ties to even); numbers beyond its range are flaws, and so are NaN and
// infinity.
func parseNumber(field []byte) (number, flaw) {
	field = bytes.Trim(field, " \t")
	if value, n := scanNumber(field); n > 0 && n == len(field) {
		return number{exact: value.float64(), value: value.float32()}, flaw{}
	}
	for i, c := range field {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c|0x20 != 'e' {
			return number{}, flaw{reason: notDecimal(field), at: i, more: &detail{text: excerpt(field)}}
		}
	}
	x, err := longNumber(string(field))
	switch {
	case errors.Is(err, strconv.ErrRange):
		return number{}, flaw{reason: beyond32}
	case err != nil:
		return number{}, flaw{reason: notNumber, more: &detail{text: excerpt(field), empty: len(field) == 0}}
	}
	return x, flaw{}
}

// longNumber reads any decimal number. The nearest float32 is that of the nearest float64, unless that lies half-way
// between two, or where float32 has fewer digits.
func longNumber(text string) (number, error) {
	const tail, half, leastNormal = 1<<29 - 1, 1 << 28, 0x1p-126
	exact, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return number{}, err
	}
	x := floatNumber(exact)
	if math.Float64bits(exact)&tail == half || math.Abs(exact) < leastNormal || math.IsInf(float64(x.value), 0) {
		nearest, err := strconv.ParseFloat(text, 32)
		if err != nil {
			return number{}, err
		}
		x.value = float32(nearest)
	}
	if math.Abs(exact) >= float64Wholes {
		if whole, err := strconv.ParseInt(text, 10, 64); err == nil {
			x.whole, x.isWhole = whole, true
		}
	}
	return x, nil
}

// maxExcerpt bounds what a message shows of a field.
const maxExcerpt = 40

// excerpt is the beginning of a field, for a message.
func excerpt(field []byte) string {
	if len(field) <= maxExcerpt {
		return string(field)
	}
	return string(field[:maxExcerpt]) + "..."
}

// notDecimal tells the names of non-finite numbers from other text.
func notDecimal(field []byte) string {
	switch string(bytes.ToLower(bytes.TrimLeft(field[:min(len(field), 10)], "+-"))) {
	case "nan", "inf", "infinity":
		return notFinite
	}
	return notNumber
}
