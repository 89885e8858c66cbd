package supportvectormachine

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// Worked by hand: the matrix of 2 and 0 twice: of 1, 1, -1, -1 times each other. With labels b, b, a, a the dual is
// greatest where the sum of the coefficients is 1: w has length 1, and the objective is 1/2. The first record of rank 1
// matrices like this has any part of it; raised by the least, both have a half.
func TestGivenMatrixByHand(t *testing.T) {
	k := [][]float32{{1, 1, -1, -1}, {1, 1, -1, -1}, {-1, -1, 1, 1}, {-1, -1, 1, 1}}
	for _, blocks := range []int{1, 2, 4} {
		m, result := train(t, fmt.Sprintf(`{"kernel":"precomputed","C":10,"tol":1e-9,"blocks":%d}`, blocks),
			jobstest.DenseRecords(k, "b", "b", "a", "a"))
		if m.given.verdict != verdictRounding || !(m.given.added > 0 && m.given.added < 1e-14) {
			t.Fatalf("%+v", m.given)
		}
		if c := m.proofs[0]; math.Abs(c.Dual-0.5) > 1e-6 || !(c.Relative() < 1e-8) {
			t.Errorf("%d blocks: %+v", blocks, c)
		}
		decisions := predictions(t, result.Model, jobstest.DenseRecords(k, "b", "b", "a", "a"))
		for i, want := range []float64{1, 1, -1, -1} {
			if got := decisions[i]; math.Abs(got-want) > 1e-6 {
				t.Errorf("%d blocks: record %d is %v, not %v", blocks, i, got, want)
			}
		}
		if len(m.rows) != 0 {
			t.Errorf("%d values of support vectors are kept", len(m.rows))
		}
	}
}

// precomputed is a machine of LIBSVM on a matrix of kernel values; testdata has the script.
type precomputed struct {
	Name, Mode string
	Clip       bool
	Cost       float64
	K          [][]float32 // of the training records, then of others
	Y          []int
	Z          []float64
	Objective  float64
	Decisions  []float64
}

func (p precomputed) params(tol float64) string {
	return fmt.Sprintf(`{"kernel":"precomputed","mode":%q,"clip":%v,"C":%v,"tol":%v,"working_set":16}`, p.Mode, p.Clip,
		p.Cost, tol)
}

// records are the training records, and the others without labels.
func (p precomputed) records() (training, others []jobstest.Record) {
	for i, row := range p.K {
		r := jobstest.Record{Dense: row}
		switch {
		case i >= len(row):
			others = append(others, r)
			continue
		case p.Mode == modeRegress:
			r.Label = fmt.Sprint(p.Z[i])
		default:
			r.Label = fmt.Sprint(p.Y[i])
		}
		training = append(training, r)
	}
	return training, others
}

func givenMachines(t *testing.T) (list []precomputed) {
	t.Helper()
	text, err := os.ReadFile("testdata/precomputed.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &list); err != nil || len(list) < 15 {
		t.Fatalf("%d machines, %v", len(list), err)
	}
	return list
}

// LIBSVM keeps kernel values in float32, which are those of the matrix: the machine is the same. Clipped values are not
// those of numpy to the last digit of float32.
func TestGivenMatrixAgreesWithLIBSVM(t *testing.T) {
	for _, want := range givenMachines(t) {
		t.Run(want.Name, func(t *testing.T) {
			near := 1e-7
			if want.Clip {
				near = 1e-5
			}
			training, others := want.records()
			m, result := train(t, want.params(1e-9), training)
			if wrong := (m.given.verdict == verdictClipped) != want.Clip; wrong {
				t.Errorf("%s", m.given.says())
			}
			if off := m.proofs[0].Dual/want.Objective - 1; want.Objective != 0 && math.Abs(off) > 10*near {
				t.Errorf("objective %v, not %v: %.3g", m.proofs[0].Dual, want.Objective, off)
			}
			if !(m.relative() < 1e-6) {
				t.Errorf("a gap of %v", m.relative())
			}
			for i, o := range outcomes(t, result.Model, append(training, others...)) {
				got := o.Value
				switch {
				case len(o.Scores) == 2:
					got = o.Scores[1]
				case len(o.Scores) == 3:
					got, _ = strconv.ParseFloat(o.Label, 64)
				}
				if off := math.Abs(got - want.Decisions[i]); off > near*max(1, math.Abs(want.Decisions[i])) {
					t.Errorf("decision %d is %v, not %v: %.3g", i, got, want.Decisions[i], off)
				}
			}
		})
	}
}

// outcomes are those of a model.
func outcomes(t *testing.T, model jobs.Arrays, records []jobstest.Record) (list []jobs.Outcome) {
	t.Helper()
	p, err := NewPredictor(model, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	for block, err := range jobstest.Shards([][]jobstest.Record{records}, 500)[0](t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		some, err := p.Predict(t.Context(), block)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, some...)
	}
	return list
}

func faultOf(t *testing.T, params string, records []jobstest.Record) string {
	t.Helper()
	_, err := tryRun(t, params, [][]jobstest.Record{records}, kernelops.Best())
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Class != protocol.ClassInput {
		t.Fatalf("%v", err)
	}
	return err.Error() + " " + fault.Hint
}

func TestGivenMatricesThatAreRefused(t *testing.T) {
	of := func(rows ...[]float32) []jobstest.Record {
		return jobstest.DenseRecords(rows, []string{"a", "b", "a"}[:len(rows)]...)
	}
	for name, c := range map[string]struct {
		params  string
		records []jobstest.Record
		says    string
	}{
		"not square":    {`{}`, of([]float32{1, 0, 0}, []float32{0, 1, 0}), "2 records have 3 columns"},
		"not symmetric": {`{}`, of([]float32{1, 0.5}, []float32{0.25, 1}), "record 0 has 0.5 in column 1, and record 1 has 0.25"},
		"indefinite":    {`{}`, of([]float32{1, 2}, []float32{2, 1}), "least eigenvalue is from -1 to -1"},
		"infinite":      {`{}`, of([]float32{1, float32(math.Inf(1))}, []float32{0.25, 1}), "value 2"},
		"scaled":        {`{"features":{"scale":"standard"}}`, of([]float32{1, 0}, []float32{0, 1}), "features.scale"},
		"gamma":         {`{"gamma":1}`, of([]float32{1, 0}, []float32{0, 1}), "no parameter"},
	} {
		params := strings.Replace(c.params, "{", `{"kernel":"precomputed",`, 1)
		params = strings.Replace(params, ",}", "}", 1)
		if got := faultOf(t, params, c.records); !strings.Contains(got, c.says) {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := faultOf(t, `{"clip":true}`, of([]float32{1, 2}, []float32{2, 1})); !strings.Contains(got, "clip is of kernel") {
		t.Error(got)
	}
}

// Given values are no vectors: no warning is about their distances, or names a scale, which would be refused.
func TestGivenMatrixHasNoDistances(t *testing.T) {
	k := [][]float32{{1e6, 0, 0}, {0, 1, 0}, {0, 0, 1}}
	for kernel, want := range map[string]bool{"precomputed": false, "linear": true} {
		_, result := train(t, fmt.Sprintf(`{"kernel":%q}`, kernel), jobstest.DenseRecords(k, "a", "b", "a"))
		warned := false
		for _, m := range result.Metrics {
			warned = warned || m.Name == jobs.WarningsMetric && strings.Contains(string(m.Value), "distances")
		}
		if warned != want {
			t.Errorf("%s: warned %v", kernel, warned)
		}
	}
}
