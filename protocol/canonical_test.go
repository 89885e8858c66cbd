package protocol

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

// smallSpec is a complete spec.
func smallSpec() JobSpec {
	in := Input{URI: "s3://b/x", Format: "fvecs"}
	return JobSpec{APIVersion: APIVersion, Kind: "K", Spec: Spec{Input: in}}.WithDefaults()
}

// wantFault expects a fault of the spec whose text contains says; if says is "", no error.
func wantFault(t *testing.T, name string, err error, says string) {
	t.Helper()
	if says == "" {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return
	}
	var fault *Fault
	if !errors.As(err, &fault) || fault.Code != CodeSpecInvalid || fault.Class != ClassInput ||
		*fault != *fault.WithoutOffset() ||
		!strings.Contains(fault.What, says) {
		t.Errorf("%s: %v, want a fault of the spec without a place in a file, which says %q", name, err, says)
	}
}

// A spec may fill its 64 KiB, blanks included, and not a byte more.
func TestParseSpecTakes64KiB(t *testing.T) {
	text := `{"kind":"K"}` + strings.Repeat(" ", MaxSpecBytes)
	_, err := ParseSpec([]byte(text[:MaxSpecBytes]))
	wantFault(t, "64 KiB", err, "")
	_, err = ParseSpec([]byte(text[:MaxSpecBytes+1]))
	wantFault(t, "64 KiB and a byte", err, "65537 bytes; at most 65536")
	_, err = ParseSpec([]byte(" \n"))
	wantFault(t, "blanks", err, "empty")
}

// Defaults stand in for what is not given, and for nothing else.
func TestDefaultsOfParams(t *testing.T) {
	for given, want := range map[string]string{"": "{}", "null": "{}", "{}": "{}", `{"k":3}`: `{"k":3}`} {
		s := JobSpec{Spec: Spec{Params: json.RawMessage(given)}}.WithDefaults()
		if got := string(s.Spec.Params); got != want {
			t.Errorf("%q becomes %s, want %s", given, got, want)
		}
	}
	for _, c := range []struct {
		format      string
		given, want []string
	}{
		{"mail", nil, []string{"from", "subject"}},
		{"mail", []string{"to"}, []string{"to"}},
		{"document", nil, nil},
	} {
		got := Input{Format: c.format, MailHeaders: c.given}.WithDefaults().MailHeaders
		if !slices.Equal(got, c.want) {
			t.Errorf("%s with the headers %q has %q, want %q", c.format, c.given, got, c.want)
		}
	}
}

func TestValidateAtItsBounds(t *testing.T) {
	digest := strings.Repeat("a1", 32)
	for name, c := range map[string]struct {
		set  func(*JobSpec)
		says string
	}{
		"a plain spec":          {func(*JobSpec) {}, ""},
		"another version":       {func(s *JobSpec) { s.APIVersion = "v2" }, "apiVersion"},
		"no kind":               {func(s *JobSpec) { s.Kind = "" }, "kind"},
		"a name of 128 bytes":   {func(s *JobSpec) { s.Metadata.Name = strings.Repeat("n", 128) }, ""},
		"a name of 129 bytes":   {func(s *JobSpec) { s.Metadata.Name = strings.Repeat("n", 129) }, "129 bytes"},
		"output in memory":      {func(s *JobSpec) { s.Spec.Output.URI = "mem://a/b" }, "spec.output.uri"},
		"a secret in output":    {func(s *JobSpec) { s.Spec.Output.URI = "s3://me:secret@b/x" }, "credentials"},
		"a secret in the model": {func(s *JobSpec) { s.Spec.Model = "s3://me:secret@b/x" }, "credentials"},
		"the largest seed":      {func(s *JobSpec) { s.Spec.Repro.Seed = 9007199254740991 }, ""},
		"the next seed":         {func(s *JobSpec) { s.Spec.Repro.Seed = 9007199254740992 }, "spec.repro.seed"},
		"a pinned model": {func(s *JobSpec) {
			s.Spec.Model, s.Spec.ModelSHA256, s.Spec.ModelJob = "s3://b/m", digest, "j-1"
		}, ""},
		"a pin that is not hexadecimal": {func(s *JobSpec) {
			s.Spec.Model, s.Spec.ModelSHA256 = "s3://b/m", strings.Repeat("g1", 32)
		}, "spec.model_sha256"},
		"a pin of 31 bytes": {
			func(s *JobSpec) { s.Spec.Model, s.Spec.ModelSHA256 = "s3://b/m", digest[2:] }, "spec.model_sha256",
		},
		"a pin of no model": {func(s *JobSpec) { s.Spec.ModelSHA256 = digest }, "spec.model is"},
		"queries":           {func(s *JobSpec) { s.Spec.Queries = &s.Spec.Input }, ""},
		"queries of another input": {func(s *JobSpec) { s.Spec.Queries = &Input{URI: "s3://b/q"} },
			"spec.queries.format"},
	} {
		s := smallSpec()
		c.set(&s)
		wantFault(t, name, s.Validate(), c.says)
	}
}

// Offsets are subtracted from both input and queries, or from neither; a model knows its own.
func TestOffsetsOfInputAndQueriesGoTogether(t *testing.T) {
	with := Input{URI: "s3://b/x", Format: "npy", Subtract: map[string]float64{"1": 5}}.WithDefaults()
	without := Input{URI: "s3://b/q", Format: "fvecs"}.WithDefaults()
	for _, c := range []struct {
		name           string
		input, queries Input
		model, says    string
	}{
		{"both", with, with, "", ""},
		{"none", without, without, "", ""},
		{"the input alone", with, without, "", "go together"},
		{"the queries alone", without, with, "", "go together"},
		{"the queries of a model", without, with, "s3://b/m", ""},
	} {
		s := smallSpec()
		s.Spec.Input, s.Spec.Queries, s.Spec.Model = c.input, &c.queries, c.model
		wantFault(t, c.name, s.Validate(), c.says)
	}
}
