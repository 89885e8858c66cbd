package knn

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
)

// small reads a CSV file in testdata whose last column is the label.
func small(t testing.TB, name string) (rows [][]float32, labels []string) {
	t.Helper()
	file, err := os.Open("../../../testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	in := csv.NewReader(file)
	in.FieldsPerRecord = -1
	lines, err := in.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, cells := range lines[1:] {
		row := make([]float32, len(cells)-1)
		for j := range row {
			v, err := strconv.ParseFloat(cells[j], 32)
			if err != nil {
				t.Fatal(err)
			}
			row[j] = float32(v)
		}
		rows, labels = append(rows, row), append(labels, cells[len(row)])
	}
	return rows, labels
}

// Flowers, wines and tumours, whose columns have very different scales and which hold duplicates: the lists
// of each among the others are those of a float64 brute force.
func TestTablesLeaveOneOut(t *testing.T) {
	for name, records := range map[string]int{"iris.csv": 150, "wine_data.csv": 178, "breast_cancer.csv": 569} {
		rows, labels := small(t, name)
		if len(rows) != records {
			t.Fatalf("%s has %d records", name, len(rows))
		}
		for _, of := range []metric{l2, innerProduct, cosine, l1, linf} {
			j := job{params: fmt.Sprintf(`{"k":9,"metric":%q}`, of), base: jobstest.DenseRecords(rows, labels...),
				shards: 4, block: 33}
			sameLists(t, name+" "+string(of), joined(t, j.mustRun(t), listsFolder),
				reference(of, rule{k: 9}, rows, rows, true))
		}
	}
}

// Of points that are all the same the first come first, wherever the shards end, by every metric and set of kernels.
func TestDuplicatesInTheOrderOfTheInput(t *testing.T) {
	const n, k = 23, 4
	rows := make([][]float32, n)
	for i := range rows {
		rows[i] = []float32{1, 0, 1}
	}
	for _, of := range []metric{l2, innerProduct, cosine, l1, linf, hamming} {
		var want strings.Builder
		for q := range n {
			for rank := range k {
				id := rank
				if q <= rank { // without itself
					id++
				}
				fmt.Fprintf(&want, "%d,%d,%d,\n", q, rank, id)
			}
		}
		for _, ops := range kernelops.All() {
			for _, shards := range []int{1, 5, 23} {
				j := job{params: fmt.Sprintf(`{"metric":%q,"k":%d}`, of, k), base: jobstest.DenseRecords(rows),
					shards: shards, ops: ops}
				var got strings.Builder
				for line := range strings.Lines(joined(t, j.mustRun(t), listsFolder)) {
					got.WriteString(line[:strings.LastIndexByte(line, ',')+1] + "\n") // without the distance
				}
				sameLists(t, fmt.Sprintf("%s, %s, %d shards", of, ops.Name, shards), got.String(), want.String())
			}
		}
	}
}

// Glosses by the words they share, counted here by a regular expression and a map: sparse rows of texts.
func TestGlossesLeaveOneOut(t *testing.T) {
	file, err := os.Open("../../../testdata/wordnet30-glosses.tsv.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var records []jobstest.Record
	var counts []map[int]float32
	columns, word := map[string]int{}, regexp.MustCompile(`[a-z0-9]+`)
	lines := bufio.NewScanner(unzipped)
	for i := 0; lines.Scan(); i++ {
		fields := strings.Split(lines.Text(), "\t")
		if i%400 != 0 || strings.ToValidUTF8(fields[2], "") != fields[2] || len(fields[2]) != len([]rune(fields[2])) {
			continue
		}
		records = append(records, jobstest.Record{Label: fields[0], Text: fields[2]})
		count := map[int]float32{}
		for _, w := range word.FindAllString(strings.ToLower(fields[2]), -1) {
			if _, ok := columns[w]; !ok {
				columns[w] = len(columns)
			}
			count[columns[w]]++
		}
		counts = append(counts, count)
	}
	if err := lines.Err(); err != nil || len(records) < 250 {
		t.Fatalf("%d glosses, %v", len(records), err)
	}
	rows := make([][]float32, len(counts))
	for i, count := range counts {
		rows[i] = make([]float32, len(columns))
		for j, n := range count {
			rows[i][j] = n
		}
	}
	for _, of := range []metric{cosine, l2} {
		j := job{params: fmt.Sprintf(`{"k":5,"metric":%q}`, of), base: records, shards: 3}
		sameLists(t, string(of), joined(t, j.mustRun(t), listsFolder), reference(of, rule{k: 5}, rows, rows, true))
	}
}
