package jobstest

import (
	"compress/gzip"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Table reads a file of testdata, seen from a folder of jobs/kinds: comma-separated numbers with the label in
// the last column, after lines to skip. A name that ends in .gz is compressed.
func Table(t testing.TB, name string, skip int) (rows [][]float32, labels []string) {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "..", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var in io.Reader = file
	if strings.HasSuffix(name, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			t.Fatal(err)
		}
	}
	r := csv.NewReader(in)
	r.FieldsPerRecord = -1
	lines, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, fields := range lines[skip:] {
		row := make([]float32, len(fields)-1)
		for j := range row {
			v, err := strconv.ParseFloat(fields[j], 32)
			if err != nil {
				t.Fatal(err)
			}
			row[j] = float32(v)
		}
		rows, labels = append(rows, row), append(labels, fields[len(fields)-1])
	}
	return rows, labels
}
