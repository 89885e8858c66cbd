package dataset

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/gram-compute/gram/protocol"
)

// npyFloats is a .npy object of one column.
func npyFloats(values ...float32) string {
	head := npyOf(2, "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 1), }", 118)
	data := []byte(head[:len(head)-4])
	for _, v := range values {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	return string(data)
}

// Missing numbers are NaN in every format that has them; without spec.input.missing, and where it is another
// text, they are bad records.
func TestMissingByHand(t *testing.T) {
	nan, jsonAbsent := float32(math.NaN()), `{"x":null,"y":2}`+"\n"+`{"y":3}`+"\n"
	csv, jsonl, npy := formatInput("csv", nil), jsonInput("", "", "", "x", "y"), formatInput("npy", nil)
	array := jsonInput("", "", "", "v")
	for name, c := range map[string]struct {
		in      protocol.Input
		missing []string
		data    string
		want    [][]float32 // nil if a record is bad
	}{
		"empty fields":         {csv, []string{""}, "1,,3\n,5,\n", [][]float32{{1, absent, 3}, {absent, 5, absent}}},
		"empty quoted":         {csv, []string{""}, "1,\"\"\n", [][]float32{{1, absent}}},
		"spaces":               {csv, []string{"", "NA"}, "1, NA \n2,  \n", [][]float32{{1, absent}, {2, absent}}},
		"of another spelling":  {csv, []string{"NA"}, "1,na\n", nil},
		"empty, not listed":    {csv, []string{"NA"}, "1,\n", nil},
		"nothing listed":       {csv, nil, "1,\n", nil},
		"numerals":             {csv, []string{"-999"}, "-999,-999.0\n", [][]float32{{absent, -999}}},
		"nan in csv":           {csv, []string{"NaN"}, "NaN,1\n", [][]float32{{absent, 1}}},
		"infinity":             {csv, []string{"NaN"}, "inf,1\n", nil},
		"null":                 {jsonl, []string{"null"}, jsonAbsent, [][]float32{{absent, 2}, {absent, 3}}},
		"null first":           {jsonl, []string{"null"}, `{"x":null}` + "\n", [][]float32{{absent, absent}}},
		"strings":              {jsonl, []string{"NA", ""}, `{"x":"NA","y":""}` + "\n", [][]float32{{absent, absent}}},
		"a string of a number": {jsonl, []string{"NA"}, `{"x":"1","y":2}` + "\n", nil},
		"null, not listed":     {jsonl, []string{"NA"}, `{"x":null,"y":2}` + "\n", nil},
		"in an array":          {array, []string{"null"}, `{"v":[1,null,3]}` + "\n", [][]float32{{1, absent, 3}}},
		"no array":             {array, []string{"null"}, `{"v":[1,2]}` + "\n" + `{"w":[1,2]}` + "\n", nil},
		"nan": {npy, []string{"nan"}, npyFloats(1, nan, -nan, 2),
			[][]float32{{1}, {absent}, {absent}, {2}}},
		"nan, not listed":      {npy, []string{"NA"}, npyFloats(1, nan, 3, 4), nil},
		"infinity in an array": {npy, []string{"nan"}, npyFloats(1, float32(math.Inf(1)), 3, 4), nil},
	} {
		c.in.Missing = c.missing
		rows, _, err := readFile(t, c.in, map[string]string{"f": c.data})
		if c.want == nil {
			if !isCode(err, protocol.CodeBadRecord) {
				t.Errorf("%s: %v, %v", name, rows, err)
			}
			continue
		}
		if err != nil || len(rows) != len(c.want) {
			t.Errorf("%s: %v, %v", name, rows, err)
			continue
		}
		for i, row := range rows {
			if !slices.Equal(row.Vector, c.want[i]) {
				t.Errorf("%s: %v, not %v", name, row.Vector, c.want[i])
			}
		}
	}
}

// An offset is not taken off a missing number, and rounding is noticed beside it.
func TestMissingBesideOffsets(t *testing.T) {
	in := formatInput("csv", nil)
	in.Missing, in.Subtract = []string{"?"}, map[string]float64{"1": 1 << 30}
	rows, _, err := readFile(t, in, map[string]string{"f": "1073741825,?\n?,0.1\n"})
	if err != nil || len(rows) != 2 || rows[0].Vector[0] != 1 || rows[0].Vector[1] != absent ||
		rows[1].Vector[0] != absent || rows[1].Vector[1] != 0.1 {
		t.Errorf("%v, %v", rows, err)
	}
}

func TestMissingRefused(t *testing.T) {
	of := func(format string, texts ...string) protocol.Input {
		in := formatInput(format, nil)
		in.Missing = texts
		return in
	}
	libsvm := libsvmInput(1, 2)
	libsvm.Missing = []string{"nan"}
	for _, in := range []protocol.Input{of("csv", "NA", "NA"), of("csv", " NA"), of("tsv", ""), libsvm,
		of("csv", string(make([]byte, 65))), of("csv", make([]string, 33)...)} {
		if err := in.Validate("spec.input"); !isCode(err, protocol.CodeSpecInvalid) {
			t.Errorf("%s, missing %q: %v", in.Format, in.Missing, err)
		}
	}
}
