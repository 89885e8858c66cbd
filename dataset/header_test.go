package dataset

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gram-compute/gram/protocol"
)

// A table whose files have their columns in another order is refused where columns go by position, and read where each
// is found by its name.
func TestHeadersAreCompared(t *testing.T) {
	name := func(s string) protocol.Column { return protocol.Column{Name: s} }
	number := func(n int) protocol.Column { return protocol.Column{Number: n} }
	byLabel := func(in *protocol.Input) { in.Header, in.Label = true, name("y") }
	for _, c := range []struct {
		of, format  string
		set         func(*protocol.Input)
		first, then string
		says        string // of the fault; empty for no fault
	}{
		{"the same", "csv", byLabel, "y,a,b\n1,2,3\n", "y,a,b\n1,2,3\n", ""},
		{"the label elsewhere", "csv", byLabel, "y,a,b\n1,2,3\n", "a,b,y\n2,3,1\n", ""},
		{"two columns exchanged", "csv", byLabel, "y,a,b\n1,2,3\n", "y,b,a\n1,3,2\n",
			`names column 2 "b", and that of "0.csv" names column 2 "a"`},
		{"exchanged in a quoted header", "csv", byLabel, "y,a,b\n1,2,3\n", "\ufeff\"y\",\"b\",\"a\"\r\n1,3,2\n",
			`names column 2 "b"`},
		{"quoted or not", "csv", byLabel, "y,a,b\n1,2,3\n", "\ufeff\"y\",\"a\",\"b\"\r\n1,3,2\n", ""},
		{"a column more", "csv", byLabel, "y,a,b\n1,2,3\n", "y,a,b,c\n1,2,3,4\n",
			`names 3 columns that go by position`},
		{"features by name", "csv", func(in *protocol.Input) {
			byLabel(in)
			in.Features = []protocol.Column{name("a"), name("b")}
		}, "y,a,b\n1,2,3\n", "y,b,a\n1,3,2\n", ""},
		{"features by number", "csv", func(in *protocol.Input) {
			byLabel(in)
			in.Features = []protocol.Column{number(3)}
		}, "y,a,b\n1,2,3\n", "y,b,a\n1,3,2\n", `names column 3 "a", and that of "0.csv" names column 3 "b"`},
		{"a column in no use", "csv", func(in *protocol.Input) {
			byLabel(in)
			in.Features = []protocol.Column{number(3)}
		}, "y,a,b\n1,2,3\n", "y,c,b\n1,3,2\n", ""},
		{"a text by name", "csv", func(in *protocol.Input) { in.Header, in.Text = true, name("t") },
			"t,a\nx,1\n", "a,t\n1,x\n", ""},
		{"no header", "csv", func(in *protocol.Input) { in.Label = number(1) }, "1,2,3\n", "4,5,6\n", ""},
		{"an empty object", "csv", byLabel, "", "y,a,b\n1,2,3\n", ""},
		{"tsv by number", "tsv", func(in *protocol.Input) { in.Header, in.Label, in.Text = true, number(1), number(2) },
			"y\tt\n1\tx\n", "t\ty\nx\t1\n", `names column 1 "t", and that of "0.csv" names column 1 "y"`},
		{"tsv by name", "tsv", func(in *protocol.Input) { in.Header, in.Label, in.Text = true, name("y"), name("t") },
			"y\tt\n1\tx\n", "t\ty\nx\t1\n", ""},
	} {
		for _, gzip := range []bool{false, true} {
			key, then := "1.csv", c.then
			if gzip {
				key, then = "1.csv.gz", zipped(then)
			}
			store := storeOf(t, map[string]string{"0.csv": c.first, key: then})
			_, _, err := Plan(t.Context(), store, "", formatInput(c.format, c.set))
			switch {
			case c.says == "" && err != nil:
				t.Errorf("%s, gzip %v: %v", c.of, gzip, err)
			case c.says != "" && (!isFault(err, protocol.CodeSpecInvalid, c.says) ||
				!strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "spec.input.features")):
				t.Errorf("%s, gzip %v: %v, want %s", c.of, gzip, err, c.says)
			}
		}
	}
}

// Headers are longer than one read, and the first of several objects at fault is named.
func TestLongHeadersAreCompared(t *testing.T) {
	var header, row strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&header, "column %d,", i)
		row.WriteString("0,")
	}
	table := func(last string) string { return header.String() + last + "\n" + row.String() + "1\n" }
	objects := map[string]string{}
	for i := range 40 {
		objects[fmt.Sprintf("%02d.csv", i)] = table("z")
	}
	in := formatInput("csv", func(in *protocol.Input) { in.Header = true })
	if _, _, err := Plan(t.Context(), storeOf(t, objects), "", in); err != nil {
		t.Fatal(err)
	}
	objects["17.csv"], objects["23.csv"] = table("y"), table("x")
	_, _, err := Plan(t.Context(), storeOf(t, objects), "", in)
	if !isFault(err, protocol.CodeSpecInvalid, `names column 20001 "y", and that of "00.csv" names column 20001 "z"`) ||
		!strings.Contains(err.Error(), "17.csv") {
		t.Error(err)
	}
}

// A header that cannot be taken is left to the read of the records, and so is a damaged object.
func TestHeadersThatCannotBeRead(t *testing.T) {
	in := formatInput("csv", func(in *protocol.Input) { in.Header, in.Label = true, protocol.Column{Name: "y"} })
	for _, then := range []string{"\"y,a\n1,2\n", "x,a\n1,2\n", zipped("y,b\n1,2\n")[:12]} {
		key := "1.csv"
		if strings.HasPrefix(then, "\x1f\x8b") {
			key += ".gz"
		}
		store := storeOf(t, map[string]string{"0.csv": "y,a\n1,2\n", key: then})
		m, shards, err := Plan(t.Context(), store, "", in)
		if err != nil {
			t.Errorf("%.20q: planned with %v", then, err)
			continue
		}
		s, err := NewSource(store, "", m, in)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := readRows(t.Context(), s, shards); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%.20q: read with %v", then, err)
		}
	}
}
