package dataset

import (
	"bytes"
	"errors"
	"math"
	"math/bits"
	"strconv"
)

// float32Tens, float64Tens and uint64Tens are the powers of ten that the types hold exactly.
var (
	float32Tens = [...]float32{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10}
	float64Tens = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
		1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}
	uint64Tens = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
		1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}
)

// short is a decimal number of few digits: a whole number below 2^24 over a power of ten up to 10^10, or else
// a float64 that lies half-way between no two float32.
type short struct {
	digits float64
	point  uint8 // digits after the point; 0 where digits is the number
}

// float32 is the nearest float32, and float64 the nearest float64.
//
// A mantissa below 2^24 and a power of ten up to 10^10 are both exact in float32, so their
// quotient is rounded once (Clinger, "How to read floating point numbers accurately", 1990).
func (s short) float32() float32 {
	if s.point == 0 {
		return float32(s.digits)
	}
	return float32(s.digits) / float32Tens[s.point]
}

func (s short) float64() float64 { return s.digits / float64Tens[s.point] }

// longShort is the float64 nearest to a mantissa over a power of ten, or, where near will do, one that has the nearest
// float32; or not ok where it takes parseNumber: half-way
// between two float32, and from 2^24 on, where whole numbers are compared.
func longShort(mantissa uint64, point int, near bool) (x float64, ok bool) {
	const tail, half = 1<<29 - 1, 1 << 28
	switch {
	case near && mantissa >= 1<<53 && point < len(float64Tens):
		// Two roundings of at most half a unit of the last place, and one of the mantissa's that the quotient doubles.
		x = float64(mantissa) / float64Tens[point]
		if d := int64(math.Float64bits(x)&tail) - half; -4 < d && d < 4 {
			return longShort(mantissa, point, false)
		}
	case mantissa < 1<<53 && point < len(float64Tens):
		x = float64(mantissa) / float64Tens[point]
	case mantissa > 0 && point < len(uint64Tens):
		x = quotient(mantissa, point)
	default:
		return 0, false
	}
	return x, x < float32Wholes && math.Float64bits(x)&tail != half
}

// quotient is the nearest float64 to a mantissa, which is not 0, over a power of ten below 2^64. It divides 128 by 64
// bits (Knuth, volume 2, section 4.3.1): the quotient has 63 bits or more, the last of which notes a remainder, so that
// its conversion rounds once.
func quotient(mantissa uint64, point int) float64 {
	tens := uint64Tens[point]
	up, down := bits.LeadingZeros64(mantissa), bits.LeadingZeros64(tens)
	mantissa, tens = mantissa<<up, tens<<down
	q, rest := bits.Div64(mantissa>>1, mantissa<<63, tens)
	if rest != 0 {
		q |= 1
	}
	return float64(float64(q) * math.Float64frombits(uint64(1023-63+down-up)<<52))
}

// scanNumber reads as much of text as is a short decimal number. n is 0 where there is none, or where it takes
// parseNumber to round it.
func scanNumber(text []byte) (x short, n int) {
	first, sign := 0, uint64(0)
	if len(text) > 0 && text[0] == '-' {
		first, sign = 1, 1<<63
	}
	mantissa, i := scanDigits(0, text, first)
	digits, point := i-first, 0
	if i < len(text) && text[i] == '.' {
		mantissa, i = scanDigits(mantissa, text, i+1)
		point = i - first - digits - 1
		digits += point
	} else if 0 < digits && digits < 8 { // the usual whole number, which is below 2^24
		return short{digits: signed(mantissa, sign)}, i
	}
	if digits > 1 && text[first] == '0' {
		digits--
	}
	if digits == 0 || digits > 19 { // a mantissa of up to 19 digits is below 2^64; one of more may have overflowed
		return x, 0
	}
	x, ok := fraction(mantissa, point, sign, false)
	if !ok {
		return x, 0
	}
	return x, i
}

// scanDigits appends the digits of text from a byte on to a mantissa. next is the byte after them.
func scanDigits(mantissa uint64, text []byte, from int) (more uint64, next int) {
	for ; from < len(text); from++ {
		d := text[from] - '0'
		if d > 9 {
			break
		}
		mantissa = mantissa*10 + uint64(d)
	}
	return mantissa, from
}

// signed is a mantissa below 2^24 with a sign, which 0 has, too.
func signed(mantissa, sign uint64) float64 {
	return math.Float64frombits(math.Float64bits(float64(int64(mantissa))) | sign)
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
