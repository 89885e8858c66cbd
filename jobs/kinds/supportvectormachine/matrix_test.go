package supportvectormachine

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// runMatrix trains on a matrix, of which at most that many columns are gathered, with a part held out.
func runMatrix(t *testing.T, params string, records []jobstest.Record, most, shards int, heldOut float64) (*model,
	jobstest.Result, error) {
	t.Helper()
	spec := specOf(strings.Replace(params, "{", `{"kernel":"precomputed",`, 1))
	spec.Spec.Input.Split.Test = heldOut
	algorithm, err := newOf(spec, most, false)
	if err != nil {
		t.Fatal(err)
	}
	result, err := jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(inOrder(records, shards), 7),
		kernelops.Best(), jobstest.Grouping{})
	if err != nil {
		return nil, result, err
	}
	m, err := readModel(result.Model)
	if err != nil {
		t.Fatal(err)
	}
	return m, result, nil
}

// inOrder cuts records into shards that keep their order: column j is that of record j.
func inOrder(records []jobstest.Record, shards int) (list [][]jobstest.Record) {
	size := (len(records) + shards - 1) / shards
	for c := range slices.Chunk(records, size) {
		list = append(list, c)
	}
	return list
}

// matrixOfPoints are the records of two groups of points with their rbf values.
func matrixOfPoints(n int, seed uint64) []jobstest.Record {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([][2]float64, n)
	list := make([]jobstest.Record, n)
	for i := range x {
		x[i] = [2]float64{r.NormFloat64() + float64(i%2), r.NormFloat64()}
	}
	for i := range x {
		list[i].Label = string(rune('a' + i%2))
		for j := range x {
			d := math.Hypot(x[i][0]-x[j][0], x[i][1]-x[j][1])
			list[i].Dense = append(list[i].Dense, float32(math.Exp(-4*d*d)))
		}
	}
	return list
}

// The model does not depend on blocks, shards or kernel sets, gathered or not, clipped or not.
func TestGivenMatrixOfAnyBlocks(t *testing.T) {
	indefinite := matrixOfPoints(40, 3)
	for i := range indefinite {
		indefinite[i].Dense[i] -= 0.9
	}
	for name, c := range map[string]struct {
		params  string
		most    int
		records []jobstest.Record
	}{
		"gathered":     {`{"blocks":%d}`, 2000, matrixOfPoints(40, 3)},
		"not gathered": {`{"blocks":%d}`, 20, matrixOfPoints(40, 3)},
		"clipped":      {`{"blocks":%d,"clip":true}`, 2000, indefinite},
	} {
		want := ""
		for i, blocks := range []int{1, 3, 8} {
			_, result, err := runMatrix(t, fmt.Sprintf(c.params, blocks), c.records, c.most, i+1, 0.2)
			if err != nil {
				t.Fatal(name, err)
			}
			digest := jobstest.Digest(result.Model)
			if want == "" {
				want = digest
			}
			if digest != want {
				t.Errorf("%s, %d blocks: another model", name, blocks)
			}
		}
	}
}

