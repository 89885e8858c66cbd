package dataset

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/protocol"
)

func TestCSVByHand(t *testing.T) {
	set := func(f func(*protocol.Input)) protocol.Input { return formatInput("csv", f) }
	label2 := set(func(in *protocol.Input) { in.Label.Number = 2 })
	named := set(func(in *protocol.Input) {
		in.Header, in.Label.Name, in.Weight.Name = true, "class", "w"
		in.Features = []protocol.Column{{Name: "b"}, {Number: 1}}
	})
	texts := set(func(in *protocol.Input) { in.Label.Number, in.Text.Number, in.Delimiter = 1, 3, ";" })
	both := set(func(in *protocol.Input) { in.Text.Number, in.Features = 1, columns(3) })
	lines := set(func(in *protocol.Input) { in.Text.Number, in.Multiline, in.MaxRecordBytes = 1, true, 12 })
	headed := set(func(in *protocol.Input) { in.Header, in.Label.Number = true, 3 })
	for _, c := range []struct {
		name string
		in   protocol.Input
		data string
		want []row
	}{
		{"all columns", set(nil), "1,2\n-3.5,4e1\n",
			[]row{{Vector: []float32{1, 2}}, {Offset: 4, Vector: []float32{-3.5, 40}}}},
		{"the others", label2, "1,a,2\r\n3,b,4",
			[]row{{Label: "a", Vector: []float32{1, 2}}, {Offset: 7, Label: "b", Vector: []float32{3, 4}}}},
		{"by name, in the order of features", named, "a,class,w,b\n1,x,0.5,2\n",
			[]row{{Offset: 12, Label: "x", Weight: 0.5, Vector: []float32{2, 1}}}},
		{"quotes", label2, "\"1\",\"a,\"\"b\"\"\",\" 2 \"\n", []row{{Label: `a,"b"`, Vector: []float32{1, 2}}}},
		{"only text", texts, "a;7;x, y\nb;8;\"\"\n", []row{{Label: "a", Text: "x, y"}, {Offset: 9, Label: "b"}}},
		{"text and features", both, "t,x,2\n", []row{{Text: "t", Vector: []float32{2}}}},
		{"blank lines and a byte order mark", set(nil), "\ufeff1\n\n\r\n2\n",
			[]row{{Vector: []float32{1}}, {Offset: 8, Vector: []float32{2}}}},
		{"lines within quotes", lines, "\"a\n\nb\"\n\"c\"\"\r\n\"\n",
			[]row{{Text: "a\n\nb"}, {Offset: 7, Text: "c\"\r\n"}}},
		{"a weight of 0", named, "a,class,w,b\n1,x,0,2\n", []row{{Offset: 12, Label: "x", Vector: []float32{2, 1}}}},
		{"a header of another length", headed, "3,a\n1,2,x\n3,4,y\n",
			[]row{{Offset: 4, Label: "x", Vector: []float32{1, 2}}, {Offset: 10, Label: "y", Vector: []float32{3, 4}}}},
	} {
		got, _, err := readFile(t, c.in, map[string]string{"f": c.data})
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", c.name, got, err, c.want)
		}
		if got, _, err = readFile(t, c.in, map[string]string{"f.gz": zipped(c.data)}); err != nil ||
			!reflect.DeepEqual(got, c.want) {
			t.Errorf("%s as gzip: %v, %v; want %v", c.name, got, err, c.want)
		}
	}
}

// A column of the vector is named as the file counts it, or by the header.
func TestCSVColumnNames(t *testing.T) {
	label := func(in *protocol.Input) { in.Label.Number = 1 }
	headed := func(in *protocol.Input) { in.Label.Number, in.Header = 1, true }
	for data, c := range map[string]struct {
		set  func(*protocol.Input)
		want string
	}{
		"a,0.1\n": {label, "2"}, "a,1,0.1\n": {label, "3"},
		"class,x\na,0.1\n": {headed, `"x"`}, "class\na,0.1\n": {headed, "2"},
	} {
		found, _, _, err := noticed(t, formatInput("csv", c.set), data)
		if _, ok := found[c.want]; !ok || len(found) != 1 || err != nil {
			t.Errorf("%q: %+v, %v; want the column %s", data, found, err, c.want)
		}
	}
}

// csvFault is an input whose second record, or header, has a flaw.
type csvFault struct {
	reason string // in the fault's message
	in     protocol.Input
	data   string
	at     protocol.Fault // code, offset, line and column
}

// badAt is a bad record at a place.
func badAt(offset, number int64, column int) protocol.Fault {
	return *protocol.InputFault(protocol.CodeBadRecord, "").At(number, column).WithOffset(offset)
}

// refused checks that reading an input fails with a fault.
func (c csvFault) refused(t *testing.T) {
	t.Helper()
	rows, _, err := readFile(t, c.in, map[string]string{"f": c.data})
	var fault *protocol.Fault
	if !errors.As(err, &fault) || !strings.Contains(err.Error(), c.reason) || fault.Hint == "" {
		t.Errorf("%s: %v %v", c.reason, rows, err)
		return
	}
	c.at.Object, c.at.Class = "f", protocol.ClassInput
	got := *fault
	got.What, got.Hint, got.Err = "", "", nil
	if got != c.at {
		t.Errorf("%s: %+v, want %+v", c.reason, got, c.at)
	}
}

