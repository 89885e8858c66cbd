package dataset

import (
	"archive/zip"
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/protocol"
)

// zipMember is a stored file of a zip; local is its name in the header before its data.
type zipMember struct{ name, local, data string }

// zipOf writes the members in order.
func zipOf(t *testing.T, members ...zipMember) string {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, m := range members {
		f, err := w.CreateHeader(&zip.FileHeader{Name: m.name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(m.data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data := out.Bytes()
	for _, m := range members {
		if m.local != "" { // the first place of the name is the header before the data
			data = bytes.Replace(data, []byte(m.name), []byte(m.local), 1)
		}
	}
	return string(data)
}

// Two readers of such an archive may read two different arrays.
func TestArraysOfOneName(t *testing.T) {
	one, two := string(datasettest.NPY("<f4", "(1, 1)", []float32{1})),
		string(datasettest.NPY("<f4", "(1, 1)", []float32{2}))
	in := formatInput("npz", func(in *protocol.Input) { in.Features = []protocol.Column{{Name: "X"}} })
	for _, c := range []struct{ name, data, want string }{
		{"twice", zipOf(t, zipMember{"X.npy", "", one}, zipMember{"X.npy", "", two}), "twice"},
		{"another twice", zipOf(t, zipMember{"X.npy", "", one}, zipMember{"y.npy", "", one},
			zipMember{"y.npy", "", two}), "twice"},
		{"two names", zipOf(t, zipMember{"X.npy", "Z.npy", one}), "calls it otherwise"},
		{"once", zipOf(t, zipMember{"X.npy", "", one}, zipMember{"y.npy", "", two}), ""},
	} {
		rows, _, err := readFile(t, in, map[string]string{"f": c.data})
		if c.want == "" {
			if err != nil || len(rows) != 1 || rows[0].Vector[0] != 1 {
				t.Errorf("%s: %v, %v", c.name, rows, err)
			}
			continue
		}
		if !isCode(err, protocol.CodeBadRecord) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v; want BAD_RECORD that says %q", c.name, rows, err, c.want)
		}
	}
}

// What other readers refuse, or read as something else, is not read.
func TestRefusedByHand(t *testing.T) {
	label := func(in *protocol.Input) { in.Label.Number, in.Text.Number = 1, 2 }
	tsv, csv := formatInput("tsv", label), formatInput("csv", label)
	headed := formatInput("csv", func(in *protocol.Input) { in.Label.Number, in.Header = 3, true })
	labelFirst := formatInput("csv", func(in *protocol.Input) { in.Label.Number, in.Header = 1, true })
	plain := formatInput("csv", func(in *protocol.Input) { in.Label.Number = 3 })
	headedTSV := formatInput("tsv",
		func(in *protocol.Input) { in.Label.Name, in.Text.Name, in.Header = "l", "t", true })
	for _, c := range []struct {
		name string
		in   protocol.Input
		data string
		want string
	}{
		{"tsv, lines end in CR", tsv, "a\tx\rb\ty\r", bareReturn},
		{"tsv, CR in a text", tsv, "a\tx\nb\ty\rz\n", bareReturn},
		{"tsv, CR begins a line", tsv, "a\tx\n\rb\ty\n", bareReturn},
		{"tsv, CR begins the header", headedTSV, "\rl\tt\na\tx\n", bareReturn},
		{"tsv, a field too few", tsv, "a\tx\nb\n", "too few columns: the line has 1, column 2 is wanted"},
		{"tsv, CR ends the header", headedTSV, "l\tt\ra\tx\r", bareReturn},
		{"csv of texts, lines end in CR", csv, "a,x\rb,y\r", bareReturn},
		{"csv, CR begins a field", csv, "a,x\nb,\ry\n", bareReturn},
		{"libsvm, lines end in CR", libsvmInput(1, 2), "a 1:1\rb 2:1\r", bareReturn},
		{"libsvm, a comment ends in CR", libsvmInput(1, 2), "# made by hand\ra 1:1\r", bareReturn},
		{"libsvm, +-1", libsvmInput(1, 2), "+1 1:1\n+-1 2:1\n", twoSigns},
		{"libsvm, ++1", libsvmInput(1, 2), "++1 1:1\n", twoSigns},
		{"tsv, two marks", tsv, "\ufeff\ufeffa\tx\n", secondMark},
		{"csv, two marks", csv, "\ufeff\ufeffa,x\n", secondMark},
		{"csv, two marks before the header", headed, "\ufeff\ufeffp,q,r\n1,2,a\n", secondMark},
		{"libsvm, two marks", libsvmInput(1, 2), "\ufeff\ufeffa 1:1\n", secondMark},
		{"csv, a mark in the middle", csv, "a,x\n\ufeffb,y\n", secondMark},
		{"document, two marks", formatInput("document", nil), "\ufeff\ufefftext", secondMark},
		{"a field too few, and the others right", plain, "1,2,a\n3,4\n",
			"too few columns: the line has 2, the first record of the object has 3"},
		{"a field too few", plain, "1,2,a\n3,b\n",
			"too few columns: the line has 2, the first record of the object has 3"},
		{"fields too many", plain, "1,2,a\n3,b,4,5\n",
			"too many columns: the line has 4, the first record of the object has 3"},
		{"a category", headed, "size,color,label\n1,2,a\n3,red,b\n",
			`line 3, column 2 (byte 23): "color": "red" is not a decimal number. List the text in spec.input.missing`},
		{"a category in the last column", labelFirst, "label,size\na,1\nb,red\n",
			`column 2 (byte 15): "size": "red" is not a decimal number`},
		{"an empty field", headed, "size,color,label\n1,,a\n",
			`"color": the field is empty, not a decimal number. List the text in spec.input.missing`},
		{"NaN", headed, "size,color,label\n1,NaN,a\n", `"color": "NaN" is not a finite number. List the text`},
		{"without a header", plain, "1,2,a\n3,red,b\n", `column 2 (byte 6): "red" is not a decimal number`},
		{"control characters are escaped", plain, "1,2,a\n3,\x1b[2J,b\n", `"\x1b[2J" is not`},
		{"npy, bool of 128", formatInput("npy", nil), string(datasettest.NPY("|b1", "(2, 2)", []uint8{0, 1, 128, 0})),
			notBool},
		{"npy, bool of 2", formatInput("npy", nil), string(datasettest.NPY("|b1", "(1,)", []uint8{2})), notBool},
	} {
		rows, _, err := readFile(t, c.in, map[string]string{"f": c.data})
		var fault *protocol.Fault
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), c.want) || fault.Hint == "" {
			t.Errorf("%s: %v, %v; want a fault that says %q", c.name, rows, err, c.want)
		}
	}
}

// What is only near to those is read.
func TestNearlyRefused(t *testing.T) {
	tsv := formatInput("tsv", func(in *protocol.Input) { in.Label.Number, in.Text.Number = 1, 2 })
	csv := formatInput("csv", func(in *protocol.Input) { in.Label.Number, in.Text.Number = 1, 2 })
	for _, c := range []struct {
		name        string
		in          protocol.Input
		data        string
		label, text string
	}{
		{"one mark", tsv, "\ufeffa\tx\n", "a", "x"},
		{"a mark within a text", tsv, "a\tx\ufeff\n", "a", "x\ufeff"},
		{"CRLF", tsv, "a\tx\r\n", "a", "x"},
		{"CR ends the object", tsv, "a\tx\r", "a", "x"},
		{"CR in quotes", csv, "a,\"x\ry\"\n", "a", "x\ry"},
		{"a sign within a label", libsvmInput(1, 2), "+a-1 1:1\n", "a-1", ""},
	} {
		rows, _, err := readFile(t, c.in, map[string]string{"f": c.data})
		if err != nil || len(rows) != 1 || rows[0].Label != c.label || rows[0].Text != c.text {
			t.Errorf("%s: %+v, %v", c.name, rows, err)
		}
	}
}
