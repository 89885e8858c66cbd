package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/all"
)

// Models tell what they read: texts, in a dictionary or hashed, or vectors.
func TestFormOf(t *testing.T) {
	for name, want := range map[string]recordForm{
		"naivebayes": textRecords, "perceptron-texts": textRecords, "perceptron-hashed": textRecords, "perceptron": vectorRecords, "kmeans": vectorRecords,
	} {
		data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "models", name, "model.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		m := &model{}
		if m.arrays, err = jobs.Decode(data); err != nil {
			t.Fatal(err)
		}
		if m.kind, err = all.OfModel(m.arrays); err != nil {
			t.Fatal(err)
		}
		if got, err := formOf(m); err != nil || got != want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
