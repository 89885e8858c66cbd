package wordlist

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// maxDigits bounds a number's text: no float64 has more than 767 digits.
const maxDigits = 1200

// Number reads a decimal number that float64 keeps: the shortest decimal of the float64, or all its digits, is the
// number as it was given. So 0.1 is read, and 0.12345678901234567890 and 1e-400 are not, since others would be read in
// their place.
func Number(text string) (float64, error) {
	given, ok := decimalOf(text)
	if !ok {
		if v, err := strconv.ParseFloat(text, 64); err == nil && v-v != 0 {
			return 0, fmt.Errorf("%.40q is not a finite number", text)
		}
		return 0, fmt.Errorf("%.40q is not a decimal number", text)
	}
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) || math.IsInf(v, 0):
		return 0, fmt.Errorf("%.40q is beyond float64", text)
	case err != nil:
		return 0, fmt.Errorf("%.40q is not a decimal number", text)
	}
	for _, digits := range []int{-1, 766} {
		if kept, ok := decimalOf(strconv.FormatFloat(v, 'e', digits, 64)); ok && kept == given {
			return v, nil
		}
	}
	return 0, fmt.Errorf("%.40q is not exact in float64, which would keep %v. Write at most 17 digits, and no number "+
		"nearer to 0 than 1e-307", text, v)
}

// decimal is a number 0.digits times ten to exponent, in one way only: digits neither begin nor end with 0.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

// decimalOf reads digits with at most one point, then an exponent if there is one.
func decimalOf(text string) (d decimal, ok bool) {
	if len(text) > maxDigits {
		return d, false
	}
	mantissa, exponent := text, "0"
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		mantissa, exponent = text[:at], text[at+1:]
	}
	if mantissa != "" && (mantissa[0] == '-' || mantissa[0] == '+') {
		d.negative, mantissa = mantissa[0] == '-', mantissa[1:]
	}
	whole, part, _ := strings.Cut(mantissa, ".")
	if digits := whole + part; digits == "" || strings.Trim(digits, "0123456789") != "" {
		return d, false
	}
	power, err := strconv.Atoi(exponent)
	if err != nil {
		return d, false
	}
	digits := strings.TrimLeft(whole+part, "0")
	d.exponent = power + len(whole) - (len(whole) + len(part) - len(digits))
	if d.digits = strings.TrimRight(digits, "0"); d.digits == "" {
		return decimal{}, true
	}
	return d, true
}
