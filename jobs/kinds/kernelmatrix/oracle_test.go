package kernelmatrix

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

func iris(t testing.TB) (rows [][]float32) {
	t.Helper()
	data, err := os.ReadFile("../../../testdata/iris.csv")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, cells := range lines[1:] {
		row := make([]float32, 4)
		for j := range row {
			v, err := strconv.ParseFloat(cells[j], 32)
			if err != nil {
				t.Fatal(err)
			}
			row[j] = float32(v)
		}
		rows = append(rows, row)
	}
	if len(rows) != 150 {
		t.Fatalf("%d flowers", len(rows))
	}
	return rows
}

// exact is the kernel of two float32 rows in float64.
func exact(k kernelops.Kernel, x, y []float32) float64 {
	dot, d := 0.0, 0.0
	for i, v := range x {
		a, b := float64(v), float64(y[i])
		dot += a * b
		d += (a - b) * (a - b)
	}
	affine := float64(k.Scale)*dot + float64(k.Offset)
	switch k.Kind {
	case kernelops.Polynomial:
		return math.Pow(affine, float64(k.Degree))
	case kernelops.RBF:
		return math.Exp(-float64(k.Scale) * d)
	case kernelops.Sigmoid:
		return math.Tanh(affine)
	}
	return dot
}

func sqNorm(x []float32) float64 { return exact(kernelops.Kernel{}, x, x) }

// The kernels that are compared, and what the flowers say of each. The linear matrix has rank 4, the polynomial one
// 35, and two of the flowers are equal.
var kernelCases = []struct {
	params     string
	kernel     kernelops.Kernel
	verdict    string
	tellableBy string
}{
	{`"kernel": "linear"`, kernelops.Kernel{}, Untold, "set params.psd_sample to 4 or less"},
	{`"kernel": "polynomial", "scale": 0.5, "offset": 1, "degree": 3`,
		kernelops.Kernel{Kind: kernelops.Polynomial, Scale: 0.5, Offset: 1, Degree: 3}, Untold,
		"set params.psd_sample to 35 or less"},
	{`"kernel": "rbf", "gamma": 0.25`, kernelops.Kernel{Kind: kernelops.RBF, Scale: 0.25}, Untold, "leave out records"},
	{`"kernel": "sigmoid", "scale": 0.03, "offset": -1`,
		kernelops.Kernel{Kind: kernelops.Sigmoid, Scale: 0.03, Offset: -1}, Fails, ""},
}

// Flowers against float64 by brute force, within the bound; the whole matrix is symmetric and has the same bytes for
// every kernel set, number of shards, size of tile and of block; and the certificate is right.
func TestFlowers(t *testing.T) {
	rows := iris(t)
	for _, c := range kernelCases {
		var whole []byte
		model := ""
		for _, ops := range kernelops.All() {
			for _, cut := range []struct{ shards, tile, block int }{
				{1, 2048, 1 << 14}, {1, 40, 1 << 14}, {7, 2048, 16}, {4, 9, 23}, {3, 2048, 50},
			} {
				result := mustRun(t, fmt.Sprintf(`{%s, "tile": %d, "block_records": %d}`, c.params, cut.tile,
					cut.block), rows, cut.shards, ops)
				x, got, file := assembled(t, result.Files)
				if whole == nil {
					whole = file
					againstFloat64(t, c.kernel, rows, got)
				}
				if !bytes.Equal(file, whole) || x.Rows != 150 {
					t.Errorf("%s, %s, %+v: another matrix", c.params, ops.Name, cut)
				}
				sample := sampleOf(t, result.Model)
				if model == "" {
					model = sample
				}
				if sample != model {
					t.Errorf("%s, %s, %+v: another sample", c.params, ops.Name, cut)
				}
				certificate, err := Certify(result.Model)
				if err != nil || certificate.Records != 150 || certificate.Verdict != c.verdict ||
					!strings.HasPrefix(certificate.TellableBy, c.tellableBy) ||
					certificate.Tolerance > 0.01*certificate.Greatest {
					t.Errorf("%s: %+v, %v", c.params, certificate, err)
				}
			}
		}
	}
}

func againstFloat64(t *testing.T, k kernelops.Kernel, rows [][]float32, got []float32) {
	t.Helper()
	n, worst := len(rows), 0.0
	space := &features.Space{Width: len(rows[0]), Mean: make([]float64, len(rows[0])),
		Variance: make([]float64, len(rows[0]))}
	for _, x := range rows {
		for j, v := range x {
			space.Mean[j] += float64(v) / float64(n)
			space.Variance[j] += float64(v) * float64(v) / float64(n)
		}
	}
	for j, m := range space.Mean {
		space.Variance[j] -= m * m
	}
	f, points := kernels.NewFunction(k, space), kernels.Points{}
	x := kernelops.NewMatrix(n, len(rows[0]))
	for i := range rows {
		copy(x.Row(i), rows[i])
	}
	points.Set(f, kernelops.Generic(), x)
	for i, x := range rows {
		for j, y := range rows {
			b := bound(k, sqNorm(x), sqNorm(y), len(x))
			if k.Kind == kernelops.RBF {
				b = f.ValueError(got[i*n+j], &points, &points, i, j)
			}
			if err := math.Abs(float64(got[i*n+j]) - exact(k, x, y)); !(err <= b) {
				t.Fatalf("%+v: element (%d, %d) is %v, off by %v, bound %v", k, i, j, got[i*n+j], err, b)
			} else {
				worst = max(worst, err/b)
			}
			if got[i*n+j] != got[j*n+i] {
				t.Fatalf("%+v: not symmetric at (%d, %d)", k, i, j)
			}
		}
	}
	// A bound that nothing comes near would bound nothing.
	if worst < 1e-3 {
		t.Errorf("%+v: the largest error is only %v of its bound", k, worst)
	}
}

