package dataset

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/protocol"
)

// NumPy wrote the files of testdata/numpy (make.py there) and says what is in them, or this package
// says why it does not read them.
func TestNumPy(t *testing.T) {
	folder := filepath.Join("testdata", "numpy")
	text, err := os.ReadFile(filepath.Join(folder, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var expected map[string]struct {
		Rows    [][]float64
		Labels  []string
		Refused string
	}
	if err := json.Unmarshal(text, &expected); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.np[yz]"))
	if err != nil || len(files) != len(expected) || len(files) < 30 {
		t.Fatalf("%d files, of which %d are expected (%v)", len(files), len(expected), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := expected[filepath.Base(file)]
		in := formatInput("npy", nil)
		if filepath.Ext(file) == ".npz" {
			in = formatInput("npz", func(in *protocol.Input) {
				in.Features, in.Label.Name = []protocol.Column{{Name: "X"}}, "y"
			})
		}
		got, _, err := readFile(t, in, map[string]string{"f": string(data)})
		if want.Refused != "" {
			var fault *protocol.Fault
			if !errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord || fault.Object != "f" ||
				!strings.Contains(err.Error(), want.Refused) {
				t.Errorf("%s: %v, want BAD_RECORD that says %q", file, err, want.Refused)
			}
			continue
		}
		if err != nil || len(got) != len(want.Rows) {
			t.Errorf("%s: %d rows, %v; want %d", file, len(got), err, len(want.Rows))
			continue
		}
		for i, r := range got {
			if !slices.EqualFunc(r.Vector, want.Rows[i], sameBits) || want.Labels != nil && r.Label != want.Labels[i] {
				t.Errorf("%s, row %d: %v, label %q; NumPy has %v and %v", file, i, r.Vector, r.Label, want.Rows[i],
					want.Labels)
			}
		}
	}
}

// sameBits tells zeros of different sign apart.
func sameBits(got float32, want float64) bool {
	return math.Float64bits(float64(got)) == math.Float64bits(want)
}
