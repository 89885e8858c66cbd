package perceptron

import (
	"bufio"
	"compress/gzip"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
)

// lines reads a gzipped file of testdata.
func lines(t testing.TB, name string) []string {
	t.Helper()
	file, err := os.Open("../../../testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(bufio.NewReader(unzipped))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// digits are 1,797 pictures of 8 x 8 grays with their digits.
func digits(t testing.TB) []jobstest.Record {
	t.Helper()
	var rows [][]float32
	var labels []string
	for _, line := range lines(t, "digits.csv.gz") {
		fields := strings.Split(line, ",")
		var row []float32
		for _, field := range fields[:64] {
			v, err := strconv.ParseFloat(field, 32)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, float32(v))
		}
		rows, labels = append(rows, row), append(labels, fields[64])
	}
	return jobstest.DenseRecords(rows, labels...)
}

// glosses are WordNet's 117,659 definitions, each labelled with its lexicographer file.
func glosses(t testing.TB) (records []jobstest.Record) {
	t.Helper()
	for _, line := range lines(t, "wordnet30-glosses.tsv.gz") {
		fields := strings.Split(line, "\t")
		records = append(records, jobstest.Record{Label: fields[0], Text: fields[2]})
	}
	return records
}

// asSparse writes dense records as sparse ones.
func asSparse(records []jobstest.Record) []jobstest.Record {
	var rows [][]float32
	var labels []string
	for _, r := range records {
		rows, labels = append(rows, r.Dense), append(labels, r.Label)
	}
	return jobstest.SparseRecords(len(rows[0]), rows, labels...)
}

// twoClasses are even and odd digits.
func twoClasses(records []jobstest.Record) []jobstest.Record {
	for i, r := range records {
		records[i].Label = []string{"even", "odd"}[r.Label[0]%2]
	}
	return records
}