// Of a matrix that is not gathered the machine is the same, and nothing is proved of it but by its diagonal.
func TestMatrixThatIsNotGathered(t *testing.T) {
	records := matrixOfPoints(40, 5)
	small, _, err := runMatrix(t, `{"tol":1e-6}`, records, 40, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	large, _, err := runMatrix(t, `{"tol":1e-6}`, records, 39, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(small.alpha, large.alpha) || !slices.Equal(small.ordinal, large.ordinal) {
		t.Error("another machine")
	}
	if !small.proves() || small.given.verdict != verdictHolds || large.proves() ||
		large.given.verdict != verdictUntold {
		t.Errorf("%s; %s", small.given.says(), large.given.says())
	}
	for i := range records {
		records[i].Dense[i] = 40
	}
	if large, _, err = runMatrix(t, `{"tol":1e-6}`, records, 39, 2, 0); err != nil || !large.proves() {
		t.Errorf("a dominant diagonal: %v", err)
	}
	if !(large.relative() < 1e-5) || !strings.Contains(large.given.says(), "no eigenvalue is below 0") {
		t.Errorf("%v, %s", large.relative(), large.given.says())
	}
}

// Whether a matrix is symmetric and square, and what of it is not, is found alike.
func TestFaultsOfMatrices(t *testing.T) {
	for name, c := range map[string]struct {
		change func(r []jobstest.Record)
		says   string
		small  bool // only where it is gathered
	}{
		"a value":  {func(r []jobstest.Record) { r[7].Dense[3] += 0.25 }, "record 3 has 0.", false},
		"the last": {func(r []jobstest.Record) { r[29].Dense[28] += 0.25 }, "record 28 has 0.", false},
		"permuted": {func(r []jobstest.Record) {
			for i := range r {
				d := r[i].Dense
				d[4], d[9] = d[9], d[4]
			}
		}, "the matrix is not symmetric: record ", false},
		"below 0": {func(r []jobstest.Record) { r[5].Dense[5] = -0.5 }, "not positive semidefinite", false},
		"a minor": {func(r []jobstest.Record) { r[5].Dense[6], r[6].Dense[5] = 1.01, 1.01 }, "not positive semidefinite",
			false},
		"indefinite": {func(r []jobstest.Record) {
			for i := range r {
				r[i].Dense[i] = 0.99 // and pairs are far less
				for j := range r {
					if i != j {
						r[i].Dense[j] = -0.4
					}
				}
			}
		}, "its least eigenvalue is from -10.", true},
	} {
		for _, most := range []int{30, 29} {
			records := matrixOfPoints(30, 2)
			c.change(records)
			_, _, err := runMatrix(t, `{"blocks":4}`, records, most, 3, 0)
			var fault *protocol.Fault
			if c.small && most < 30 {
				if err != nil {
					t.Errorf("%s, not gathered: %v", name, err)
				}
				continue
			}
			if !errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord || fault.Hint == "" ||
				!strings.Contains(err.Error(), c.says) {
				t.Errorf("%s, %d gathered: %v", name, most, err)
			}
		}
	}
	_, _, err := runMatrix(t, `{"clip":true}`, matrixOfPoints(30, 2), 29, 1, 0)
	if err == nil || !strings.Contains(err.Error(), "30 columns is too large to be clipped") {
		t.Error(err)
	}
}

// Values that differ by their sign alone, 0 and -0, are the same.
func TestZerosOfMatrices(t *testing.T) {
	zero := float32(math.Copysign(0, -1))
	for _, most := range []int{2, 1} {
		records := jobstest.DenseRecords([][]float32{{1, zero}, {0, 1}}, "a", "b")
		if _, _, err := runMatrix(t, `{"blocks":1}`, records, most, 1, 0); err != nil {
			t.Errorf("%d gathered: %v", most, err)
		}
	}
}

// Columns of records that are held out are not used: the machine is that of the matrix without them, whatever they
// hold.
func TestHeldOutRecordsOfAMatrix(t *testing.T) {
	records := matrixOfPoints(60, 9)
	spec := specOf(`{}`)
	spec.Spec.Input.Split.Test = 0.3
	held := jobs.TestRecords(spec)()
	var out, kept []int
	for block, err := range jobstest.Shards([][]jobstest.Record{records}, 100)[0](t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range block.IDs {
			if held(block, i) {
				out = append(out, i)
			} else {
				kept = append(kept, i)
			}
		}
	}
	for _, clip := range []bool{false, true} {
		for _, i := range out {
			records[i].Dense[i] = -3 // no eigenvalue of the training records
		}
		if clip {
			for _, i := range kept {
				records[i].Dense[i] -= 0.9
			}
		}
		var rest []jobstest.Record
		for _, i := range kept {
			r := jobstest.Record{Label: records[i].Label}
			for _, j := range kept {
				r.Dense = append(r.Dense, records[i].Dense[j])
			}
			rest = append(rest, r)
		}
		params := fmt.Sprintf(`{"clip":%v,"tol":1e-6}`, clip)
		whole, result, err := runMatrix(t, params, records, 2000, 2, 0.3)
		if err != nil {
			t.Fatal(err)
		}
		part, _, err := runMatrix(t, params, rest, 2000, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(out) < 10 || !slices.Equal(whole.alpha, part.alpha) || whole.given.least != part.given.least {
			t.Errorf("%d held out: another machine", len(out))
		}
		for k, j := range part.ordinal {
			if whole.ordinal[k] != int64(kept[j]) {
				t.Errorf("support vector %d is record %d, not %d", k, whole.ordinal[k], kept[j])
			}
		}
		if (whole.given.coefficients != nil) != clip || len(result.Metrics) == 0 {
			t.Errorf("clip %v: %s", clip, whole.given.says())
		}
	}
}

// What is told of a matrix fits any verdict, in figures and for people, also where a row has as many values as a
// picture.
func TestWhatIsToldOfAMatrix(t *testing.T) {
	for _, most := range []int{36, 35} {
		m, result, err := runMatrix(t, `{"blocks":2}`, matrixOfPoints(36, 4), most, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		figures, err := m.figures(result.Metrics)
		if err != nil || figures[2].Title != "The matrix" || len(figures[2].Table.Rows) != 1 {
			t.Errorf("%v, %+v", err, figures)
		}
		text, err := Kind().Describe(result.Model, jobs.DescribeOptions{})
		if err != nil || !strings.Contains(text, m.given.verdict.String()) {
			t.Errorf("%v, %s", err, text)
		}
	}
}

// A model whose support vectors are no columns of the matrix is refused.
func TestStoredMatricesThatAreRefused(t *testing.T) {
	_, result, err := runMatrix(t, `{"blocks":2}`, matrixOfPoints(20, 4), 20, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(a jobs.Arrays){
		"columns": func(a jobs.Arrays) {
			ordinals, _ := jobs.Get[int64](a, "supports.ordinal")
			ordinals = slices.Clone(ordinals)
			ordinals[len(ordinals)-1] = 20
			jobs.Put(a, "supports.ordinal", ordinals)
		},
		"verdict":  func(a jobs.Arrays) { jobs.PutScalar(a, matrixVerdict, int32(4)) },
		"interval": func(a jobs.Arrays) { jobs.Put(a, "matrix.least", []float64{2, 1, 0}) },
		"added":    func(a jobs.Arrays) { jobs.PutScalar(a, "matrix.added", math.NaN()) },
		"folded":   func(a jobs.Arrays) { jobs.Put(a, "matrix.coefficients", []float64{1}, 1, 1) },
	} {
		a := maps.Clone(result.Model)
		spoil(a)
		var fault *protocol.Fault
		if _, err := readModel(a); !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
			t.Errorf("%s: %v", name, err)
		}
	}
}
