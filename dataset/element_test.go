package dataset

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/protocol"
)

// doubles refuses a row with a value of 2^24 or more, or one that is not finite: such rows are read value by value.
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

// Rows are read alike before and after their columns have become quiet.
func TestQuietRowsByHand(t *testing.T) {
	const rows = 2 * settledBy
	subtract := func(in *protocol.Input) { in.Subtract = map[string]float64{"1": 1} }
	for _, c := range []struct {
		name   string
		in     protocol.Input
		data   []byte
		offset float32
	}{
		{"npy of float64", formatInput("npy", nil), datasettest.NPY("<f8", "(128, 1)", ramp[float64](rows)), 0},
		{"npy of float32", formatInput("npy", nil), datasettest.NPY("<f4", "(128, 1)", ramp[float32](rows)), 0},
		{"npy of int64", formatInput("npy", nil), datasettest.NPY("<i8", "(128, 1)", ramp[int64](rows)), 0},
		{"npy of uint64", formatInput("npy", nil), datasettest.NPY("<u8", "(128, 1)", ramp[uint64](rows)), 0},
		{"idx of float64", formatInput("idx", nil), datasettest.IDX(0x0e, []uint32{rows, 1}, ramp[float64](rows)), 0},
		{"npy of float64 less 1", formatInput("npy", subtract), datasettest.NPY("<f8", "(128, 1)", ramp[float64](rows)),
			1},
		{"npy of float32 less 1", formatInput("npy", subtract), datasettest.NPY("<f4", "(128, 1)", ramp[float32](rows)),
			1},
		{"npy of int64 less 1", formatInput("npy", subtract), datasettest.NPY("<i8", "(128, 1)", ramp[int64](rows)), 1},
	} {
		_, got, _, err := noticed(t, c.in, string(c.data))
		if err != nil || len(got) != rows {
			t.Errorf("%s: %d rows, %v", c.name, len(got), err)
		}
		for i, r := range got {
			if r.Vector[0] != float32(i)-c.offset {
				t.Fatalf("%s, row %d: %v", c.name, i, r.Vector)
			}
		}
	}
	last := ramp[float32](rows)
	last[rows-1] = float32(math.NaN())
	data := string(datasettest.NPY("<f4", "(128, 1)", last))
	if _, _, _, err := noticed(t, formatInput("npy", nil), data); !isCode(err, protocol.CodeBadRecord) {
		t.Errorf("NaN at the end: %v", err)
	}
}

func ramp[T int64 | uint64 | float32 | float64](n int) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = T(i)
	}
	return all
}

// A flaw of a row names its column, from 1.
func TestColumnOfABinaryFlaw(t *testing.T) {
	for reason, data := range map[string][]byte{
		beyond32:  datasettest.NPY("<f8", "(1, 2)", []float64{1, 1e300}),
		notFinite: datasettest.NPY("<f8", "(1, 2)", []float64{1, math.Inf(1)}),
		notBool:   datasettest.NPY("|b1", "(1, 2)", []uint8{1, 2}),
	} {
		in := formatInput("npy", func(in *protocol.Input) { in.OnBadRecord.SkipMax = 1 })
		_, skipped, err := readFile(t, in, map[string]string{"f": string(data)})
		if err != nil || !slices.Equal(skipped, []Skip{{ID: Identity{Object: "f"}, Column: 2, Reason: reason}}) {
			t.Errorf("%s: %v, %v", reason, skipped, err)
		}
	}
}

// A whole number from 2^24 + 1 to 2^63 - 1 is compared with others exactly.
func TestLargeWholeNumbers(t *testing.T) {
	e := element{'u', 8, binary.LittleEndian}
	for n, whole := range map[uint64]bool{
		1 << 24: false, 1<<24 + 1: true, math.MaxInt64: true, 1 << 63: false, math.MaxUint64: false,
	} {
		x := e.integer(binary.LittleEndian.AppendUint64(nil, n))
		if x.isWhole != whole || whole && x.whole != int64(n) || x.exact != float64(n) || x.value != float32(n) {
			t.Errorf("%d: %+v", n, x)
		}
	}
}

// Whole numbers of either sign that are not float32 are noticed, and unsigned ones are never taken for negative.
func TestWholeNumbersOfBinaryFormats(t *testing.T) {
	for _, c := range []struct {
		data  []byte
		moved map[string]Rounding
		want  []float32
	}{
		{datasettest.NPY("<i8", "(2, 1)", []int64{-33554433, 33554435}),
			map[string]Rounding{"1": {Name: "1", Moved: 2, Low: -1, High: -1}}, []float32{-33554432, 33554436}},
		{datasettest.NPY("<i8", "(2, 1)", []int64{-16777216, 16777216}), nil, []float32{-16777216, 16777216}},
		{datasettest.NPY("<u8", "(2, 1)", []uint64{math.MaxUint64 &^ (1<<40 - 1), 1 << 63}),
			nil, []float32{0x1p64 - 0x1p40, 0x1p63}},
		{datasettest.NPY("<u8", "(1, 1)", []uint64{math.MaxUint64 - 9}), nil, []float32{0x1p64}},
		{datasettest.NPY("<u4", "(1, 1)", []uint32{math.MaxUint32 &^ 0xff}), nil, []float32{0x1p32 - 0x1p8}},
	} {
		found, rows, _, err := noticed(t, formatInput("npy", nil), string(c.data))
		var got []float32
		for _, r := range rows {
			got = append(got, r.Vector...)
		}
		if err != nil || !slices.Equal(got, c.want) || !maps.Equal(found, c.moved) {
			t.Errorf("%v, %+v, %v; want %v, %+v", got, found, err, c.want, c.moved)
		}
	}
}

// A label beside the data is written in decimal, whatever its type; a bool is 0 or 1.
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