// The flaw of a record is a fault, unless bad records are skipped.
func TestCSVFaultsByHand(t *testing.T) {
	numbers, headed := formatInput("csv", nil), formatInput("csv", func(in *protocol.Input) { in.Header = true })
	text := formatInput("csv", func(in *protocol.Input) { in.Text.Number, in.Weight.Number = 1, 2 })
	lines := formatInput("csv", func(in *protocol.Input) {
		in.Text.Number, in.Multiline, in.MaxRecordBytes = 1, true,
			12
	})
	label := formatInput("csv", func(in *protocol.Input) { in.Label.Number = 1 })
	for _, c := range []csvFault{
		{tooFew, numbers, "1,2\n3\n", badAt(4, 2, 2)},
		{tooFew, headed, "x,y\n\n1,2\n3\n", badAt(9, 4, 2)},
		{tooMany, numbers, "1,2\n3,4,5\n", badAt(4, 2, 3)},
		{notNumber, numbers, "1,2\n3,x\n", badAt(4, 2, 2)},
		{notNumber, numbers, "1,2\n,3\n", badAt(4, 2, 1)},
		{notNumber, numbers, "1,2\n3,\n", badAt(4, 2, 2)},
		{notFinite, numbers, "1,2\n3,-Inf\n", badAt(4, 2, 2)},
		{notFinite, numbers, "1,2\nNaN,1\n", badAt(4, 2, 1)},
		{beyond32, numbers, "1,2\n3,1e39\n", badAt(4, 2, 2)},
		{notNumber, numbers, "1,2\n0x10,1\n", badAt(4, 2, 1)},
		{notNumber, numbers, "1,2\n1_0,1\n", badAt(4, 2, 1)},
		{bareQuote, text, "a,1\nb\"c,1\n", badAt(4, 2, 1)},
		{afterQuote, text, "a,1\n\"b\"c,1\n", badAt(4, 2, 1)},
		{badWeight, text, "a,1\nb,-1\n", badAt(4, 2, 2)},
		{emptyLabel, label, "a,1\n\"\",1\n", badAt(4, 2, 1)},
		{nulByte, label, "a,1\n\x00,1\n", badAt(4, 2, 1)},
		{notUTF8, label, "a,1\n\xff,1\n", badAt(4, 2, 1)},
		{afterQuote, lines, "\"a\nb\"\n\"c\"d\n", badAt(6, 3, 1)},
	} {
		c.refused(t)
		c.in.OnBadRecord.SkipMax = 1
		rows, skipped, err := readFile(t, c.in, map[string]string{"f": c.data})
		offset, _ := c.at.Offset()
		want := []Skip{{ID: Identity{"f", offset}, Column: c.at.Column, Reason: c.reason}}
		if err != nil || len(rows) != 1 || !slices.Equal(skipped, want) {
			t.Errorf("%s, skipped: %v %v %v; want %v", c.reason, rows, skipped, err, want)
		}
	}
}

// A flaw after which no record can be told is a fault even if bad records are skipped.
func TestCSVFinalFaultsByHand(t *testing.T) {
	numbers := formatInput("csv", nil)
	lines := formatInput("csv", func(in *protocol.Input) {
		in.Text.Number, in.Multiline, in.MaxRecordBytes = 1, true,
			12
	})
	label := formatInput("csv", func(in *protocol.Input) { in.Label.Number = 1 })
	name := formatInput("csv", func(in *protocol.Input) { in.Header, in.Label.Name = true, "lable" })
	third := formatInput("csv", func(in *protocol.Input) { in.Features = columns(3) })
	twice := formatInput("csv", func(in *protocol.Input) {
		in.Header, in.Features = true, []protocol.Column{{Name: "y"}, {Number: 2}}
	})
	for _, c := range []csvFault{
		{openQuote, numbers, "1,2\n3,\"4\n5,6\n", badAt(6, 2, 2)},
		{openQuote, numbers, "\ufeff1,\"2\n", badAt(5, 1, 2)},
		{openQuote, numbers, "1,2\nx,\"4\n5,6\n", badAt(6, 2, 2)},
		{openQuote, numbers, "1,2\n3,4,5,\"\n", badAt(10, 2, 4)},
		{openQuote, numbers, "1,2\nx,4\r,\"\n", badAt(9, 2, 3)},
		{openQuote, lines, "a\n\"b\n", badAt(2, 2, 1)},
		{tooLong, lines, "a\n\"b\n56789\n1234", *protocol.InputFault(protocol.CodeInputLimit, "").At(2, 0).
			WithOffset(2)},
		{"too few columns: the line has 2, column 3 is wanted", third, "1,2\n", badAt(0, 1, 3)},
		{twoUses, twice, "x,y\n1,2\n", *protocol.SpecFault("").At(2, 2).WithOffset(4)},
		{noFeatures, label, "a\n", *protocol.SpecFault("").At(1, 0).WithOffset(0)},
		{`did you mean "label"`, name, "a,label\n1,x\n", *protocol.SpecFault("").At(1, 0).WithOffset(0)},
	} {
		c.refused(t)
		c.in.OnBadRecord.SkipMax = 1
		c.refused(t)
	}
}
