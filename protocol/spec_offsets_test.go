package protocol

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestOffsetsByHand(t *testing.T) {
	in := Input{Subtract: map[string]float64{"time": 1.7e9, "3": -1, "03": 2, "1": 5}}
	want := []ColumnOffset{{Column{Name: "03"}, 2}, {Column{Name: "time"}, 1.7e9}, {Column{Number: 1}, 5},
		{Column{Number: 3}, -1}}
	if got := in.Offsets(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestSubtractAndVerifyAreChecked(t *testing.T) {
	zero, one := 0, 1
	off := func(key string, value float64) map[string]float64 { return map[string]float64{key: value} }
	for _, c := range []struct {
		name string
		in   Input
		want string // "" for a valid input
	}{
		{"csv by number", Input{Format: "csv", Subtract: off("2", 1)}, ""},
		{"csv by name", Input{Format: "csv", Header: true, Subtract: off("time", 1)}, ""},
		{"csv by name without a header", Input{Format: "csv", Subtract: off("time", 1)}, "header is false"},
		{"jsonl", Input{Format: "jsonl", Features: []Column{{Name: "v"}}, Subtract: off("/v/1", 1)}, ""},
		{"jsonl by number", Input{Format: "jsonl", Features: []Column{{Name: "v"}}, Subtract: off("1", 1)},
			"name or a path"},
		{"npy by name", Input{Format: "npy", Subtract: off("x", 1)}, "have numbers"},
		{"npy, column 0", Input{Format: "npy", Subtract: off("0", 1)}, "count from 1"},
		{"libsvm, index 0 from 0", Input{Format: "libsvm", Width: 2, IndexBase: &zero, Subtract: off("0", 1)}, ""},
		{"libsvm, index 0 from 1", Input{Format: "libsvm", Width: 2, IndexBase: &one, Subtract: off("0", 1)},
			"count from 1"},
		{"fvecs", Input{Format: "fvecs", Subtract: off("1", 1)}, ""},
		{"tsv", Input{Format: "tsv", Text: Column{Number: 1}, Subtract: off("1", 1)}, "subtract is not for the format"},
		{"mail", Input{Format: "mail", Subtract: off("1", 1)}, "subtract is not for the format"},
		{"beyond float32", Input{Format: "csv", Subtract: off("1", 1e39)}, "no offset"},
		{"not a number", Input{Format: "csv", Subtract: off("1", math.NaN())}, "no offset"},
		{"infinite", Input{Format: "csv", Subtract: off("1", math.Inf(-1))}, "no offset"},
		{"the least of float32", Input{Format: "csv", Subtract: off("1", -math.MaxFloat32)}, ""},
		{"just below it", Input{Format: "csv", Subtract: off("1", -math.Nextafter(math.MaxFloat32, 1e39))},
			"no offset"},
		{"the last column", Input{Format: "npy", Subtract: off("1073741824", 1)}, ""},
		{"the column after it", Input{Format: "npy", Subtract: off("1073741825", 1)}, "names column 1073741825"},
		{"verify off", Input{Format: "csv", Verify: "off"}, ""},
		{"verify on", Input{Format: "csv", Verify: "on"}, "verify"},
	} {
		c.in.URI = "mem://m/k"
		err := c.in.WithDefaults().Validate("spec.input")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Queries of the same format have the offsets of the input; others must name their own.
func TestQueriesHaveTheOffsetsOfTheInput(t *testing.T) {
	csv := Input{URI: "mem://m/k", Format: "csv", Subtract: map[string]float64{"1": 5}}
	of := func(q Input) JobSpec {
		q.URI = "mem://m/q"
		return JobSpec{APIVersion: APIVersion, Kind: "K", Spec: Spec{Input: csv, Queries: &q}}.WithDefaults()
	}
	same, npy, own := of(Input{Format: "csv"}), of(Input{Format: "npy"}),
		of(Input{Format: "npy", Subtract: map[string]float64{"1": 5}})
	if same.Spec.Queries.Subtract["1"] != 5 || same.Validate() != nil {
		t.Errorf("the same format: %v, %v", same.Spec.Queries.Subtract, same.Validate())
	}
	if err := npy.Validate(); err == nil || !strings.Contains(err.Error(), "go together") {
		t.Errorf("another format without offsets: %v", err)
	}
	if err := own.Validate(); err != nil {
		t.Errorf("another format with its own: %v", err)
	}
}
