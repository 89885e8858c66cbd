package protocol

import (
	"errors"
	"strings"
	"testing"
)

// What names records, and dense libsvm, is taken where the format has a place for it, and refused elsewhere.
func TestInputValidateIDs(t *testing.T) {
	one := 1
	name := func(name string) func(*Input) { return func(in *Input) { in.ID.Name = name } }
	uri := func(in *Input) { in.IDsURI = "s3://b/y" }
	least := map[string]Input{"tsv": {Text: columnNumber(1)}, "libsvm": {Width: 3, IndexBase: &one},
		"jsonl": {Text: Column{Name: "t"}}, "npz": {Features: []Column{{Name: "X"}}}}
	for _, c := range []struct {
		format string
		set    func(*Input)
		says   string // of a fault; empty where the input is valid
	}{
		{"csv", func(in *Input) { in.ID = columnNumber(2) }, ""},
		{"csv", name("k"), "header"},
		{"csv", func(in *Input) { in.ID, in.Label = columnNumber(2), columnNumber(2) }, "twice, among id"},
		{"csv", func(in *Input) { in.ID, in.Features = columnNumber(2), []Column{{Number: 2}} }, "twice"},
		{"csv", uri, "ids_uri"},
		{"csv", func(in *Input) { in.Dense = true }, "dense"},
		{"tsv", func(in *Input) { in.ID = columnNumber(2) }, ""},
		{"tsv", func(in *Input) { in.ID = in.Text }, "twice"},
		{"jsonl", name("/a/k"), ""},
		{"jsonl", func(in *Input) { in.ID = columnNumber(1) }, "path"},
		{"libsvm", name(CommentID), ""},
		{"libsvm", func(in *Input) { in.Dense = true }, ""},
		{"libsvm", func(in *Input) { in.ID = columnNumber(1) }, "comment"},
		{"libsvm", name("id"), "comment"},
		{"libsvm", uri, "ids_uri"},
		{"libsvm", func(in *Input) { in.Dense, in.Width = true, MaxWidth }, "dense"},
		{"document", name("key"), "id"},
		{"mail", uri, "ids_uri"},
		{"npz", name("k"), ""},
		{"npz", func(in *Input) { in.ID = columnNumber(1) }, "id"},
		{"npz", uri, "ids_uri"},
		{"npy", uri, ""},
		{"npy", name("k"), "name objects of ids in spec.input.ids_uri"},
		{"bvecs", uri, ""},
		{"fvecs", func(in *Input) { in.LabelsURI = "s3://b/y" }, ""},
		{"fvecs", func(in *Input) { in.ID = columnNumber(1) }, "ids_uri"},
		{"idx", func(in *Input) { in.IDsURI = "s3://me:secret@b/x" }, "credentials"},
	} {
		in := least[c.format]
		in.URI, in.Format = "s3://b/x", c.format
		c.set(&in)
		in = in.WithDefaults()
		err := in.Validate("spec.input")
		var fault *Fault
		if c.says == "" && (err != nil || in.HasIDs() != (in.ID != Column{} || in.IDsURI != "")) ||
			c.says != "" && (!errors.As(err, &fault) || fault.Code != CodeSpecInvalid ||
				!strings.Contains(fault.What, c.says)) {
			t.Errorf("%s: %v, want %q", c.format, err, c.says)
		}
	}
}

// A fault names the record that it is of, once.
func TestFaultOfARecord(t *testing.T) {
	fault := InputFault(CodeBadRecord, "odd").Of(Record{ID: "k"}).Of(Record{Row: 3, Counted: true})
	if fault.What != "row 3: odd" {
		t.Errorf("%q", fault.What)
	}
	if fault = fault.Of(Record{ID: "k"}); fault.What != `the record with the id "k": odd` {
		t.Errorf("%q", fault.What)
	}
	if fault = fault.Of(Record{}); fault.What != "odd" || fault.Record != (Record{}) {
		t.Errorf("%q", fault.What)
	}
}
