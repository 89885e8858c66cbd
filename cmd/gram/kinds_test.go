package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/jobs/all"
)

func TestKinds(t *testing.T) {
	c := clientOf(t, &backend{})
	c.want(0, c.run("kinds"))
	if out := c.stdout.String(); !strings.Contains(out, "\nPredict  ") || strings.Count(out, "\n") != len(all.Kinds()) {
		t.Errorf("printed\n%s", out)
	}
	c.stdout.Reset()
	c.want(0, c.run("kinds", "Predict"))
	const want = "format (text: csv, jsonl, npy; default csv)\n  Format of the predictions."
	if out := c.stdout.String(); !strings.Contains(out, want) {
		t.Errorf("printed\n%s", out)
	}
	c.stdout.Reset()
	c.want(0, c.run("kinds", "--schema"))
	var schema map[string]any
	if err := json.Unmarshal(c.stdout.Bytes(), &schema); err != nil || schema["allOf"] == nil {
		t.Errorf("%v: %s", err, c.stdout.String())
	}
	c.want(exit.Usage, c.run("kinds", "Predicd"))
	if !strings.Contains(c.stderr.String(), `Did you mean "Predict"?`) {
		t.Error(c.stderr.String())
	}
}

// --set completes the parameters of the kind that the file names, and their values.
func TestSetCompletes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(file, []byte("kind: KMeans\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for typed, want := range map[string]string{
		"spec.params.max": "spec.params.max_rounds=\tMost rounds; with algorithm minibatch their number, with bisecting those of each split.\n",
		"spec.params.met": "spec.params.metric=\t",
		"spec.repro":      "spec.repro.seed=\n",
	} {
		c := clientOf(t, &backend{})
		c.want(0, c.run("__complete", "submit", "-f", file, "--set", typed))
		if !strings.Contains(c.stdout.String(), want) {
			t.Errorf("%s: %s", typed, c.stdout.String())
		}
	}
	c := clientOf(t, &backend{})
	c.want(0, c.run("__complete", "submit", "-f", file, "--set", "spec.params.metric=c"))
	if !strings.Contains(c.stdout.String(), "spec.params.metric=cosine\n") {
		t.Error(c.stdout.String())
	}
}
