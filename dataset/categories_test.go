package dataset

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gram-compute/gram/protocol"
)

// readCategories reads a file in shards of a size, as numbers with the categories behind them.
func readCategories(t *testing.T, in protocol.Input, size int, data string) (rows []string, err error) {
	t.Helper()
	in.ShardBytes = protocol.ByteSize(size)
	s, shards, err := openInput(storeOf(t, map[string]string{"f": data}), in)
	if err != nil {
		return nil, err
	}
	for _, shard := range shards {
		for block, err := range s.Blocks(t.Context(), shard) {
			if err != nil {
				return rows, err
			}
			part := block.Slice(0, len(block.IDs))
			for i := range part.IDs {
				rows = append(rows, fmt.Sprintf("%v %q", part.Dense.Row(i), part.Categories.Row(i)))
			}
		}
	}
	return rows, nil
}

func TestCategoriesByHand(t *testing.T) {
	set := func(format string, missing []string, categorical ...protocol.Column) protocol.Input {
		return formatInput(format, func(in *protocol.Input) {
			in.Missing, in.Categorical = missing, categorical
			if format == "csv" {
				in.Label.Number = 1
			} else {
				in.Label.Name, in.Features = "y", []protocol.Column{{Name: "x"}}
			}
		})
	}
	second, both := protocol.Column{Number: 2}, []protocol.Column{{Number: 4}, {Number: 2}}
	named := set("csv", nil, protocol.Column{Name: "color"})
	named.Header = true
	only := set("jsonl", []string{"null"}, protocol.Column{Name: "/c/d"})
	only.Features = nil
	gap := []string{"", "NA"}
	for name, c := range map[string]struct {
		in   protocol.Input
		data string
		want []string // nil if a record is bad
	}{
		"in the order of the spec": {set("csv", nil, both...), "a,red,1,7\nb,\"x, \"\"y\"\"\",2,é\n",
			[]string{`[1] ["7" "red"]`, `[2] ["é" "x, \"y\""]`}},
		"by name":             {named, "y,color,n\na,red,3\nb,blue,4\n", []string{`[3] ["red"]`, `[4] ["blue"]`}},
		"categories only":     {set("csv", nil, second), "a,red\nb,blue\n", []string{`[] ["red"]`, `[] ["blue"]`}},
		"missing":             {set("csv", gap, second), "a,,1\nb, NA ,\n", []string{`[1] [""]`, `[NaN] [""]`}},
		"empty, not listed":   {set("csv", nil, second), "a,,1\n", nil},
		"a NUL":               {set("csv", nil, second), "a,\x00,1\n", nil},
		"not UTF-8":           {set("csv", nil, second), "a,\xff,1\n", nil},
		"column of no number": {set("csv", nil, second), "a,red,x\n", nil},
		"json": {set("jsonl", nil, protocol.Column{Name: "c"}), `{"x":1,"c":"red","y":0}` + "\n" +
			`{"x":2,"c":7,"y":0}` + "\n" + `{"x":3,"c":true,"y":0}` + "\n",
			[]string{`[1] ["red"]`, `[2] ["7"]`, `[3] ["true"]`}},
		"json null":         {only, `{"y":0,"c":{"d":null}}` + "\n" + `{"y":1}` + "\n", []string{`[] [""]`, `[] [""]`}},
		"json without":      {set("jsonl", nil, protocol.Column{Name: "c"}), `{"x":1,"y":0}` + "\n", nil},
		"json of a list":    {set("jsonl", nil, protocol.Column{Name: "c"}), `{"x":1,"y":0,"c":[1]}` + "\n", nil},
		"json beyond float": {set("jsonl", nil, protocol.Column{Name: "c"}), `{"x":1,"y":0,"c":1e999}` + "\n", nil},
	} {
		if err := c.in.Validate("spec.input"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, size := range []int{1000, 9, 1} {
			got, err := readCategories(t, c.in, size, c.data)
			if c.want == nil && isCode(err, protocol.CodeBadRecord) {
				continue
			}
			if c.want == nil || err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%s in shards of %d: %v, %v; want %v", name, size, got, err, c.want)
			}
		}
	}
}

// Bad records that are passed over leave the others as they are.
func TestCategoriesSkipped(t *testing.T) {
	in := formatInput("csv", func(in *protocol.Input) { in.Categorical = []protocol.Column{{Number: 2}} })
	in.OnBadRecord.SkipMax = 5
	got, err := readCategories(t, in, 1000, "1,a\nx,b\n3,\n4,d\n")
	if err != nil || !slices.Equal(got, []string{`[1] ["a"]`, `[4] ["d"]`}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestCategoriesRefused(t *testing.T) {
	for name, in := range map[string]protocol.Input{
		"of texts": formatInput("csv", func(in *protocol.Input) {
			in.Text.Number, in.Categorical = 1, []protocol.Column{{Number: 2}}
		}),
		"used twice": formatInput("csv", func(in *protocol.Input) {
			in.Label.Number, in.Categorical = 1, []protocol.Column{{Number: 1}}
		}),
		"of arrays": formatInput("npy", func(in *protocol.Input) { in.Categorical = []protocol.Column{{Number: 2}} }),
		"too many": formatInput("csv", func(in *protocol.Input) {
			in.Categorical = columns(slices.Repeat([]int{3}, 1025)...)
		}),
	} {
		if err := in.Validate("spec.input"); !isCode(err, protocol.CodeSpecInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
