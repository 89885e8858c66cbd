package dataset

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/protocol"
)

func libsvmInput(base, width int) protocol.Input {
	return formatInput("libsvm", func(in *protocol.Input) { in.IndexBase, in.Width = &base, width })
}

func TestLibSVMByHand(t *testing.T) {
	data := "# made by hand\n+1 1:0.5 4:-2\n\n-1\t2:1e3   # nothing else\n2.5\n"
	want := []row{
		{Offset: 15, Label: "1", Indices: []int32{0, 3}, Vector: []float32{0.5, -2}},
		{Offset: 30, Label: "-1", Indices: []int32{1}, Vector: []float32{1000}},
		{Offset: 56, Label: "2.5", Indices: []int32{}, Vector: []float32{}},
	}
	got, _, err := readFile(t, libsvmInput(1, 4), map[string]string{"f": data})
	if err != nil || !equalRows(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for i := range want {
		for j := range want[i].Indices {
			want[i].Indices[j]++
		}
	}
	if got, _, err = readFile(t, libsvmInput(0, 5), map[string]string{"f.gz": zipped(data)}); err != nil ||
		!equalRows(got, want) {
		t.Errorf("from 0, as gzip: %v, %v; want %v", got, err, want)
	}
}

// equalRows takes an empty slice for none.
func equalRows(a, b []row) bool {
	return slices.EqualFunc(a, b, func(a, b row) bool {
		same := slices.Equal(a.Indices, b.Indices) && slices.Equal(a.Vector, b.Vector)
		a.Indices, b.Indices, a.Vector, b.Vector = nil, nil, nil, nil
		return same && reflect.DeepEqual(a, b)
	})
}

func TestLibSVMFaultsByHand(t *testing.T) {
	for _, c := range []struct {
		bad    string
		reason string
		column int
	}{
		{"1:1", noLabel, 1},
		{"\ra 1:1", bareReturn, 0},
		{"a 1:1 #\rx", bareReturn, 0},
		{":1 1:1", noLabel, 1},
		{"a\xff 1:1", notUTF8, 1},
		{"+", emptyLabel, 1},
		{"a 0:1", badIndex, 2},
		{"a 1:1 5:1", badIndex, 3},
		{"a 99999999999999999999:1", badIndex, 2},
		{"a 2:1 2:1", notAscends, 3},
		{"a 2:1 1:1", notAscends, 3},
		{"a qid:1", badPair, 2},
		{"a 1", badPair, 2},
		{"a -1:1", badPair, 2},
		{"a 1:", notNumber, 2},
		{"a 1:x", notNumber, 2},
		{"a 1: 2", notNumber, 2},
		{"a 1:nan", notFinite, 2},
		{"a 1:1e99", beyond32, 2},
	} {
		in := libsvmInput(1, 4)
		_, _, err := readFile(t, in, map[string]string{"f": "b 1:1\n" + c.bad + "\nc 2:1\n"})
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord || *fault != *fault.WithOffset(6) ||
			fault.Line != 2 ||
			fault.Column != c.column || !strings.Contains(fault.What, c.reason) {
			t.Errorf("%q: %v, want %s in line 2, column %d", c.bad, err, c.reason, c.column)
		}
		in.OnBadRecord.SkipMax = 1
		rows, skipped, err := readFile(t, in, map[string]string{"f": "b 1:1\n" + c.bad + "\nc 2:1\n"})
		want := []row{{Label: "b", Indices: []int32{0}, Vector: []float32{1}},
			{Offset: int64(7 + len(c.bad)), Label: "c", Indices: []int32{1}, Vector: []float32{1}}}
		if err != nil || len(skipped) != 1 || !equalRows(rows, want) {
			t.Errorf("%q, skipped: %v %v %v", c.bad, rows, skipped, err)
		}
	}
}

// Indices go up to the width, which goes up to 2^30.
func TestLibSVMUpToMaxWidth(t *testing.T) {
	for data, want := range map[string]int32{ // the column from 0; -1 is a fault
		"a 1073741824:1\n": 1<<30 - 1, "a 10:1\n": 9, "a 01:1\n": 0, "a 1073741825:1\n": -1, "a 0:1\n": -1,
	} {
		rows, _, err := readFile(t, libsvmInput(1, protocol.MaxWidth), map[string]string{"f": data})
		if want < 0 && !isCode(err, protocol.CodeBadRecord) ||
			want >= 0 && (err != nil || !slices.Equal(rows[0].Indices, []int32{want})) {
			t.Errorf("%q: %v, %v; want the column %d", data, rows, err, want)
		}
	}
}
