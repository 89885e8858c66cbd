package casetest

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
)

// Data is a data set of records in memory.
type Data struct {
	Format string // the fields of the spec's data set besides its URI
	// Records returns the training records and those to decide, which may be none.
	Records func(t testing.TB) (records, asked []jobstest.Record)
}

const (
	asDense = `"format":"csv","label":1`
	asTexts = `"format":"tsv","label":1,"text":2`
)

// Data sets of thirty irises and five others to decide, and of mails. Those of no queries decide none.
var (
	iris        = &Data{asDense, irises}
	irisAlone   = &Data{asDense, alone(irises)}
	irisNumbers = &Data{asDense, numbered}
	irisColors  = &Data{asDense + `,"categorical":[6,7]`, colored}
	irisGaps    = &Data{asDense + `,"missing":["NaN"]`, gapped}
	irisCounts  = &Data{asDense + `,"missing":["NaN"]`, counted}
	irisSparse  = &Data{`"format":"libsvm","width":4,"index_base":1`, sparseIrises}
	irisPlaces  = &Data{asDense, places}
	Mails       = &Data{asTexts, mails}
)

// Data sets whose sums round: float64 sums in another order are other sums. All records are decided.
var (
	rounding        = &Data{asDense, roundingDense}
	roundingGaps    = &Data{asDense + `,"missing":["NaN"]`, roundingGapped}
	roundingFewGaps = &Data{asDense + `,"missing":["NaN"]`, roundingFew}
	roundingColors  = &Data{asDense + `,"categorical":[7]`, roundingColored}
	roundingSparse  = &Data{`"format":"libsvm","width":5,"index_base":1`, roundingThin}
	roundingTexts   = &Data{asTexts, roundingWords}
)

// Iris is thirty irises with labels.
func Iris() *Data { return irisAlone }

type records = []jobstest.Record

func irises(t testing.TB) (dense, asked records) {
	t.Helper()
	rows, labels, others := irisRows(t)
	return jobstest.DenseRecords(rows, labels...), jobstest.DenseRecords(others)
}

func alone(of func(testing.TB) (records, records)) func(testing.TB) (records, records) {
	return func(t testing.TB) (records, records) {
		trained, _ := of(t)
		return trained, nil
	}
}

// colored are irises of two categories, one of which the others to decide have that no iris has.
func colored(t testing.TB) (dense, asked records) {
	t.Helper()
	dense, asked = irises(t)
	for i, r := range dense {
		dense[i].Categories = []string{[]string{"red", "blue", "green"}[int(r.Dense[0])%3], strconv.Itoa(i % 4)}
	}
	for i := range asked {
		asked[i].Categories = []string{[]string{"red", "violet"}[i%2], "1"}
	}
	return dense, asked
}

// gapped are irises that miss every eleventh number.
func gapped(t testing.TB) (dense, asked records) {
	t.Helper()
	dense, asked = irises(t)
	for _, list := range []records{dense, asked} {
		for i := range list {
			row := slices.Clone(list[i].Dense)
			for j := range row {
				if (len(row)*i+j)%11 == 3 {
					row[j] = float32(math.NaN())
				}
			}
			list[i].Dense = row
		}
	}
	return dense, asked
}

// counted are gapped irises in whole numbers.
func counted(t testing.TB) (dense, asked records) {
	t.Helper()
	dense, asked = gapped(t)
	for _, list := range []records{dense, asked} {
		for i := range list {
			for j, v := range list[i].Dense {
				list[i].Dense[j] = float32(math.Floor(float64(v)))
			}
		}
	}
	return dense, asked
}

// numbered has numbers for labels.
func numbered(t testing.TB) (dense, asked records) {
	dense, asked = irises(t)
	for i := range dense {
		dense[i].Label = strconv.Itoa(i % 7)
	}
	return dense, asked
}

// sparseIrises have zeros for what is short.
func sparseIrises(t testing.TB) (sparse, asked records) {
	t.Helper()
	rows, labels, others := irisRows(t)
	for _, row := range slices.Concat(rows, others) {
		for j, v := range row {
			if v < 1.5 {
				row[j] = 0
			}
		}
	}
	return jobstest.SparseRecords(4, rows, labels...), jobstest.SparseRecords(4, others)
}

