package records

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gram-compute/gram/jobs"
)

// Models tell what they read: texts, in a dictionary or hashed, or vectors.
func TestFormOf(t *testing.T) {
	for name, want := range map[string]Form{
		"naivebayes": Texts, "perceptron-texts": Texts, "perceptron-hashed": Texts, "perceptron": Vectors,
		"kmeans": Vectors,
	} {
		data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "testdata", "models", name, "model.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		arrays, err := jobs.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := FormOf(arrays); err != nil || got != want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// A model that leaves missing numbers out takes a blank for one; no other does.
func TestBlanksAreGaps(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "testdata", "models", "gaussiannb",
		"model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	arrays, err := jobs.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	jobs.PutScalar(arrays, "features.omits", uint8(1))
	if form, err := FormOf(arrays); err != nil || form != Gapped || form.String() != "vector" {
		t.Errorf("%v, %v", form, err)
	}
	if block, err := Gapped.Block("1, ,3", nil); err != nil || block.Dense.Width != 3 ||
		block.Dense.Values[1] == block.Dense.Values[1] {
		t.Errorf("%v, %v", block, err)
	}
	if _, err := Vectors.Block("1,,3", nil); err == nil {
		t.Error("a blank is a number")
	}
}
