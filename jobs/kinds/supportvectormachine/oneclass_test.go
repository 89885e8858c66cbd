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
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// unlabeled are records without labels.
func unlabeled(x ...[]float32) []jobstest.Record {
	list := make([]jobstest.Record, len(x))
	for i, row := range x {
		list[i] = jobstest.Record{Dense: row}
	}
	return list
}

// Worked by hand: x = 1, 2 and 4 with the linear kernel and nu = 1/2, so the coefficients add up to 3/2. The least |w|
// takes all of x = 1 and half of x = 2: w = 2, f = 2, 4 and 8, rho = 4, and both objectives are -2.
func TestOneClassByHand(t *testing.T) {
	m, _ := train(t, `{"mode":"one_class","kernel":"linear","nu":0.5,"tol":1e-9}`, unlabeled([]float32{4},
		[]float32{2}, []float32{1}))
	c := m.proofs[0]
	if m.len() != 2 || m.alpha[0] != 0.5 || m.alpha[1] != 1 || m.bias[0] != -4 || c.Primal != -2 || c.Dual != -2 ||
		!(c.Relative() < 1e-12) {
		t.Errorf("alpha %v of %v, rho %v, %+v", m.alpha, m.ordinal, -m.bias[0], c)
	}
}

// outlook is a one-class machine of LIBSVM at a tolerance of 1e-10, solved on in float64; testdata has the script.
type outlook struct {
	trained
	Nu, Rho float64
	Weights []float32
}

func (o outlook) params() string {
	return fmt.Sprintf(`{"mode":"one_class",%s,"nu":%v,"tol":1e-10,"working_set":64}`, o.kernel(), o.Nu)
}

func (o outlook) records() []jobstest.Record {
	list := unlabeled(o.X...)
	for i := range o.Weights {
		list[i].Weight = o.Weights[i]
	}
	return list
}

// cost is the most that the coefficient of record i may be.
func (o outlook) cost(i int) float64 {
	if o.Weights == nil {
		return 1
	}
	return float64(o.Weights[i])
}