// places are irises by two columns, as angles.
func places(t testing.TB) (dense, asked records) {
	t.Helper()
	rows, labels, others := irisRows(t)
	for _, row := range slices.Concat(rows, others) {
		row[0], row[1] = row[0]/10, row[2]/3
	}
	two := func(rows [][]float32) [][]float32 {
		for i := range rows {
			rows[i] = rows[i][:2]
		}
		return rows
	}
	return jobstest.DenseRecords(two(rows), labels...), jobstest.DenseRecords(two(others))
}

func irisRows(t testing.TB) (rows [][]float32, labels []string, others [][]float32) {
	t.Helper()
	file, err := os.Open(testdata(t, "iris.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reader := csv.NewReader(file)
	reader.FieldsPerRecord = -1
	lines, err := reader.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range lines[1:] {
		row := make([]float32, 4)
		for j := range row {
			v, err := strconv.ParseFloat(line[j], 32)
			if err != nil {
				t.Fatal(err)
			}
			row[j] = float32(v)
		}
		switch {
		case i%5 == 0:
			rows, labels = append(rows, row), append(labels, line[4])
		case i%30 == 2:
			others = append(others, row)
		}
	}
	return rows, labels, others
}

// testdata returns the path of a file of testdata, at the top of the module that the test is in.
func testdata(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "testdata", name)
		}
		above := filepath.Dir(dir)
		if above == dir {
			t.Fatalf("testdata/%s: no go.mod above the test's folder", name)
		}
		dir = above
	}
}

// mails are ten short ones and four others; the last has no word that the first have.
func mails(testing.TB) (texts, asked records) {
	for _, text := range []string{"win a prize now", "cheap pills and a free prize", "Free money, claim it now",
		"you win: claim the free gift", "cheap cheap cheap loans"} {
		texts = append(texts, jobstest.Record{Label: "spam", Text: text})
	}
	for _, text := range []string{"lunch at noon?", "the minutes of the meeting", "can we move the meeting to noon",
		"the draft of the report is here", "thanks for the report"} {
		texts = append(texts, jobstest.Record{Label: "ham", Text: text})
	}
	for _, text := range []string{"claim a free lunch", "the meeting", "now", "über ferne Länder"} {
		asked = append(asked, jobstest.Record{Text: text})
	}
	return texts, asked
}

const roundingRecords, roundingWidth = 42, 5

func roundingRows() (rows [][]float32, labels []string) {
	random := rand.New(rand.NewPCG(3, 4))
	rows = make([][]float32, roundingRecords)
	for i := range rows {
		labels = append(labels, []string{"a", "b", "c"}[i%3])
		for range roundingWidth {
			rows[i] = append(rows[i], float32(math.Ldexp(random.NormFloat64(), random.IntN(60)-30)))
		}
	}
	return rows, labels
}

func roundingDense(testing.TB) (dense, asked records) {
	rows, labels := roundingRows()
	dense = jobstest.DenseRecords(rows, labels...)
	return dense, dense
}

func roundingGapped(testing.TB) (dense, asked records) {
	rows, labels := roundingRows()
	for i, row := range rows {
		row[i%7%len(row)] = float32(math.NaN())
	}
	dense = jobstest.DenseRecords(rows, labels...)
	return dense, dense
}

// roundingFew has gaps in every other record.
func roundingFew(testing.TB) (dense, asked records) {
	rows, labels := roundingRows()
	for i := 0; i < len(rows); i += 2 {
		rows[i][i%len(rows[i])] = float32(math.NaN())
	}
	dense = jobstest.DenseRecords(rows, labels...)
	return dense, dense
}

func roundingColored(testing.TB) (dense, asked records) {
	rows, labels := roundingRows()
	dense = jobstest.DenseRecords(rows, labels...)
	for i := range dense {
		dense[i].Categories = []string{fmt.Sprint(i % 5)}
	}
	return dense, dense
}

func roundingThin(testing.TB) (sparse, asked records) {
	rows, labels := roundingRows()
	sparse = jobstest.SparseRecords(roundingWidth, rows, labels...)
	return sparse, sparse
}

func roundingWords(testing.TB) (texts, asked records) {
	_, labels := roundingRows()
	for i, label := range labels {
		texts = append(texts, jobstest.Record{Label: label, Text: fmt.Sprintf("word%d word%d", i%7, i%3)})
	}
	return texts, texts
}
