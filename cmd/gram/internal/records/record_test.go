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

// A record of 1 number and 2 categories, worked by hand; a header must name the categories at its end.
func TestCategoriesOfALine(t *testing.T) {
	form, err := withCategories(1, []string{"make", "7"})
	if err != nil {
		t.Fatal(err)
	}
	block, err := form.Block(`2.5,"b,w",`, nil)
	if err != nil {
		t.Fatal(err)
	}
	if row := block.Categories.Row(0); block.Dense.Width != 1 || block.Dense.Values[0] != 2.5 || len(row) != 2 ||
		string(row[0]) != "b,w" || len(row[1]) != 0 {
		t.Errorf("%+v", block)
	}
	for _, line := range []string{"", "2.5", "2.5,a", "2.5,a,b,c", "x,a,b"} {
		if _, err := form.Block(line, nil); err == nil {
			t.Errorf("%q is a record", line)
		}
	}
	if label, record, err := form.Correction(`yes,1,"b,w",x`); err != nil || label != "yes" || record != `1,"b,w",x` {
		t.Errorf("%q %q %v", label, record, err)
	}
	for header, fits := range map[string]bool{"size,make,color": true, "size, make,x": true, "size,color,make": false,
		"make,color": false} {
		if !IsHeader(header, form) || (form.CheckHeader(header) == nil) != fits {
			t.Errorf("%q: %v", header, form.CheckHeader(header))
		}
	}
	if IsHeader("1,a,b", form) {
		t.Error("a record is a header")
	}
	none, err := withCategories(0, []string{"make"})
	if err != nil || !IsHeader("make", none) || none.CheckHeader("make") != nil || none.CheckHeader("audi") == nil {
		t.Errorf("%+v, %v", none, err)
	}
	if block, err := none.Block("audi", nil); err != nil || block.Dense.Width != 0 || block.Categories.Width != 1 {
		t.Errorf("%+v, %v", block, err)
	}
	if _, err := withCategories(0, []string{"a\nb"}); err == nil {
		t.Error("a name of two lines")
	}
}
