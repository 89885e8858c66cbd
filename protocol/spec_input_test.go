package protocol

import (
	"errors"
	"strings"
	"testing"
)

func columnNumber(n int) Column { return Column{Number: n} }

// The smallest input of every format is taken; then each change is refused by naming its field.
func TestInputValidate(t *testing.T) {
	one := 1
	least := map[string]Input{"tsv": {Text: columnNumber(1)}, "csv": {}, "libsvm": {Width: 3, IndexBase: &one},
		"jsonl": {Text: Column{Name: "t"}}, "document": {}, "mail": {}, "idx": {}, "npy": {},
		"npz": {Features: []Column{{Name: "X"}}}, "fvecs": {}, "bvecs": {}, "ivecs": {}}
	for _, format := range Formats() {
		in := least[format]
		in.URI, in.Format = "s3://b/x", format
		if err := in.WithDefaults().Validate("spec.input"); err != nil {
			t.Errorf("%s: %v", format, err)
		}
	}
	for _, c := range []struct {
		format string
		set    func(*Input)
		field  string
	}{
		{"xls", func(*Input) {}, "format"},
		{"csv", func(in *Input) { in.URI = "" }, "uri"},
		{"csv", func(in *Input) { in.URI = "s3://me:secret@b/x" }, "credentials"},
		{"csv", func(in *Input) { in.Compression = "zstd" }, "compression"},
		{"csv", func(in *Input) { in.Label.Name = "a" }, "header"},
		{"csv", func(in *Input) { in.Label, in.Weight = columnNumber(2), columnNumber(2) }, "twice"},
		{"csv", func(in *Input) { in.Features = []Column{{Number: 2}, {Number: 2}} }, "twice"},
		{"csv", func(in *Input) { in.Features = []Column{{}} }, "column"},
		{"csv", func(in *Input) { in.Delimiter = "\"" }, "delimiter"},
		{"csv", func(in *Input) { in.Delimiter = "é" }, "delimiter"},
		{"csv", func(in *Input) { in.Delimiter = "e" }, "delimiter"},
		{"csv", func(in *Input) { in.Delimiter = "\n" }, "delimiter"},
		{"csv", func(in *Input) { in.LabelsURI = "s3://b/y" }, "labels_uri"},
		{"csv", func(in *Input) { in.Width = 3 }, "width"},
		{"csv", func(in *Input) { in.IndexBase = &one }, "index_base"},
		{"tsv", func(in *Input) { in.Text = Column{} }, "text"},
		{"tsv", func(in *Input) { in.Features = []Column{{Number: 3}} }, "features"},
		{"tsv", func(in *Input) { in.Weight = columnNumber(3) }, "weight"},
		{"tsv", func(in *Input) { in.Delimiter = ";" }, "delimiter"},
		{"tsv", func(in *Input) { in.Multiline = true }, "multiline"},
		{"libsvm", func(in *Input) { in.Width = 0 }, "width"},
		{"libsvm", func(in *Input) { in.Width = MaxWidth + 1 }, "width"},
		{"libsvm", func(in *Input) { in.IndexBase = nil }, "index_base"},
		{"libsvm", func(in *Input) { two := 2; in.IndexBase = &two }, "index_base"},
		{"libsvm", func(in *Input) { in.Label = columnNumber(1) }, "label"},
		{"jsonl", func(in *Input) { in.Text = Column{} }, "text"},
		{"jsonl", func(in *Input) { in.Text = columnNumber(1) }, "path"},
		{"jsonl", func(in *Input) { in.Label = Column{Name: "t"} }, "twice"},
		{"jsonl", func(in *Input) { in.Header = true }, "header"},
		{"document", func(in *Input) { in.Label = columnNumber(1) }, "label"},
		{"document", func(in *Input) { in.Text = columnNumber(1) }, "text"},
		{"document", func(in *Input) { in.MailHeaders = []string{"from"} }, "mail_headers"},
		{"mail", func(in *Input) { in.Label = Column{Name: "class"} }, "label"},
		{"mail", func(in *Input) { in.MailHeaders = []string{"From"} }, "mail_headers"},
		{"mail", func(in *Input) { in.MailHeaders = []string{"*", "from"} }, "mail_headers"},
		{"mail", func(in *Input) { in.MailHeaders = []string{"a", "a"} }, "mail_headers"},
		{"mail", func(in *Input) { in.MailHeaders = []string{""} }, "mail_headers"},
		{"idx", func(in *Input) { in.Label = columnNumber(1) }, "label"},
		{"idx", func(in *Input) { in.Header = true }, "header"},
		{"npz", func(in *Input) { in.Features = nil }, "features"},
		{"npz", func(in *Input) { in.Label = columnNumber(1) }, "label"},
		{"npz", func(in *Input) { in.LabelsURI = "s3://b/y" }, "labels_uri"},
		{"fvecs", func(in *Input) { in.Text = columnNumber(1) }, "text"},
		{"fvecs", func(in *Input) { in.Split.Test = 1 }, "split.test"},
		{"fvecs", func(in *Input) { in.ShardBytes = -1 }, "shard_bytes"},
		{"fvecs", func(in *Input) { in.MaxRecordBytes = 2 << 30 }, "max_record_bytes"},
		{"fvecs", func(in *Input) { in.OnBadRecord.SkipMax = -1 }, "skip_max"},
	} {
		in := least[c.format]
		in.URI, in.Format = "s3://b/x", c.format
		in = in.WithDefaults()
		c.set(&in)
		err := in.Validate("spec.queries")
		var fault *Fault
		if !errors.As(err, &fault) || fault.Code != CodeSpecInvalid || !strings.Contains(fault.What, "spec.queries") ||
			!strings.Contains(fault.What, c.field) {
			t.Errorf("%s, %s: %v", c.format, c.field, err)
		}
	}
}

// A spec keeps no field that its format does not use, so that no default of csv names a tsv's result.
func TestInputCanonicalNamesOnlyWhatIsUsed(t *testing.T) {
	spec := JobSpec{Spec: Spec{Input: Input{URI: "s3://b/x", Format: "fvecs"},
		Queries: &Input{URI: "s3://b/q", Format: "csv"}}}.WithDefaults()
	text, err := spec.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	input, queries, _ := strings.Cut(string(text), `"queries"`)
	for _, field := range []string{"label", "text", "weight", "features", "delimiter", "multiline", "width",
		"index_base", "labels_uri", "mail_headers"} {
		if strings.Contains(input, `"`+field+`"`) {
			t.Errorf("the input of fvecs has %q: %s", field, input)
		}
	}
	if !strings.Contains(queries, `"delimiter":","`) || !strings.Contains(queries, `"compression":"auto"`) {
		t.Errorf("the queries lack their defaults: %s", queries)
	}
	again, err := ParseSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	if twice, err := again.Canonical(); err != nil || string(twice) != string(text) {
		t.Errorf("%s, %v; want %s", twice, err, text)
	}
}