func TestOneClassAgreesWithLIBSVM(t *testing.T) {
	text, err := os.ReadFile("testdata/oneclass.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []outlook
	if err := json.Unmarshal(text, &list); err != nil || len(list) < 8 {
		t.Fatalf("%d machines, %v", len(list), err)
	}
	for _, want := range list {
		t.Run(want.Name, func(t *testing.T) { want.check(t) })
	}
}

func (o outlook) check(t *testing.T) {
	m, result := train(t, o.params(), o.records())
	proof := m.proofs[0]
	for _, got := range []float64{proof.Primal, proof.Dual} {
		if off := math.Abs(got - o.Objective); off > 1e-6*math.Abs(o.Objective) || !(proof.Relative() < 1e-6) {
			t.Errorf("objective %v, not %v; proved to %v", got, o.Objective, proof.Relative())
		}
	}
	if off := math.Abs(-m.bias[0] - o.Rho); off > 1e-6*max(1, math.Abs(o.Rho)) {
		t.Errorf("rho is %v, not %v", -m.bias[0], o.Rho)
	}
	served := values(t, result, o.records())
	p, alpha := newProofSums(m, kernelops.Best()), make([]float64, len(o.X))
	for j, i := range m.ordinal {
		alpha[i] = m.alpha[j]
	}
	outside, supports, all := 0.0, 0.0, 0.0
	for i, want := range o.Decisions {
		p.decide(o.X[i], 1)
		f := p.sum[0] + m.bias[0]
		if size := max(1, math.Abs(o.Rho)); math.Abs(f-want) > 1e-6*size || math.Abs(served[i]-f) > 1e-6*size {
			t.Errorf("decision %d is %v, served as %v, not %v", i, f, served[i], want)
		}
		if o.Unique && math.Abs(alpha[i]-o.Alpha[i]) > 1e-3 {
			t.Errorf("alpha %d is %v, not %v", i, alpha[i], o.Alpha[i])
		}
		if all += o.cost(i); alpha[i] > 0 {
			supports += o.cost(i)
		}
		if f < -1e-9*max(1, math.Abs(o.Rho)) {
			outside += o.cost(i)
		}
	}
	if outside > o.Nu*all*(1+1e-12) || supports < o.Nu*all*(1-1e-12) {
		t.Errorf("of a weight of %v, %v is outside and %v supports; nu is %v", all, outside, supports, o.Nu)
	}
}

// The model does not depend on blocks, shards or kernel sets; records that weigh 0 or are equal are among them.
func TestOneClassOfAnyBlocks(t *testing.T) {
	records := groups(130, 4, 2)
	for i := range records {
		if records[i].Label, records[i].Weight = "", 0.1*float32(i%5); i%9 == 8 {
			records[i].Dense = records[i-1].Dense
		}
	}
	want := ""
	for _, set := range kernelops.All() {
		for i, blocks := range []int{1, 3, 8, 130} {
			params := fmt.Sprintf(`{"mode":"one_class","nu":0.3,"blocks":%d,"working_set":16}`, blocks)
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

// With a nu of 1, each coefficient is the weight of its record, and no record is inside; ended early, the model is that
// of the start, certified as it is.
func TestOneClassAtItsBounds(t *testing.T) {
	records := unlabeled([]float32{1}, []float32{2}, []float32{4}, []float32{7})
	m, result := train(t, `{"mode":"one_class","nu":1}`, records)
	for i, a := range m.alpha {
		if a != 1 || m.len() != 4 {
			t.Errorf("alpha %d of %d is %v", i, m.len(), a)
		}
	}
	for i, v := range values(t, result, records) {
		if !(v <= 1e-6) {
			t.Errorf("record %d has a decision of %v", i, v)
		}
	}
	if m.relative() > 1e-12 {
		t.Errorf("a gap of %v", m.relative())
	}
	m, _ = train(t, `{"mode":"one_class","nu":0.3,"max_rounds":1}`, groups(50, 3, 1))
	if c := m.proofs[0]; !(c.GapUpper >= c.Primal-c.Dual) || c.GapUpper > 1e6 || m.bias[0] == 0 ||
		m.violation[0] <= 1e-3 {
		t.Errorf("ended early: %+v, violation %v", c, m.violation)
	}
}

func TestBadOneClass(t *testing.T) {
	two := unlabeled([]float32{1}, []float32{-1})
	for name, c := range map[string]struct {
		params  string
		records []jobstest.Record
		says    string
	}{
		"nu of classes": {`{"nu":0.1}`, two, "nu is of mode one_class"},
		"nu of 0":       {`{"mode":"one_class","nu":0}`, two, "nu"},
		"nu above 1":    {`{"mode":"one_class","nu":1.5}`, two, "nu"},
		"C":             {`{"mode":"one_class","C":10}`, two, "C is of the other modes"},
		"class weights": {`{"mode":"one_class","class_weights":{"1":2}}`, two, "class_weights are of classes"},
		"costs":         {`{"mode":"one_class","costs":{"1":{"-1":2}}}`, two, "costs are of decisions"},
		"epsilon":       {`{"mode":"one_class","epsilon":1}`, two, "epsilon is of mode regress"},
		"no record":     {`{"mode":"one_class"}`, nil, "no training record"},
		"equal records": {`{"mode":"one_class"}`, unlabeled([]float32{3, 1}, []float32{3, 1}), "training records are equal"},
	} {
		_, err := tryRun(t, c.params, [][]jobstest.Record{c.records}, kernelops.Best())
		var fault *protocol.Fault
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Where every record weighs 0, training ends in its first round; a tally of other blocks is refused.
func TestOneClassWithoutWeight(t *testing.T) {
	s := &training{model: &model{oneClass: true}}
	var fault *protocol.Fault
	if err := s.weighed(&tally{weights: sums.NewExact(3)}, 3); !errors.As(err, &fault) ||
		fault.Code != protocol.CodeInputEmpty {
		t.Errorf("weights of 0: %v", err)
	}
	for _, of := range []*sums.Exact{nil, sums.NewExact(2)} {
		if err := s.weighed(&tally{weights: of}, 3); err == nil {
			t.Error("weights of other blocks are taken")
		}
	}
}

// Machines of one class and of every kernel reach their tolerance by float64 kernel values, also far from zero and with
// columns of very different scale, and prove the gap that is left, where there is one.
func TestOneClassReachesItsTolerance(t *testing.T) {
	far, wide := groups(120, 4, 2), groups(120, 4, 2)
	for i := range far {
		for j := range far[i].Dense {
			far[i].Dense[j] += 1e4
			wide[i].Dense[j] *= float32(math.Pow(1e3, float64(j-2)))
		}
	}
	for name, records := range map[string][]jobstest.Record{"near": groups(120, 4, 2), "far": far, "wide": wide} {
		for _, kernel := range []string{"rbf", "linear", "polynomial", "sigmoid"} {
			if kernel == "polynomial" && name == "far" {
				continue // values of 1e17: nothing to tell apart
			}
			params := fmt.Sprintf(`{"mode":"one_class","nu":0.15,"kernel":%q,"working_set":32%s}`, kernel,
				map[string]string{"wide": `,"features":{"scale":"standard"}`}[name])
			m, _ := train(t, params, records)
			// The gap of a violation is up to the sum of the coefficients, 18, times that.
			if v, g := m.violation[0], m.proofs[0].GapUpper; !(v <= 1e-3) || m.proves() && !(g <= 0.0181) {
				t.Errorf("%s, %s: violation %v, gap %v after %d rounds", name, kernel, v, g, m.rounds)
			}
		}
	}
}

// A record of weight 2 is as one that is there twice.
func TestOneClassWeightsRepeat(t *testing.T) {
	heavy := unlabeled([]float32{0, 1}, []float32{1, 0.5}, []float32{2, 2}, []float32{-1, 0}, []float32{0.5, -2})
	var twice []jobstest.Record
	for i := range heavy {
		twice = append(twice, jobstest.Record{Dense: heavy[i].Dense})
		if heavy[i].Weight = 1; i%2 == 0 {
			heavy[i].Weight = 2
			twice = append(twice, jobstest.Record{Dense: heavy[i].Dense})
		}
	}
	const params = `{"mode":"one_class","nu":0.4,"gamma":0.5,"tol":1e-10}`
	a, _ := train(t, params, heavy)
	b, _ := train(t, params, twice)
	if math.Abs(a.proofs[0].Primal-b.proofs[0].Primal) > 1e-9 || math.Abs(a.bias[0]-b.bias[0]) > 1e-9 {
		t.Errorf("%v at rho %v, not %v at %v", a.proofs[0].Primal, -a.bias[0], b.proofs[0].Primal, -b.bias[0])
	}
}
