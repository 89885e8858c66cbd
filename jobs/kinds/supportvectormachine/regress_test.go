package supportvectormachine

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// regression is one of LIBSVM at a tolerance of 1e-10, solved on in float64; testdata has the script.
type regression struct {
	trained
	Epsilon float64
	Z       []float64
	Beta    []float64
}

func (r regression) params() string {
	return fmt.Sprintf(`{"mode":"regress",%s,"C":%v,"epsilon":%v,"tol":1e-10,"working_set":64}`, r.kernel(), r.Cost,
		r.Epsilon)
}

func (r regression) records() []jobstest.Record { return numbers(r.X, r.Z) }

// numbers are records of regression.
func numbers(x [][]float32, z []float64) []jobstest.Record {
	list := make([]jobstest.Record, len(z))
	for i, v := range z {
		list[i] = jobstest.Record{Label: fmt.Sprint(v), Dense: x[i]}
	}
	return list
}

// Worked by hand: targets of 1 at x = 1 and -1 at x = -1 with the linear kernel, an epsilon of 1/2 and C = 10: the
// flattest line within the tube is x/2, from betas of 1/4 and -1/4, and both objectives are 1/8.
func TestRegressionByHand(t *testing.T) {
	two := numbers([][]float32{{1}, {-1}}, []float64{1, -1})
	m, result := train(t, `{"mode":"regress","kernel":"linear","C":10,"epsilon":0.5,"tol":1e-9}`, two)
	c := m.proofs[0]
	if m.len() != 2 || m.alpha[0] != 0.25 || m.alpha[1] != -0.25 || m.bias[0] != 0 || c.Primal != 0.125 ||
		c.Dual != 0.125 || !(c.Relative() < 1e-12) {
		t.Errorf("beta %v, bias %v, %+v", m.alpha, m.bias, c)
	}
	if got := values(t, result, two); got[0] != 0.5 || got[1] != -0.5 {
		t.Errorf("predicts %v", got)
	}
	m, _ = train(t, `{"mode":"regress","epsilon":3}`, two)
	if m.len() != 0 || m.relative() != 0 || m.violation[0] != 0 {
		t.Errorf("a tube around all: beta %v, gap %v", m.alpha, m.relative())
	}
}

func TestRegressionAgreesWithLIBSVM(t *testing.T) {
	text, err := os.ReadFile("testdata/regressions.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []regression
	if err := json.Unmarshal(text, &list); err != nil || len(list) < 8 {
		t.Fatalf("%d regressions, %v", len(list), err)
	}
	for _, want := range list {
		t.Run(want.Name, func(t *testing.T) { want.check(t) })
	}
}

func (r regression) check(t *testing.T) {
	m, result := train(t, r.params(), r.records())
	proof := m.proofs[0]
	if off := math.Abs(proof.Dual - r.Objective); off > 1e-6*math.Abs(r.Objective) || !(proof.Relative() < 1e-6) {
		t.Errorf("objective %v, not %v; proved to %v", proof.Dual, r.Objective, proof.Relative())
	}
	size := 1.0
	for _, b := range m.alpha {
		size += math.Abs(b)
	}
	predicted := values(t, result, r.records())
	p := newProofSums(m, kernelops.Best())
	for i, want := range r.Decisions {
		p.decide(r.X[i], 0)
		if f := p.sum[0] + m.bias[0]; r.Unique && math.Abs(f-want) > 1e-6*max(1, math.Abs(want)) {
			t.Errorf("decision %d is %v, not %v", i, f, want)
		} else if math.Abs(predicted[i]-f) > 1e-6*size {
			t.Errorf("record %d is predicted %v, not %v", i, predicted[i], f)
		}
	}
	if !r.Unique {
		return
	}
	beta := make([]float64, len(r.Z))
	for j, i := range m.ordinal {
		beta[i] = m.alpha[j]
	}
	for i, b := range beta {
		if math.Abs(b-r.Beta[i]) > 1e-3*r.Cost {
			t.Errorf("beta %d is %v, not %v", i, b, r.Beta[i])
		}
	}
}

// The model does not depend on blocks, shards or kernel sets.
func TestRegressionOfAnyBlocks(t *testing.T) {
	records := groups(120, 4, 2)
	for i := range records {
		records[i].Label = fmt.Sprint(math.Sin(float64(i)) + float64(records[i].Dense[0]))
	}
	want := ""
	for _, set := range kernelops.All() {
		for i, blocks := range []int{1, 3, 8} {
			params := fmt.Sprintf(`{"mode":"regress","blocks":%d,"working_set":16}`, blocks)
			result, err := tryRun(t, params, jobstest.Deal(records, i+1), set)
			if err != nil {
				t.Fatal(err)
			}
			digest := jobstest.Digest(result.Model)
			if want == "" {
				want = digest
			}
			if digest != want {
				t.Errorf("%s, %d blocks: another model", set.Name, blocks)
			}
		}
	}
}

func TestBadRegression(t *testing.T) {
	two := numbers([][]float32{{1}, {-1}}, []float64{1, -1})
	words := jobstest.DenseRecords([][]float32{{1}, {-1}}, "1", "one")
	for name, c := range map[string]struct {
		params  string
		records []jobstest.Record
		says    string
	}{
		"epsilon of classes": {`{"epsilon":1}`, two, "epsilon is of mode regress"},
		"class weights":      {`{"mode":"regress","class_weights":{"1":2}}`, two, "class_weights are of classes"},
		"costs":              {`{"mode":"regress","costs":{"1":{"-1":2}}}`, two, "costs are of decisions"},
		"a word":             {`{"mode":"regress"}`, words, "is not a finite number"},
		"epsilon below 0":    {`{"mode":"regress","epsilon":-1}`, two, "epsilon"},
		"degree of rbf":      {`{"mode":"regress","degree":2}`, two, "has no degree"},
	} {
		_, err := tryRun(t, c.params, [][]jobstest.Record{c.records}, kernelops.Best())
		var fault *protocol.Fault
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// values are the predictions of a regression.
func values(t *testing.T, result jobstest.Result, records []jobstest.Record) (list []float64) {
	t.Helper()
	p, err := NewPredictor(result.Model, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	for block, err := range jobstest.Shards([][]jobstest.Record{records}, 500)[0](t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		outcomes, err := p.Predict(t.Context(), block)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outcomes {
			list = append(list, o.Value)
		}
	}
	return list
}
