package all_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/jobs/all/casetest"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/kinds/predict"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/jobs/learn/predictions"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

var makeGolden = flag.Bool("golden", false,
	"write the golden models that are not there; those that are stay as they are")

// goldenDir holds a folder for each model; its README says what is in them.
var goldenDir = filepath.Join("..", "..", "testdata", "models")

// maxGoldenBytes keeps the folder small.
const maxGoldenBytes = 500 << 10

// The files of a golden model.
const (
	goldenModel       = "model.safetensors"
	goldenRecords     = "records.json"
	goldenPredictions = "predictions.csv"
	goldenDescription = "description.txt"
)

// Models of every kind, written by earlier versions, load and predict as they did then, to the byte, under every kernel
// set.
func TestGoldenModels(t *testing.T) {
	if *makeGolden {
		for _, c := range casetest.Of(t, casetest.Golden) {
			writeGolden(t, c)
		}
	}
	folders, err := filepath.Glob(filepath.Join(goldenDir, "*", goldenModel))
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, path := range folders {
		folder := filepath.Dir(path)
		t.Run(filepath.Base(folder), func(t *testing.T) { kinds[checkGolden(t, folder)] = true })
	}
	for _, kind := range all.Kinds() {
		if !kinds[kind.Name] {
			t.Errorf("no golden model is of kind %s", kind.Name)
		}
	}
	for _, c := range casetest.Of(t, casetest.Golden) {
		if _, err := os.Stat(filepath.Join(goldenDir, c.Name, goldenModel)); err != nil {
			t.Errorf("%v; `go test ./jobs/all -run TestGoldenModels -golden` makes what is new", err)
		}
	}
}

// checkGolden holds a folder to what it says, and returns the kind of its model.
func checkGolden(t *testing.T, folder string) string {
	t.Helper()
	data := readGolden(t, folder, goldenModel)
	model, err := jobs.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	kind, err := all.OfModel(model)
	if err != nil {
		t.Fatal(err)
	}
	text, err := kind.Describe(model, jobs.DescribeOptions{})
	if err != nil || text == "" {
		t.Errorf("described as %q: %v", text, err)
	}
	if kind.Predict == nil {
		if want := readGolden(t, folder, goldenDescription); settled(text) != string(want) {
			t.Errorf("described as\n%s\nnot as\n%s", settled(text), want)
		}
		return kind.Name
	}
	var records []jobstest.Record
	if err := protocol.StrictDecode(readGolden(t, folder, goldenRecords), &records); err != nil {
		t.Fatal(err)
	}
	want := readGolden(t, folder, goldenPredictions)
	for _, ops := range kernelops.All() {
		if got := predictGolden(t, model, records, ops); !bytes.Equal(got, want) {
			t.Errorf("%s predicts\n%s\nnot\n%s", ops.Name, got, want)
		}
		if kind.Learn == nil {
			continue
		}
		_, err := kind.Learn(model, ops)
		wantGoesOn(t, folder, err)
	}
	if kind.UsesModel {
		wantGoesOn(t, folder, kind.CheckModel(model))
	}
	return kind.Name
}

// finished says why no job, and no learning, goes on from a model; others of its kind do.
var finished = map[string]string{
	"naivebayes": "without grows", "naivebayes-bernoulli": "without grows", "naivebayes-complement": "without grows",
	"naivebayes-costs": "without grows", "gaussiannb": "without grows", "gaussiannb-categories": "without grows",
	"gaussiannb-costs": "without grows", "gaussiannb-prior": "without grows",
	"kernelperceptron": "form averaged holds the mean",
}

func wantGoesOn(t *testing.T, folder string, err error) {
	t.Helper()
	why := finished[filepath.Base(folder)]
	if why == "" && err != nil || why != "" && (err == nil || !strings.Contains(err.Error(), why)) {
		t.Errorf("to go on from the model: %v, want %q", err, why)
	}
}

// settled is a description without the eigenvalues of a matrix, whose last digits differ by build.
func settled(description string) string {
	var kept strings.Builder
	for line := range strings.Lines(description) {
		if !strings.HasPrefix(line, "eigenvalues ") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

func readGolden(t *testing.T, folder, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// predictGolden is what a job of kind Predict writes of records, in one piece.
func predictGolden(t *testing.T, model jobs.Arrays, records []jobstest.Record, ops *kernelops.Set) []byte {
	t.Helper()
	spec := protocol.JobSpec{Kind: predict.KindName}
	for k := range records[0].Categories { // by number, so that the model cannot tell them from its own
		spec.Spec.Input.Categorical = append(spec.Spec.Input.Categorical, protocol.Column{Number: k + 1})
	}
	spec.Spec.Model, spec.Spec.Params = "s3://models/m/model.safetensors", json.RawMessage(`{"scores":true}`)
	algorithm, err := predict.Kind(all.OfModel).New(spec)
	if err != nil {
		t.Fatal(err)
	}
	result, err := jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(jobstest.Deal(records, 1), 3), ops,
		jobstest.Grouping{}, jobstest.WithModel(model))
	if err != nil {
		t.Fatal(err)
	}
	index, err := parts.ReadIndex(result.Files[predictions.Folder+"/index.json"])
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	joiner := parts.NewJoiner(index, &out)
	for _, part := range index.Parts {
		if err := joiner.Add(result.Files[part.Name]); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// writeGolden makes the folder of a case, unless it exists.
func writeGolden(t *testing.T, c casetest.Case) {
	t.Helper()
	folder := filepath.Join(goldenDir, c.Name)
	if _, err := os.Stat(folder); err == nil {
		t.Logf("%s is there, and stays", folder)
		return
	}
	_, asked := c.Phases.Records(t)
	model := c.Train(t, casetest.Run{Data: c.Phases})
	kind, err := all.OfModel(model)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{goldenModel: model.Encode()}
	if kind.Predict == nil {
		text, err := kind.Describe(model, jobs.DescribeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		files[goldenDescription] = []byte(settled(text))
	} else {
		files[goldenRecords], files[goldenPredictions] = recordsJSON(t, asked),
			predictGolden(t, model, asked, kernelops.Generic())
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if err := writeNew(filepath.Join(folder, name), data); err != nil {
			t.Fatal(err)
		}
	}
}

// writeNew writes a file that is not there.
func writeNew(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}

// recordsJSON has one record on each line.
func recordsJSON(t *testing.T, records []jobstest.Record) []byte {
	t.Helper()
	out := []byte("[")
	for i, record := range records {
		line, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, "\n%s", line)
	}
	return append(out, "\n]\n"...)
}

func TestGoldenModelsAreSmallAndStay(t *testing.T) {
	total := int64(0)
	err := filepath.Walk(goldenDir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		return err
	})
	if err != nil || total > maxGoldenBytes {
		t.Errorf("%d bytes of golden models, more than %d: %v", total, maxGoldenBytes, err)
	}
	path := filepath.Join(t.TempDir(), goldenModel)
	if err := writeNew(path, []byte("first")); err != nil {
		t.Fatal(err)
	}
	if err := writeNew(path, []byte("second")); !os.IsExist(err) {
		t.Errorf("written over: %v", err)
	}
	if data, err := os.ReadFile(path); string(data) != "first" {
		t.Errorf("%q, %v", data, err)
	}
}
