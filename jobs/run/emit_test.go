package run

import (
	"context"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
)

func TestFileNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"index.json": true, "parts/part-00017.csv": true, "a_B.9": true, "modelled.csv": true, "parts/model.csv": true,
		"": false, ".": false, "..": false, "../x": false, "a/..": false, "a/../b": false, "/a": false, "a/": false,
		"a//b": false, "a/b/c": false, ".hidden": false,
		"model.safetensors": false, "model": false, "model/x": true, "provenance.json": false, "report.html": false,
		"bom.cdx.json": false, "proof/manifest.json": false, "proofs/x": true, "model.sig": false, "provenance.intoto.jsonl": false,
		"a b": false, "\u00e9": false, "a\x00": false, `a\b`: false, strings.Repeat("a", 129): false,
	} {
		if err := CheckFileName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
		_, err := checked(func(context.Context, string, []byte) (jobs.File, error) { return jobs.File{}, nil })(
			t.Context(), name, nil)
		if (err == nil) != ok {
			t.Errorf("emit %q: %v", name, err)
		}
	}
	if _, err := checked(nil)(t.Context(), "a", nil); err == nil {
		t.Error("a file was emitted to nobody")
	}
}
