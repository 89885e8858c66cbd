package protocol_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/gram-compute/gram/protocol"
)

// Worked by hand: 02:15 in Berlin on 3 January 2027, a Sunday of ISO week 53 of 2026.
func tickOf(t testing.TB) protocol.Tick {
	t.Helper()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2027, 1, 3, 0, 15, 0, 0, berlin)
	return protocol.Tick{At: at, Previous: at.AddDate(0, 0, -1)}
}

func templated(uri string) protocol.JobSpec {
	return protocol.JobSpec{APIVersion: "v1", Kind: "K",
		Spec: protocol.Spec{Input: protocol.Input{URI: uri, Format: "tsv", Text: protocol.Column{Number: 1}}}}
}

func TestPlaceholdersOfATick(t *testing.T) {
	for uri, want := range map[string]string{
		"s3://b/x.tsv":     "s3://b/x.tsv",
		"s3://b/{{tick}}/": "s3://b/20270102T231500Z/",
		"s3://b/{{ previous_tick }}-{{tick}}.tsv":        "s3://b/20270101T231500Z-20270102T231500Z.tsv",
		"s3://b/dt={{tick:%Y-%m-%d}}/*.tsv":              "s3://b/dt=2027-01-03/*.tsv",
		"s3://b/dt={{tick.utc:%Y-%m-%d}}/h={{tick:%H}}/": "s3://b/dt=2027-01-02/h=00/",
		"s3://b/{{tick:%G-W%V}}/{{tick:%j%%%M%S}}":       "s3://b/2026-W53/003%1500",
		"file:///d/{{ previous_tick:%Y/%m/%d }}/x":       "file:///d/2027/01/02/x",
	} {
		got, err := templated(uri).ForTick(tickOf(t))
		if err != nil || got.Spec.Input.URI != want {
			t.Errorf("%s: %s (%v), want %s", uri, got.Spec.Input.URI, err, want)
		}
	}
}

func TestPlaceholdersThatNothingFillsIn(t *testing.T) {
	for uri, says := range map[string]string{
		"s3://b/{{ticks}}":        "known: {{tick}}",
		"s3://b/{{tick":           "not closed",
		"s3://b/{{}}":             "known: {{tick}}",
		"s3://b/{{tick:%Q}}":      "directive",
		"s3://b/{{tick:%}}":       "directive",
		"s3://b/{{tick.local:%Y}": "not closed",
		"s3://b/{{Tick}}":         "known",
	} {
		_, err := templated(uri).ForTick(tickOf(t))
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeSpecInvalid || !strings.Contains(err.Error(), says) ||
			!strings.Contains(err.Error(), "spec.input.uri") {
			t.Errorf("%s: %v", uri, err)
		}
	}
	first := tickOf(t)
	first.Previous = time.Time{}
	if _, err := templated("s3://b/{{previous_tick}}").ForTick(first); err == nil {
		t.Error("the tick before the first has a name")
	}
}

// A spec with placeholders is a spec for schedules only.
func TestASubmittedSpecHoldsNoPlaceholder(t *testing.T) {
	err := templated("s3://b/{{tick}}").WithDefaults().Validate()
	if err == nil || !strings.Contains(err.Error(), "schedule") {
		t.Errorf("%v", err)
	}
	if err := templated("s3://b/{x}").WithDefaults().Validate(); err != nil {
		t.Error(err)
	}
}

// Every URI is filled in, the spec it is made of stays as it was, and defaults come in beside placeholders.
func TestATemplateKeepsItsPlaceholders(t *testing.T) {
	spec := templated("s3://b/{{tick}}/")
	spec.Spec.Input.LabelsURI, spec.Spec.Output.URI, spec.Spec.Model = "s3://b/{{tick}}l", "s3://b/{{tick}}o",
		"s3://b/{{previous_tick}}m"
	spec.Spec.Queries = &protocol.Input{URI: "s3://b/{{tick}}q", LabelsURI: "s3://b/{{tick}}r"}
	before, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	var seen string
	whole, err := spec.WithTickDefaults(tickOf(t), func(filled protocol.JobSpec) (protocol.JobSpec, error) {
		text, err := json.Marshal(filled)
		seen = string(text)
		return filled.WithDefaults(), err
	})
	if err != nil {
		t.Fatal(err)
	}
	if after, _ := json.Marshal(spec); string(after) != string(before) {
		t.Errorf("the spec has changed:\n%s\n%s", before, after)
	}
	if strings.Contains(seen, "{{") || strings.Count(seen, "20270102T231500Z") != 5 ||
		!strings.Contains(seen, "20270101T231500Zm") {
		t.Errorf("filled in: %s", seen)
	}
	text, err := json.Marshal(whole)
	if err != nil || strings.Count(string(text), "{{") != 6 ||
		whole.Spec.Input.ShardBytes != protocol.DefaultShardBytes ||
		whole.Spec.Queries.ShardBytes != protocol.DefaultShardBytes {
		t.Errorf("%s (%v)", text, err)
	}
}

// Whatever a URI holds, filling it in ends with a URI without placeholders, or with an error.
func FuzzTickURI(f *testing.F) {
	for _, seed := range []string{"s3://b/{{tick:%Y}}", "{{", "}}{{tick}}{{", "{{tick:%%}}", "{{tick:{{}}", "%Y"} {
		f.Add(seed)
	}
	tick := tickOf(f)
	f.Fuzz(func(t *testing.T, uri string) {
		got, err := templated(uri).ForTick(tick)
		again, errAgain := templated(uri).ForTick(tick)
		if (err == nil) != (errAgain == nil) || err == nil && got.Spec.Input.URI != again.Spec.Input.URI {
			t.Fatalf("%q: %v, then %v", uri, err, errAgain)
		}
		if err == nil && !strings.Contains(uri, "{{") && got.Spec.Input.URI != uri {
			t.Fatalf("%q became %q", uri, got.Spec.Input.URI)
		}
	})
}
