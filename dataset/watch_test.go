package dataset

import (
	"math"
	"strconv"
	"testing"
)

func watching() *watch {
	w := &watch{}
	w.begin(strconv.Itoa, nil)
	return w
}

// The first 2^16 columns are watched; what moves beyond them is counted.
func TestWatchedColumns(t *testing.T) {
	w := watching()
	if w.at(maxWatched) != nil || w.at(0) == nil || len(w.places) != 1 {
		t.Errorf("%d columns are watched, want 1", len(w.places))
	}
	if w.at(maxWatched-1) == nil || len(w.places) != maxWatched {
		t.Errorf("%d columns are watched, want %d", len(w.places), maxWatched)
	}
	w = watching()
	if n := w.notes(&Block{}); n != nil {
		t.Errorf("nothing moved, and there is a note %+v", n)
	}
	w.take(maxWatched, floatNumber(0.1))
	w.take(maxWatched+5, floatNumber(0.1))
	if n := w.notes(&Block{}); n == nil || n.Beyond != 2 || len(n.Rounded) != 0 {
		t.Errorf("%+v, want 2 beyond the watched", n)
	}
	w.take(3, floatNumber(0.1))
	w.take(maxWatched, floatNumber(0.1))
	if n := w.notes(&Block{}); n == nil || n.Beyond != 1 || len(n.Rounded) != 1 || n.Rounded[0].Column != 3 {
		t.Errorf("%+v, want 1 beyond and one of column 3", n)
	}
	if n := w.notes(&Block{}); n != nil {
		t.Errorf("%+v, want it told once", n)
	}
}

// Low and High are the least and the greatest moves of a block's values.
func TestHowFarValuesMoved(t *testing.T) {
	w := watching()
	for _, v := range []float64{1<<25 + 1, 1<<25 + 3, 1<<25 + 1, 1<<25 + 2, 5} { // by 1, -1, 1, 2 and 0
		w.take(0, floatNumber(v))
	}
	moved := func(count int64, low, high float64) {
		t.Helper()
		n := w.notes(&Block{})
		if n == nil || len(n.Rounded) != 1 {
			t.Fatalf("%+v", n)
		}
		if r := n.Rounded[0]; r.Moved != count || r.Low != low || r.High != high {
			t.Errorf("%+v, want %d moved by %g to %g", r, count, low, high)
		}
	}
	moved(4, -1, 2)
	for _, v := range []float64{1<<25 + 3, 1<<26 + 5} { // by -1 and -3
		w.take(0, floatNumber(v))
	}
	moved(2, -3, -1)
}

// Whole numbers that become equal are found even with others between them, in up to maxWholes columns.
func TestEqualWholeNumbers(t *testing.T) {
	w := watching()
	for col := range maxWholes + 1 {
		for _, n := range []int64{1700000001, 1800000001, -1700000002, 1700000002, 1700000003} {
			w.take(col, wholeNumber(n))
		}
	}
	n := w.notes(&Block{})
	if n == nil || len(n.Rounded) != maxWholes+1 {
		t.Fatalf("%+v", n)
	}
	for col, r := range n.Rounded {
		want := [2]string{"1700000001", "1700000002"}
		if col == maxWholes {
			want = [2]string{}
		}
		if r.Equal != want {
			t.Errorf("column %d: %q, want %q", col, r.Equal, want)
		}
	}
}

// Whole numbers beyond 2^24 are kept exactly; those of a float64 below 2^53.
func TestWholeNumbersByHand(t *testing.T) {
	for v, whole := range map[float64]bool{
		0: false, 1 << 24: false, 1<<24 + 1: true, 1<<24 + 1.5: false, -1 << 24: false, -1<<24 - 1: true,
		1<<53 - 1: true, 1 << 53: false,
	} {
		if x := floatNumber(v); x.isWhole != whole || whole && float64(x.whole) != v {
			t.Errorf("%v: %+v", v, x)
		}
	}
	for n, whole := range map[int64]bool{
		1 << 24: false, 1<<24 + 1: true, -1 << 24: false, -1<<24 - 1: true, math.MaxInt64: true, math.MinInt64: true,
	} {
		if x := wholeNumber(n); x.isWhole != whole || whole && x.whole != n {
			t.Errorf("%d: %+v", n, x)
		}
	}
}

// Whole differences are exact below 2^62, and as float64 gives them from there on.
func TestMinusByHand(t *testing.T) {
	const large, half = 1 << 62, 1 << 61
	for _, c := range []struct {
		x      int64
		offset float64
		want   int64
		whole  bool // the difference is kept as an int64
	}{
		{1700000001, 1700000000, 1, false}, {large + 1, large - 512, 513, false}, {large + 1, large, 0, false},
		{-large - 1, 512 - large, -513, false}, {-large - 1, -large, 0, false},
		{large + half + 1, half + 512, large - 511, true}, {large + half + 1, half, large, false},
		{-large - half - 1, -half - 512, 511 - large, true}, {-large - half - 1, -half, -large, false},
	} {
		got := wholeNumber(c.x).minus(c.offset)
		if got.value != float32(c.want) || got.exact != float64(c.want) || got.isWhole != c.whole ||
			c.whole && got.whole != c.want {
			t.Errorf("%d less %v: %+v, want %d", c.x, c.offset, got, c.want)
		}
	}
	if got := wholeNumber(1700000001).minus(0.5); got.value != 1700000000 || got.exact != 1700000000.5 {
		t.Errorf("less a half: %+v", got)
	}
}

// A column whose greatest value is 2^24 is quiet from a standard deviation of 16000 on.
func TestSpreadByHand(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   bool
	}{
		{[]float64{1 << 24, 1<<24 - 32000}, true}, {[]float64{1 << 24, 1<<24 - 31999}, false},
		{[]float64{1<<24 - 32000, 1 << 24}, true}, {[]float64{1<<24 - 31999, 1 << 24}, false},
		{[]float64{-1 << 24, -1<<24 + 32000}, true}, {[]float64{-1 << 24, -1<<24 + 31999}, false},
		{[]float64{1 << 24, 1<<24 - 32000, 1 << 24, 1<<24 - 32000}, true},
		{[]float64{1 << 24, 1<<24 - 32000, 1<<24 - 16000}, false},
		{[]float64{1001 << 24, 1001 * (1<<24 - 32000)}, true}, // by differences: squares of the values would be rounded
		{[]float64{0}, true}, {[]float64{1}, false}, {[]float64{0, 0, 1}, true},
	} {
		var s spread
		for _, v := range c.values {
			s.add(v)
		}
		if got := s.wide(); got != c.want {
			t.Errorf("%v: %v, want %v", c.values, got, c.want)
		}
	}
}
