package dataset

import "testing"

// scanNumber reads what is a number of at most 24 bits and ten digits after the point, and leaves the rest to parseNumber.
func TestScanNumberByHand(t *testing.T) {
	for _, c := range []struct {
		text string
		want float32
		n    int // bytes
	}{
		{"0", 0, 1}, {"9", 9, 1}, {"90,", 90, 2}, {"-1.5", -1.5, 4}, {".5", .5, 2}, {"5.", 5, 2},
		{"1/", 1, 1}, {"1:", 1, 1}, {".5.5", .5, 2}, {"1.5.", 1.5, 3}, {"1-", 1, 1},
		{"16777215", 1<<24 - 1, 8}, {"16777216", 0, 0}, {"1677721.5", 1677721.5, 9}, {"1677721.6", 0, 0},
		{"0.0000000001", 1e-10, 12}, {"0.00000000001", 0, 0},
		{"", 0, 0}, {"-", 0, 0}, {".", 0, 0}, {"-.", 0, 0}, {"+1", 0, 0}, {"x", 0, 0},
	} {
		if x, n := scanNumber([]byte(c.text)); n != c.n || n > 0 && x.float32() != c.want {
			t.Errorf("%q: %v of %d bytes, want %v of %d", c.text, x.float32(), n, c.want, c.n)
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
