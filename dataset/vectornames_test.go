package dataset

import (
	"strings"
	"testing"

	"github.com/gram-compute/gram/protocol"
)

// Queries whose columns come in another order than those of the input are refused as far as headers tell.
func TestVectorsAreCompared(t *testing.T) {
	name := func(s string) protocol.Column { return protocol.Column{Name: s} }
	byLabel := func(in *protocol.Input) { in.Header, in.Label = true, name("y") }
	listed := func(names ...protocol.Column) func(*protocol.Input) {
		return func(in *protocol.Input) { in.Header, in.Features = true, names }
	}
	for _, c := range []struct {
		of             string
		input, queries func(*protocol.Input)
		first, then    string
		says           string // of the fault; empty for no fault
	}{
		{"the same", byLabel, byLabel, "y,a,b\n", "y,a,b\n", ""},
		{"no labels", byLabel, listed(), "y,a,b\n", "a,b\n", ""},
		{"the label elsewhere", byLabel, byLabel, "y,a,b\n", "a,b,y\n", ""},
		{"exchanged", byLabel, listed(), "y,a,b\n", "b,a\n",
			`value 1 of its vectors is named "b" by the header of spec.queries, and "a" by that of spec.input in "input.csv"`},
		{"names and positions", listed(name("b"), name("a")), listed(), "y,a,b\n", "a,b\n", `value 1`},
		{"names and positions that agree", listed(name("b"), name("a")), listed(), "y,a,b\n", "b,a\n", ""},
		{"numbers", byLabel, listed(protocol.Column{Number: 2}, protocol.Column{Number: 3}), "y,a,b\n", "y,a,c\n",
			`value 2 of its vectors is named "c"`},
		{"names by choice", listed(name("a")), listed(name("b")), "a,b\n", "a,b\n", ""},
		{"another width", byLabel, listed(), "y,a,b\n", "b\n", ""},
		{"no header", byLabel, func(*protocol.Input) {}, "y,a,b\n", "1,2\n", ""},
	} {
		at := func(key, data string, set func(*protocol.Input)) Listed {
			store, in := storeOf(t, map[string]string{key: data}), formatInput("csv", set)
			m, err := List(t.Context(), store, in.URI, "")
			if err != nil {
				t.Fatal(err)
			}
			return Listed{Store: store, Manifest: m, Input: in}
		}
		err := CompareVectors(t.Context(), at("input.csv", c.first, c.input), at("queries.csv", c.then, c.queries))
		switch {
		case c.says == "" && err != nil:
			t.Errorf("%s: %v", c.of, err)
		case c.says != "" && (!isFault(err, protocol.CodeSpecInvalid, c.says) ||
			!strings.Contains(err.Error(), "queries.csv")):
			t.Errorf("%s: %v, want %s", c.of, err, c.says)
		}
	}
}
