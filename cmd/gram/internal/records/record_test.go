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
