package devcluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The header is padded so that the numbers begin at byte 128.
func TestWriteNPY(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.npy")
	if err := WriteNPY(file, []float32{1, -2}, 1, 2); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	want := "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }" +
		strings.Repeat(" ", 58) + "\n\x00\x00\x80\x3f\x00\x00\x00\xc0"
	if err != nil || string(got) != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}
