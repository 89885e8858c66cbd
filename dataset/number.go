package dataset

import (
	"bytes"
	"errors"
	"strconv"
)

// float32Tens are the powers of ten that float32 holds exactly.
var float32Tens = [...]float32{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10}

// scanNumber reads as much of text as is a short decimal number, rounded to the nearest
// float32. n is 0 where there is none, or where it takes parseNumber to round it.
//
// A mantissa below 2^24 and a power of ten up to 10^10 are both exact in float32, so their
// quotient is rounded once (Clinger, "How to read floating point numbers accurately", 1990).
func scanNumber(text []byte) (value float32, n int) {
	i, mantissa, digits, point := 0, uint32(0), 0, -1
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		i = 1
	}
	for ; i < len(text); i++ {
		c := text[i]
		if d := uint32(c - '0'); c >= '0' && c <= '9' {
			if mantissa = mantissa*10 + d; mantissa >= 1<<24 {
				return 0, 0
			}
			digits++
		} else if c == '.' && point < 0 {
			point = digits
		} else {
			break
		}
	}
	if digits == 0 {
		return 0, 0
	}
	value = float32(mantissa)
	if point >= 0 {
		if digits-point >= len(float32Tens) {
			return 0, 0
		}
		value /= float32Tens[digits-point]
	}
	if negative {
		value = -value
	}
	return value, i
}

// parseNumber reads a decimal number such as 12, -0.5 or 1e-3, with spaces around it, rounded
// to the nearest float32 (ties to even); numbers beyond its range are flaws, and so are NaN and
// infinity.
func parseNumber(field []byte) (float32, flaw) {
	field = bytes.Trim(field, " \t")
	if value, n := scanNumber(field); n > 0 && n == len(field) {
		return value, flaw{}
	}
	for i, c := range field {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c|0x20 != 'e' {
			return 0, flaw{reason: notDecimal(field), at: i, text: excerpt(field)}
		}
	}
	value, err := strconv.ParseFloat(string(field), 32)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, flaw{reason: beyond32}
	case err != nil:
		return 0, flaw{reason: notNumber, text: excerpt(field), empty: len(field) == 0}
	}
	return float32(value), flaw{}
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
