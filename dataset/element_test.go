package dataset

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset/datasettest"
)

// doubles leaves a row with a value of 2^24 or more, or one that is not finite, to the road that looks at each value.
func TestDoublesByHand(t *testing.T) {
	for _, c := range []struct {
		value float64
		want  bool
	}{
		{0, true}, {-1.5, true}, {math.Nextafter(1<<24, 0), true}, {1 << 24, false}, {-(1 << 24), false},
		{math.Inf(1), false}, {math.NaN(), false},
	} {
		row := binary.LittleEndian.AppendUint64(nil, math.Float64bits(1))
		row = binary.LittleEndian.AppendUint64(row, math.Float64bits(c.value))
		to := make([]float32, 2)
		if got := doubles(to, row); got != c.want || c.want && (to[0] != 1 || to[1] != float32(c.value)) {
			t.Errorf("%v: %v, %v; want %v", c.value, got, to, c.want)
		}
	}
}

// A label beside the data is written in decimal, whatever its type; truth values are 0 and 1.
func TestLabelsOfEveryType(t *testing.T) {
	data := string(datasettest.NPY("<f4", "(2, 1)", one6[:2]))
	for _, c := range []struct {
		descr  string
		labels any
		want   [2]string
	}{
		{"|b1", []uint8{0, 1}, [2]string{"0", "1"}},
		{"|u1", []uint8{0, 255}, [2]string{"0", "255"}},
		{"<u8", []uint64{1, math.MaxUint64}, [2]string{"1", "18446744073709551615"}},
		{"<i2", []int16{-32768, 7}, [2]string{"-32768", "7"}},
		{"<f4", []float32{0.1, -2}, [2]string{"0.1", "-2"}},
		{"<f8", []float64{0.1, 1e300}, [2]string{"0.1", "1e+300"}},
	} {
		rows, err := readPair(t, labelled("npy"), data, string(datasettest.NPY(c.descr, "(2,)", c.labels)))
		if err != nil || len(rows) != 2 || rows[0].Label != c.want[0] || rows[1].Label != c.want[1] {
			t.Errorf("%s: %+v, %v; want %q", c.descr, rows, err, c.want)
		}
	}
	_, err := readPair(t, labelled("npy"), data, string(datasettest.NPY("|b1", "(2,)", []uint8{0, 2})))
	if err == nil || !strings.Contains(err.Error(), "row 1: "+notBool) {
		t.Errorf("a truth value of 2: %v", err)
	}
}
