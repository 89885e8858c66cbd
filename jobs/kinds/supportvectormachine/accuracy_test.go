package supportvectormachine

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
)

// accuracy is how many records scikit-learn's SVC tells right that it was not trained on; testdata has the script.
type accuracy struct {
	Set                           string
	Records, Folds, Tested, Right int
	C, Gamma                      float64
}

const accuracyFolds = 5

// With an rbf kernel, the same records to learn from and the same scaling, the accuracy on others is within 0.4 points
// of SVC's, on every set of testdata that has classes and columns of numbers.
func TestAccuracyOfSVC(t *testing.T) {
	text, err := os.ReadFile("testdata/accuracy.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []accuracy
	if err := json.Unmarshal(text, &list); err != nil || len(list) < 10 {
		t.Fatalf("%d sets, %v", len(list), err)
	}
	for _, want := range list {
		t.Run(fmt.Sprintf("%s/C=%g", want.Set, want.C), func(t *testing.T) {
			records := numberRecords(t, want.Set)
			if len(records) != want.Records {
				t.Fatalf("%d records, not %d", len(records), want.Records)
			}
			right, tested := 0, 0
			for fold := range want.Folds {
				r, n := want.fold(t, records, fold)
				right, tested = right+r, tested+n
			}
			if off := float64(right-want.Right) / float64(tested); tested != want.Tested || math.Abs(off) > 0.004 {
				t.Errorf("%d of %d are right, not %d of %d", right, tested, want.Right, want.Tested)
			}
		})
	}
}

// fold trains on the other folds, and counts how many records of a fold are told right.
func (a accuracy) fold(t *testing.T, records []jobstest.Record, fold int) (right, tested int) {
	t.Helper()
	var own, others []jobstest.Record
	for i, r := range records {
		if i%accuracyFolds == fold {
			own = append(own, r)
		} else {
			others = append(others, r)
		}
	}
	_, result := train(t, fmt.Sprintf(`{"C":%g,"gamma":%g,"features":{"scale":"standard"}}`, a.C, a.Gamma), others)
	p, err := NewPredictor(result.Model, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for block, err := range jobstest.Shards([][]jobstest.Record{own}, 500)[0](t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		outcomes, err := p.Predict(t.Context(), block)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outcomes {
			if o.Label == own[at].Label {
				right++
			}
			at++
		}
	}
	return right, len(own)
}

// numberRecords are the records of a set, as accuracy.py takes them.
func numberRecords(t *testing.T, set string) (records []jobstest.Record) {
	t.Helper()
	file, err := os.Open("../../../testdata/" + set)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var from io.Reader = file
	if strings.HasSuffix(set, ".gz") {
		if from, err = gzip.NewReader(file); err != nil {
			t.Fatal(err)
		}
	}
	reader := csv.NewReader(from)
	reader.FieldsPerRecord = -1
	rows, err := reader.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if set != "digits.csv.gz" {
		rows = rows[1:]
	}
	if set == "geonames-cities.csv.gz" {
		rows = someCities(rows)
	}
	for _, row := range rows {
		last := len(row) - 1
		r := jobstest.Record{Label: row[last]}
		for _, field := range row[:last] {
			v, err := strconv.ParseFloat(field, 32)
			if err != nil {
				t.Fatal(err)
			}
			r.Dense = append(r.Dense, float32(v))
		}
		records = append(records, r)
	}
	return records
}

// someCities are every fourth of four countries, with longitude, latitude and country.
func someCities(rows [][]string) (list [][]string) {
	n := 0
	for _, row := range rows {
		if !slices.Contains([]string{"AT", "CH", "CZ", "SI"}, row[3]) {
			continue
		}
		if n%4 == 0 {
			list = append(list, []string{row[0], row[1], row[3]})
		}
		n++
	}
	return list
}
