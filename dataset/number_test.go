package dataset

import (
	"math"
	"testing"
)

// scanNumber reads numbers below 2^24 of at most 19 digits, and leaves others to parseNumber, as it does those half-way
// between two float32.
func TestScanNumberByHand(t *testing.T) {
	for _, c := range []struct {
		text string
		want float32
		n    int // bytes
	}{
		{"0", 0, 1}, {"9", 9, 1}, {"90,", 90, 2}, {"-1.5", -1.5, 4}, {".5", .5, 2}, {"5.", 5, 2},
		{"1/", 1, 1}, {"1:", 1, 1}, {".5.5", .5, 2}, {"1.5.", 1.5, 3}, {"1-", 1, 1},
		{"16777215", 1<<24 - 1, 8}, {"16777216", 0, 0}, {"1677721.5", 1677721.5, 9}, {"1677721.6", 1677721.6, 9},
		{"16777215.4", 1<<24 - 1, 10}, {"16777215.5", 0, 0}, {"16777217.5", 0, 0}, {"0.500000029802322", 0.5, 17},
		{"0.5000000894069672", 0, 0}, {"0.5000000894069673", .5 + 0x1p-23, 18},
		{"0.50000002980232238769531250", 0, 0}, {"-0.000000000000", 0, 15},
		{"0.0000000001", 1e-10, 12}, {"0.00000000001", 1e-11, 13}, {"0.9007199254740993", 0.9007199254740993, 18},
		{"123456.1234567890123", 123456.1234567890123, 20}, {"0.1234567890123456789", 0.1234567890123456789, 21},
		{"9.999999999999999999", 10, 20}, {"99999999999.99999999", 0, 0}, {"0.12345678901234567890", 0, 0},
		{"0.0000000000000000001", 1e-19, 21}, {"0.000000000000000001", 1e-18, 20},
		{".0000000000000000001", 1e-19, 20}, {".00000000000000000001", 0, 0},
		{"", 0, 0}, {"-", 0, 0}, {".", 0, 0}, {"-.", 0, 0}, {"+1", 0, 0}, {"x", 0, 0},
	} {
		if x, n := scanNumber([]byte(c.text)); n != c.n || n > 0 && x.float32() != c.want {
			t.Errorf("%q: %v of %d bytes, want %v of %d", c.text, x.float32(), n, c.want, c.n)
		}
	}
}

// Whole numbers from 2^53 on are kept exactly, though a float64 is not exact there.
func TestWholeNumbersInText(t *testing.T) {
	for text, want := range map[string]int64{
		"9007199254740991": 1<<53 - 1, "9007199254740992": 1 << 53, "9007199254740993": 1<<53 + 1,
		"-9007199254740993": -1<<53 - 1, "1700000000000000001": 1700000000000000001,
	} {
		if x, bad := parseNumber([]byte(text)); bad.reason != "" || !x.isWhole || x.whole != want {
			t.Errorf("%s: %+v, %v", text, x, bad.reason)
		}
	}
}

// A message shows up to 40 bytes of a field.
func TestExcerptByHand(t *testing.T) {
	const forty = "0123456789012345678901234567890123456789"
	for text, want := range map[string]string{"": "", forty: forty, forty + "x": forty + "..."} {
		if got := excerpt([]byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A number is rounded once, even if its nearest float64 is half-way between two float32s.
func TestLongNumbersByHand(t *testing.T) {
	const least = "7.0064923216240853546186479164495806564013097093825788587853" +
		"4141944895541342930300743319094181060791015625" // 2^-150 in full: half of the least float32
	for _, c := range []struct {
		text string
		want float32
	}{
		{"16777217", 1 << 24}, {"16777217.0000000000001", 1<<24 + 2}, {"16777216.9999999999999", 1 << 24},
		{"16777219", 1<<24 + 4}, {"16777218.9999999999999", 1<<24 + 2}, {"16777219.0000000000001", 1<<24 + 4},
		{least + "e-46", 0}, {least + "1e-46", math.SmallestNonzeroFloat32}, {"1.1754943508222875e-38", 0x1p-126},
		{"3.4028235677973366e38", math.MaxFloat32},
	} {
		if x, bad := parseNumber([]byte(c.text)); bad.reason != "" || x.value != c.want {
			t.Errorf("%s: %v, %v; want %v", c.text, x.value, bad.reason, c.want)
		}
	}
	if x, bad := parseNumber([]byte("3.4028235677973367e38")); bad.reason != beyond32 {
		t.Errorf("a number that rounds beyond float32: %v, %v", x.value, bad.reason)
	}
}
