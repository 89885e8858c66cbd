package protocol

import (
	"fmt"
	"testing"
)

func TestInputValidateAtItsBounds(t *testing.T) {
	one := 1
	csv := Input{Format: "csv", Header: true}
	libsvm := Input{Format: "libsvm", Width: 1, IndexBase: &one}
	for name, c := range map[string]struct {
		in   Input
		set  func(*Input)
		says string
	}{
		"the last column": {csv, func(in *Input) { in.Label.Number = 1 << 20 }, ""},
		"the column after it": {csv, func(in *Input) { in.Label.Number = 1<<20 + 1 },
			"a number from 1 to 1048576"},
		"a column before the first": {csv, func(in *Input) { in.Label.Number = -1 }, "a number from 1"},
		"a named column":            {csv, func(in *Input) { in.Label.Name = "class" }, ""},
		"libsvm of a column":        {libsvm, func(*Input) {}, ""},
		"libsvm of all columns":     {libsvm, func(in *Input) { in.Width = 1 << 30 }, ""},
		"libsvm of more":            {libsvm, func(in *Input) { in.Width = 1<<30 + 1 }, "spec.input.width"},
		"shards of a byte":          {csv, func(in *Input) { in.ShardBytes = 1 }, ""},
		"shards of nothing":         {csv, func(in *Input) { in.ShardBytes = 0 }, "spec.input.shard_bytes"},
		"records of a byte":         {csv, func(in *Input) { in.MaxRecordBytes = 1 }, ""},
		"records of nothing":        {csv, func(in *Input) { in.MaxRecordBytes = 0 }, "spec.input.max_record_bytes"},
		"records of 1 GiB":          {csv, func(in *Input) { in.MaxRecordBytes = 1 << 30 }, ""},
		"records beyond 1 GiB": {csv, func(in *Input) { in.MaxRecordBytes = 1<<30 + 1 },
			"spec.input.max_record_bytes"},
		"nothing to test":           {csv, func(in *Input) { in.Split.Test = 0 }, ""},
		"less than nothing to test": {csv, func(in *Input) { in.Split.Test = -1e-300 }, "spec.input.split.test"},
		"a share of each class": {csv, func(in *Input) {
			in.Label.Number, in.Split = 1, Split{Test: 0.5, By: "label"}
		}, ""},
		"folds of groups": {csv, func(in *Input) { in.Split = Split{Folds: 5, Group: Column{Name: "who"}} }, ""},
		"folds by no label": {csv, func(in *Input) { in.Split = Split{Folds: 5, By: "label"} },
			"spec.input.split.by"},
		"folds by a column": {csv, func(in *Input) { in.Split = Split{Folds: 5, By: "who"} }, "spec.input.split.by"},
		"folds by both": {csv, func(in *Input) {
			in.Label.Number, in.Split = 1, Split{Folds: 5, By: "label", Group: Column{Name: "who"}}
		}, "by and group"},
		"nothing by label": {csv, func(in *Input) { in.Label.Number, in.Split.By = 1, "label" },
			"neither test nor folds"},
		"groups of libsvm": {libsvm, func(in *Input) { in.Split = Split{Folds: 5, Group: Column{Number: 1}} },
			"spec.input.split.group"},
		"groups by the label": {csv, func(in *Input) {
			in.Label.Number, in.Split = 1, Split{Folds: 5, Group: Column{Number: 1}}
		}, "twice"},
		"no bad records": {csv, func(in *Input) { in.OnBadRecord.SkipMax = 0 }, ""},
		"no compression": {csv, func(in *Input) { in.Compression = "none" }, ""},
		"gzip":           {csv, func(in *Input) { in.Compression = "gzip" }, ""},
	} {
		in := c.in.WithDefaults()
		in.URI = "s3://b/x"
		c.set(&in)
		wantFault(t, name, in.Validate("spec.input"), c.says)
	}
}

// RFC 5322, section 3.6.8: printable ASCII but the colon; here in lower case, so that a field has one spelling.
func TestNamesOfMailHeaders(t *testing.T) {
	for c := range 256 {
		name := "x-" + string(rune(c))
		want := c > ' ' && c < 0x7f && c != ':' && (c < 'A' || c > 'Z')
		if got := validHeaders([]string{name}); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
	names := make([]string, 101)
	for i := range names {
		names[i] = fmt.Sprintf("x-%d", i)
	}
	for _, c := range []struct {
		about string
		names []string
		want  bool
	}{
		{"all", []string{"*"}, true},
		{"all and one", []string{"*", "to"}, false},
		{"one twice", []string{"to", "to"}, false},
		{"one without a name", []string{""}, false},
		{"a hundred", names[:100], true},
		{"a hundred and one", names, false},
	} {
		if got := validHeaders(c.names); got != c.want {
			t.Errorf("%s: %v, want %v", c.about, got, c.want)
		}
	}
}

// A delimiter is one ASCII character, not a quote, that no number has, such as 1e-3, nan or 0x1p4.
func TestDelimiters(t *testing.T) {
	for c := range 256 {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		number := '0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'
		want := c == '\t' || c >= ' ' && c < 0x7f && !letter && !number && c != '"'
		if got := validDelimiter(string([]byte{byte(c)})); got != want {
			t.Errorf("%q: %v, want %v", rune(c), got, want)
		}
	}
	for _, d := range []string{"", ";;", "é"} {
		if validDelimiter(d) {
			t.Errorf("%q passes", d)
		}
	}
}
