package kernelmatrix

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

func specOf(t testing.TB, params string, queries bool) protocol.JobSpec {
	t.Helper()
	spec := protocol.JobSpec{Kind: KindName}
	spec.Spec.Params = json.RawMessage(params)
	spec.Spec.Repro.Seed = 7
	if queries {
		spec.Spec.Queries = &protocol.Input{}
	}
	return spec
}

// run runs a job over dense rows dealt into shards.
func run(t testing.TB, params string, rows [][]float32, shards int, ops *kernelops.Set,
	queries ...[]jobstest.Record) (jobstest.Result, error) {
	t.Helper()
	spec := specOf(t, params, queries != nil)
	algorithm, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	dealt := jobstest.Shards(jobstest.Deal(jobstest.DenseRecords(rows), shards), 3)
	var options []jobstest.Option
	if queries != nil {
		options = append(options, jobstest.WithQueries(queries))
	}
	return jobstest.Run(t.Context(), algorithm, spec, dealt, ops, jobstest.Grouping{}, options...)
}

func mustRun(t testing.TB, params string, rows [][]float32, shards int, ops *kernelops.Set,
	queries ...[]jobstest.Record) jobstest.Result {
	t.Helper()
	result, err := run(t, params, rows, shards, ops, queries...)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// buffer is a file in memory.
type buffer struct{ data []byte }

func (b *buffer) WriteAt(p []byte, at int64) (int, error) {
	if missing := int(at) + len(p) - len(b.data); missing > 0 {
		b.data = append(b.data, make([]byte, missing)...)
	}
	return copy(b.data[at:], p), nil
}

// assembled is the whole matrix, by its npy file.
func assembled(t testing.TB, files map[string][]byte) (Index, []float32, []byte) {
	t.Helper()
	x, err := ReadIndex(files["tiles/index.json"])
	if err != nil {
		t.Fatal(err)
	}
	var out buffer
	read := func(_ context.Context, tile Tile) ([]byte, error) { return files[tile.Name], nil }
	if err := Assemble(t.Context(), x, read, &out); err != nil {
		t.Fatal(err)
	}
	elements, ok := bytes.CutPrefix(out.data, parts.NPYHeader("<f4", x.Rows, int(x.Columns)))
	if !ok {
		t.Fatalf("no npy file: %.80q", out.data)
	}
	values := make([]float32, x.Rows*x.Columns)
	if n := len(elements); n != 4*len(values) {
		t.Fatalf("%d bytes of %d elements", n, len(values))
	}
	if err := binary.Read(bytes.NewReader(elements), binary.LittleEndian, values); err != nil &&
		!errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return x, values, out.data
}

// Three points: (1, 0), (0, 2), (3, 4).
var three = [][]float32{{1, 0}, {0, 2}, {3, 4}}

func TestThreePointsByHand(t *testing.T) {
	for params, want := range map[string][]float32{
		`{}`: {1, 0, 3, 0, 4, 8, 3, 8, 25},
		`{"kernel": "polynomial", "scale": 2, "offset": 1, "degree": 2}`: {9, 1, 49, 1, 81, 289, 49, 289, 2601},
		// Squared distances 5, 20 and 13; the diagonal is exp(0).
		`{"kernel": "rbf", "gamma": 100}`:                    {1, 0, 0, 0, 1, 0, 0, 0, 1},
		`{"kernel": "sigmoid", "scale": 100, "offset": -50}`: {1, -1, 1, -1, 1, 1, 1, 1, 1},
	} {
		for _, shards := range []int{1, 2, 3, 5} {
			blocks := fmt.Sprintf(`{"block_records": %d, `, 1+shards%3)
			blocks = strings.Replace(strings.Replace(params, "{", blocks, 1), ", }", "}", 1)
			result := mustRun(t, blocks, three, shards, kernelops.Generic())
			x, got, _ := assembled(t, result.Files)
			if fmt.Sprint(got) != fmt.Sprint(want) || x.Rows != 3 || !x.Symmetric {
				t.Errorf("%s in %d shards: %v, want %v", params, shards, got, want)
			}
		}
	}
}

// What lies in the files of the smallest case, to the byte.
func TestFilesByHand(t *testing.T) {
	result := mustRun(t, `{"tile": 2}`, three, 1, kernelops.Generic())
	index := string(result.Files["tiles/index.json"])
	for _, want := range []string{`"name": "tiles/000000000-000000000.npy"`, `"name": "tiles/000000000-000000002.npy"`,
		`"name": "tiles/000000002-000000002.npy"`, `"symmetric": true`, `"rows": 3`, `"dtype": "float32"`,
		`"kernel": "linear"`} {
		if !strings.Contains(index, want) {
			t.Errorf("the index lacks %s:\n%s", want, index)
		}
	}
	want := "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }" + strings.Repeat(" ",
		58) + "\n" + "\x00\x00\x40\x40\x00\x00\x00\x41"
	if got := string(result.Files["tiles/000000000-000000002.npy"]); got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
	if got, want := string(result.Files["records/part-000000.csv"]),
		"object,offset,label\n"; !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 4 {
		t.Errorf("records:\n%s", got)
	}
	records, err := parts.ReadIndex(result.Files["records/index.json"])
	if err != nil || records.Rows != 3 {
		t.Errorf("%+v, %v", records, err)
	}
	if len(result.Files) != 6 {
		t.Errorf("%d files", len(result.Files))
	}
}

// Queries give the rows; the input gives the columns.
func TestQueriesByHand(t *testing.T) {
	queries := jobstest.Deal(jobstest.DenseRecords([][]float32{{1, 1}, {2, 0}, {0, 0}, {-1, 1}}), 3)
	for _, shards := range []int{1, 2, 4} {
		result := mustRun(t, fmt.Sprintf(`{"tile": 2, "block_records": %d}`, 4-shards/2), three, shards,
			kernelops.Generic(), queries...)
		x, got, _ := assembled(t, result.Files)
		want := []float32{1, 2, 7, 2, 0, 6, 0, 0, 0, -1, 2, 1}
		if fmt.Sprint(got) != fmt.Sprint(want) || x.Symmetric || x.Rows != 4 || x.Columns != 3 {
			t.Errorf("%d shards: %v, want %v", shards, got, want)
		}
		rows, err := parts.ReadIndex(result.Files["queries/index.json"])
		if err != nil || rows.Rows != 4 {
			t.Errorf("%+v, %v", rows, err)
		}
		if c, err := Certify(result.Model); c != nil || err != nil {
			t.Errorf("a certificate of a matrix that is not symmetric: %+v, %v", c, err)
		}
	}
}

// The eigenvalues of {{1, 0, 3}, {0, 4, 8}, {3, 8, 25}} are those of the 2 x 2 matrix of the columns,
// {{10, 12}, {12, 20}}, and 0: 15 +- 13.
func TestCertificateByHand(t *testing.T) {
	result := mustRun(t, `{}`, three, 2, kernelops.Generic())
	c, err := Certify(result.Model)
	if err != nil || c.Records != 3 || math.Abs(c.Greatest-28) > 1e-6 || math.Abs(c.Least) > 1e-6 ||
		c.Verdict != Untold || c.Tolerance > 1e-4 {
		t.Errorf("%+v, %v", c, err)
	}
	text, err := Kind().Describe(result.Model, jobs.DescribeOptions{})
	if err != nil || !strings.Contains(text, "3 x 3") ||
		!strings.Contains(text,
			"cannot be told to be positive semidefinite or not: set params.psd_sample to 2 or less") {
		t.Errorf("%s%v", text, err)
	}
	// Of any two of the points the determinants are 4, 16 and 36.
	result = mustRun(t, `{"psd_sample": 2}`, three, 2, kernelops.Generic())
	if c, err = Certify(result.Model); err != nil || c.Records != 2 || c.Verdict != Holds || c.TellableBy != "" {
		t.Errorf("%+v, %v", c, err)
	}
	text, err = Kind().Describe(result.Model, jobs.DescribeOptions{})
	verdict := "the matrix   of the 2 records drawn is positive semidefinite; of all 3 nothing is proved\n"
	if err != nil || !strings.Contains(text, verdict) {
		t.Errorf("%s%v", text, err)
	}
	result = mustRun(t, `{}`, three, 2, kernelops.Generic())
	figures, err := Kind().Figures(result.Model, result.Metrics)
	if err != nil || len(figures) != 3 || len(figures[2].Images[0].Values) != 9 {
		t.Errorf("%+v, %v", figures, err)
	}
	// tanh far from 0: {{-1, 1}, {1, -1}} has the eigenvalues 0 and -2.
	result = mustRun(t, `{"kernel": "sigmoid", "scale": -100, "offset": 50}`, [][]float32{{1, 0}, {0, 1}}, 1,
		kernelops.Generic())
	if c, err = Certify(result.Model); err != nil || math.Abs(c.Least+2) > 1e-6 || math.Abs(c.Greatest) > 1e-6 ||
		c.Verdict != Fails {
		t.Errorf("%+v, %v", c, err)
	}
	if text, err = Kind().Describe(result.Model, jobs.DescribeOptions{}); err != nil ||
		!strings.Contains(text, "is not positive semidefinite") {
		t.Errorf("%s%v", text, err)
	}
	result = mustRun(t, `{"psd_sample": 0}`, three, 2, kernelops.Generic())
	if c, err = Certify(result.Model); c != nil || err != nil {
		t.Errorf("no sample: %+v, %v", c, err)
	}
}

// Records that are held out are neither rows nor columns, whatever blocks they were in; some blocks have none left.
func TestHeldOutRecords(t *testing.T) {
	rows := iris(t)[:40]
	split := func(block, shards int) ([]byte, jobstest.Result) {
		spec := specOf(t, fmt.Sprintf(`{"tile": 5, "block_records": %d}`, block), false)
		spec.Spec.Input.Split.Test = 0.4
		result, err := rerunIn(t, spec, rows, shards)
		if err != nil {
			t.Fatal(err)
		}
		_, _, file := assembled(t, result.Files)
		return file, result
	}
	spec := specOf(t, `{}`, false)
	spec.Spec.Input.Split.Test = 0.4
	train, left := jobs.TrainingRecords(spec)(), [][]float32{}
	for i, row := range rows {
		if train(&dataset.Block{IDs: []dataset.Identity{dataset.ByPlace("records", int64(i))}}, 0) {
			left = append(left, row)
		}
	}
	if len(left) < 10 || len(left) > 35 {
		t.Fatalf("%d of %d records are left", len(left), len(rows))
	}
	_, _, want := assembled(t, mustRun(t, `{}`, left, 1, kernelops.Best()).Files)
	for _, block := range []int{1, 4, 7, 100} {
		models := map[string]bool{}
		for _, shards := range []int{1, 3, 60} {
			file, result := split(block, shards)
			if !bytes.Equal(file, want) {
				t.Errorf("blocks of %d, %d shards: another matrix than that of the records left", block, shards)
			}
			models[jobstest.Digest(result.Model)] = true
		}
		if len(models) != 1 {
			t.Errorf("blocks of %d: %d models", block, len(models))
		}
	}
}

func rerunIn(t *testing.T, spec protocol.JobSpec, rows [][]float32, shards int) (jobstest.Result, error) {
	t.Helper()
	algorithm, err := New(spec)
	if err != nil {
		return jobstest.Result{}, err
	}
	dealt := jobstest.Shards(jobstest.Deal(jobstest.DenseRecords(rows), shards), 3)
	return jobstest.Run(t.Context(), algorithm, spec, dealt, kernelops.Best(), jobstest.Grouping{})
}
