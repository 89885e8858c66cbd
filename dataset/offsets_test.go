package dataset

import (
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/protocol"
)

// The fields of a vector are read as csv reads them, and the offsets are subtracted.
func TestVectorByHand(t *testing.T) {
	offsets := []Offset{{Column: 0, Value: 1700000000}, {Column: 2, Value: -1}}
	got, err := Vector([]string{"1700000001", " 2.5 ", "1e1"}, offsets, false)
	if err != nil || !slices.Equal(got, []float32{1, 2.5, 11}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"", "x", "NaN", "1e39"} {
		if got, err := Vector([]string{"1", bad}, nil, false); err == nil || !strings.Contains(err.Error(), "column 2 is ") {
			t.Errorf("%q: %v, %v; want a fault of column 2", bad, got, err)
		}
	}
	got, err = Vector([]string{"1", " ", "0"}, []Offset{{Column: 1, Value: 5}}, true)
	if err != nil || got[0] != 1 || got[1] == got[1] || got[2] != 0 {
		t.Errorf("a blank field: %v, %v; want 1, NaN, 0", got, err)
	}
	// 6e38 is beyond float32.
	got, err = Vector([]string{"1", "3e38"}, []Offset{{Column: 1, Value: -3e38}}, false)
	if err == nil || !strings.Contains(err.Error(), "column 2 is ") {
		t.Errorf("beyond float32: %v, %v; want a fault of column 2", got, err)
	}
}

// An offset may name any column from the first to the last of the vector, and no other.
func TestOffsetsOfTheFirstAndTheLast(t *testing.T) {
	subtract := func(in protocol.Input, key string) protocol.Input {
		in.Subtract = map[string]float64{key: 1}
		return in
	}
	jsonl, csv := jsonInput("", "", "", "x", "y"), formatInput("csv", nil)
	jsonlData, csvData, from1, from0 := `{"x":5,"y":6}`+"\n", "5,6\n", "a 1:5 2:6\n", "a 0:5 1:6\n"
	for _, c := range []struct {
		in   protocol.Input
		data string
		want []float32 // nil if the input is refused
	}{
		{subtract(jsonl, "x"), jsonlData, []float32{4, 6}},
		{subtract(jsonl, "y"), jsonlData, []float32{5, 5}},
		{subtract(jsonl, "z"), jsonlData, nil},
		{subtract(csv, "1"), csvData, []float32{4, 6}},
		{subtract(csv, "2"), csvData, []float32{5, 5}},
		{subtract(csv, "3"), csvData, nil},
		{subtract(libsvmInput(1, 2), "1"), from1, []float32{4, 6}},
		{subtract(libsvmInput(1, 2), "2"), from1, []float32{5, 5}},
		{subtract(libsvmInput(1, 2), "3"), from1, nil},
		{subtract(libsvmInput(0, 2), "0"), from0, []float32{4, 6}},
		{subtract(libsvmInput(0, 2), "2"), from0, nil},
	} {
		rows, _, err := readFile(t, c.in, map[string]string{"f": c.data})
		right := isCode(err, protocol.CodeSpecInvalid)
		if c.want != nil {
			right = err == nil && len(rows) == 1 && slices.Equal(rows[0].Vector, c.want)
		}
		if !right {
			t.Errorf("%s, less %v: %v, %v; want %v", c.in.Format, c.in.Subtract, rows, err, c.want)
		}
	}
}

// An offset is subtracted from every record, also after the columns have become quiet.
func TestOffsetsOfQuietColumns(t *testing.T) {
	const rows = 2 * settledBy
	var csv, jsonl, libsvm strings.Builder
	for i := range rows {
		n := strings.Repeat("1", 1+i%7)
		csv.WriteString(n + "," + n + "\n")
		jsonl.WriteString(`{"x":` + n + `,"y":` + n + "}\n")
		libsvm.WriteString("a 1:" + n + " 2:" + n + "\n")
	}
	for data, in := range map[string]protocol.Input{
		csv.String():    formatInput("csv", nil),
		jsonl.String():  jsonInput("", "", "", "x", "y"),
		libsvm.String(): libsvmInput(1, 2),
	} {
		in.Subtract = map[string]float64{"1": 1}
		if in.Format == "jsonl" {
			in.Subtract = map[string]float64{"x": 1}
		}
		_, got, _, err := noticed(t, in, data)
		if err != nil || len(got) != rows {
			t.Fatalf("%s: %d rows, %v", in.Format, len(got), err)
		}
		for i, r := range got {
			if r.Vector[0] != r.Vector[1]-1 {
				t.Fatalf("%s, row %d: %v", in.Format, i, r.Vector)
			}
		}
	}
}
