package protocol_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gram-compute/gram/protocol"
)

func TestRetention(t *testing.T) {
	for text, want := range map[string]string{
		"720h": "720h", "30d": "720h", "1h30m": "90m", "1500ms": "1500ms", "1m": "1m", "59s": "59s",
		"forever": "forever",
		"36500d":  "876000h", "876000h": "876000h", "1ms": "1ms",
	} {
		r, err := protocol.ParseRetention(text)
		if err != nil || r.String() != want {
			t.Errorf("%s: %v, %v, want %s", text, r, err, want)
		}
		if again, err := protocol.ParseRetention(r.String()); err != nil || again != r {
			t.Errorf("%s: %v read again is %v (%v)", text, r, again, err)
		}
	}
	if none := protocol.Retention(0).String(); none != "0h" {
		t.Errorf("no time is %q, want 0h", none)
	}
	for _, text := range []string{
		"", "0", "0h", "-1h", "5", "1ns", "d", "-1d", "1.5d", "36501d", "876001h", "876000h1ms", "200000000h",
		"never", "Forever",
	} {
		if r, err := protocol.ParseRetention(text); err == nil {
			t.Errorf("%q passes as %v", text, r)
		}
	}
}

// How long a job is kept, and where the model came from, are part of the spec and not of the result.
func TestRetentionAndPinOfASpec(t *testing.T) {
	spec := func(run, model string) protocol.JobSpec {
		t.Helper()
		s, err := protocol.ParseSpec([]byte(
			`{"apiVersion":"v1","kind":"K","spec":{"input":{"uri":"s3://b/x"},"run":{` + run + `}` + model + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	hashes := func(s protocol.JobSpec) (string, string) {
		t.Helper()
		spec, err1 := s.Hash()
		result, err2 := s.ResultHash()
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		return spec, result
	}
	plainSpec, plainResult := hashes(spec("", ""))
	if text, err := json.Marshal(spec("", "")); err != nil || strings.Contains(string(text), "keep") ||
		strings.Contains(string(text), "model") {
		t.Errorf("%s (%v)", text, err)
	}
	keptSpec, keptResult := hashes(spec(`"keep":"30d"`, ""))
	if keptSpec == plainSpec || keptResult != plainResult {
		t.Error("a retention names another result, or the same spec")
	}
	digest := strings.Repeat("ab", 32)
	pin := func(uri, job string) string {
		return `,"model":"` + uri + `","model_sha256":"` + digest + `","model_job":"` + job + `"`
	}
	firstSpec, firstResult := hashes(spec("", pin("s3://b/1", "j-1")))
	secondSpec, secondResult := hashes(spec("", pin("s3://b/2", "j-2")))
	if firstSpec == secondSpec || firstResult != secondResult || firstResult == plainResult {
		t.Error("the place of a model names another result, or the same spec")
	}
	for _, bad := range []string{`,"model_sha256":"` + digest + `"`, `,"model":"s3://b/1","model_job":"j"`,
		`,"model":"s3://b/1","model_sha256":"` + strings.ToUpper(digest) + `"`,
		`,"model":"s3://b/1","model_sha256":"ab"`,
		`,"model":"s3://b/1","model_sha256":"` + digest + `","model_job":"-"`} {
		if err := spec("", bad).WithDefaults().Validate(); err == nil || !strings.Contains(err.Error(), "spec.model") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestIsReference(t *testing.T) {
	for text, want := range map[string]bool{
		"digits-k3f9p2": true, "news@latest": true, "@prod": true,
		"": false, "@": false, "@latest": true, "news@": false, "news@latest@latest": false, "./digits": false,
		"model.safetensors": false,
		"s3://b/m":          false, "/models": false, "UPPER": false, "@a/b": false,
	} {
		if got := protocol.IsReference(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