func sampleOf(t *testing.T, a jobs.Arrays) string {
	t.Helper()
	m, err := jobs.Load[model](a)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(m.sample)
}

// The sample is a principal submatrix of the matrix, of the records that it names.
func TestSampleIsOfTheMatrix(t *testing.T) {
	rows := iris(t)
	result := mustRun(t, `{"kernel": "rbf", "psd_sample": 20, "block_records": 40}`, rows, 3, kernelops.Best())
	_, whole, _ := assembled(t, result.Files)
	m, err := jobs.Load[model](result.Model)
	if err != nil || len(m.sample.ids) != 20 {
		t.Fatal(m, err)
	}
	for i, a := range m.sample.ids {
		for j, b := range m.sample.ids {
			if got, want := m.sample.values[20*i+j], whole[150*a.Offset+b.Offset]; got != want {
				t.Fatalf("records %d and %d: %v, not %v", a.Offset, b.Offset, got, want)
			}
		}
	}
	other := specOf(t, `{"kernel": "rbf", "psd_sample": 20}`, false)
	other.Spec.Repro.Seed = 8
	if sampleOf(t, rerun(t, other, rows).Model) == sampleOf(t, result.Model) {
		t.Error("another seed draws the same records")
	}
}

func rerun(t *testing.T, spec protocol.JobSpec, rows [][]float32) jobstest.Result {
	t.Helper()
	algorithm, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	result, err := jobstest.Run(t.Context(), algorithm, spec,
		jobstest.Shards(jobstest.Deal(jobstest.DenseRecords(rows), 2), 10), kernelops.Generic(), jobstest.Grouping{})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// Sparse rows have the values of dense ones.
func TestSparseIsDense(t *testing.T) {
	rows := [][]float32{{0, 1, 0, 2}, {0, 0, 0, 0}, {3, 0, 0, 0}, {1, 1, 1, 1}, {0, 0, 4, 0}}
	for _, c := range kernelCases {
		params := fmt.Sprintf(`{%s, "tile": 2}`, c.params)
		_, want, _ := assembled(t, mustRun(t, params, rows, 2, kernelops.Best()).Files)
		spec := specOf(t, params, false)
		algorithm, err := New(spec)
		if err != nil {
			t.Fatal(err)
		}
		result, err := jobstest.Run(t.Context(), algorithm, spec,
			jobstest.Shards(jobstest.Deal(jobstest.SparseRecords(4, rows), 3), 2), kernelops.Best(),
			jobstest.Grouping{})
		if err != nil {
			t.Fatal(err)
		}
		if _, got, _ := assembled(t, result.Files); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", c.params, got, want)
		}
	}
}

// The grouping of blocks and tasks changes no byte.
func TestGrouping(t *testing.T) {
	rows := iris(t)[:40]
	spec := specOf(t, `{"kernel": "rbf", "tile": 16, "features": {"scale": "minmax"}}`, false)
	algorithm, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	jobstest.CheckGrouping(t, algorithm, spec, jobstest.Deal(jobstest.DenseRecords(rows), 4), kernelops.Best())
}

// python is an interpreter with numpy, where one is installed.
func python(t *testing.T) string {
	t.Helper()
	file, err := filepath.Abs("../../../benchmarks/peers/.venv/bin/python")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Skipf("no interpreter with numpy: %v", err)
	}
	return file
}

const assembleInPython = `
import json, numpy, sys
index = json.load(open("tiles/index.json"))
K = numpy.empty((index["rows"], index["columns"]), "float32")
for t in index["tiles"]:
    x, r, c = numpy.load(t["name"]), t["row"], t["column"]
    assert x.shape == (t["rows"], t["columns"]) and x.dtype == index["dtype"]
    K[r:r+x.shape[0], c:c+x.shape[1]] = x
    if index["symmetric"]:
        K[c:c+x.shape[1], r:r+x.shape[0]] = x.T
sys.stdout.buffer.write(K.tobytes())
`

// numpy reads the tiles as the package says it can, to the bytes of Assemble.
func TestNumpyReadsTheTiles(t *testing.T) {
	interpreter := python(t)
	result := mustRun(t, `{"kernel": "rbf", "tile": 31}`, iris(t), 3, kernelops.Best())
	_, _, file := assembled(t, result.Files)
	dir := t.TempDir()
	for name, data := range result.Files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), interpreter, "-c", assembleInPython)
	var stderr strings.Builder
	cmd.Dir, cmd.Stderr = dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	if !bytes.HasSuffix(file, out) || len(out) != 4*150*150 {
		t.Errorf("numpy reads %d other bytes", len(out))
	}
}
