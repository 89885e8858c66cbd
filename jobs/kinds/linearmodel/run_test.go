package linearmodel

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/dual"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

func specOf(params string) protocol.JobSpec {
	spec := protocol.JobSpec{APIVersion: protocol.APIVersion, Kind: KindName}
	spec.Spec.Params = json.RawMessage(params)
	spec.Spec.Repro.Seed = 7
	return spec
}

// solvers are all but auto.
var solvers = []string{newtonName, ascendName}

func tryRun(t testing.TB, params string, shards [][]jobstest.Record, ops *kernelops.Set) (jobstest.Result, error) {
	t.Helper()
	spec := specOf(params)
	algorithm, err := New(spec)
	if err != nil {
		return jobstest.Result{}, err
	}
	return jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(shards, 50), ops, jobstest.Grouping{})
}

func train(t testing.TB, params string, shards ...[]jobstest.Record) (*model, jobstest.Result) {
	t.Helper()
	result, err := tryRun(t, params, shards, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	arrays, err := jobs.Decode(result.Model.Encode())
	if err != nil {
		t.Fatal(err)
	}
	m, err := readModel(arrays)
	if err != nil {
		t.Fatal(err)
	}
	return m, result
}

// groups draws records around as many centers, far enough apart that few lie on the wrong side.
func groups(n, width, classes int, sparse bool) []jobstest.Record {
	r := rand.New(rand.NewPCG(uint64(n), 13))
	records := make([]jobstest.Record, n)
	for i := range records {
		class := i % classes
		x := jobstest.Record{Label: string(rune('a' + class))}
		for j := range width {
			v := float32(r.NormFloat64())
			if j%classes == class {
				v += 2
			}
			if !sparse {
				x.Dense = append(x.Dense, v)
			} else if x.Width = width; r.IntN(2) == 0 {
				x.Indices, x.Values = append(x.Indices, int32(j)), append(x.Values, v)
			}
		}
		records[i] = x
	}
	return records
}

// Worked by hand: x = 1 of class b and x = -1 of class a, C = 1, no bias: w = 1, and both objectives are 1/2. With the
// square of the loss w is 4/5, and they are 2/5.
func TestTwoRecordsByHand(t *testing.T) {
	two := []jobstest.Record{{Label: "b", Dense: []float32{1}}, {Label: "a", Dense: []float32{-1}}}
	for loss, want := range map[string][2]float64{"hinge": {1, 0.5}, "squared_hinge": {0.8, 0.4},
		"squared": {0.8, 0.4}} {
		for _, solver := range solvers {
			for _, block := range []int{1, 2} {
				params := fmt.Sprintf(`{"loss":%q,"bias_scale":0,"tol":1e-9,"blocks":%d,"solver":%q}`, loss,
					block, solver)
				m, _ := train(t, params, two)
				c := m.proofs[0]
				if math.Abs(m.weights[0]-want[0]) > 1e-4 || math.Abs(c.Primal-want[1]) > 1e-8 ||
					math.Abs(c.Dual-want[1]) > 1e-8 || c.Relative() > 1e-9 {
					t.Errorf("%s: w %v, %+v", params, m.weights, c)
				}
			}
		}
	}
}

// The proof holds of the weights that the model has: the primal objective, computed anew, is what it says, and the
// weights lie within sqrt(2 gap) of those that are trained to a far smaller gap.
func TestProofsHold(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		records := groups(90, 5, 2, sparse)
		for _, loss := range dual.Names[:3] {
			params := `{"loss":%q,"C":0.5,"solver":%q,"blocks":3,"max_rounds":600,"tol":%g}`
			best := trainTo(t, fmt.Sprintf(params, loss, newtonName, 1e-7), 1e-7, records)
			for _, solver := range solvers {
				checkProof(t, fmt.Sprintf(params, loss, solver, 1e-3), records, best)
			}
		}
	}
}

// trainTo trains until a gap is proved.
func trainTo(t *testing.T, params string, gap float64, records []jobstest.Record) *model {
	t.Helper()
	m, result := train(t, params, records)
	if m.relative() > gap {
		t.Errorf("%s: %+v after %d rounds", params, m.proofs[0], result.Rounds)
	}
	return m
}

func checkProof(t *testing.T, params string, records []jobstest.Record, best *model) {
	t.Helper()
	m := trainTo(t, params, 1e-3, records)
	c := m.proofs[0]
	primal := dual.SquareOf(m.weights) / 2
	for _, r := range records {
		x := dual.Row{Values: r.Dense, Index: r.Indices, Bias: 1}
		if r.Dense == nil {
			x.Values = r.Values
		}
		y := m.side(0, int(r.Label[0]-'a'))
		primal += 0.5 * m.loss.Of(1-y*x.Dot(m.weights))
	}
	if math.Abs(primal-c.Primal) > c.PrimalError+1e-10*primal {
		t.Errorf("%s: primal %v, the proof says %v within %v", params, primal, c.Primal, c.PrimalError)
	}
	off := 0.0
	for j, w := range best.weights {
		off += (w - m.weights[j]) * (w - m.weights[j])
	}
	if reach := math.Sqrt(2*c.GapUpper) + math.Sqrt(2*best.proofs[0].GapUpper); math.Sqrt(off) > reach {
		t.Errorf("%s: weights are %v off, more than %v; %+v", params, math.Sqrt(off), reach, best.proofs[0])
	}
}

// One model, to the bit, for any shards, kernel sets and groupings; another block_records gives another.
func TestOneModel(t *testing.T) {
	records := groups(230, 5, 3, false)
	for _, solver := range solvers {
		params := func(block int) string {
			return fmt.Sprintf(`{"blocks":%d,"class_weights":{"a":2},"max_rounds":7,"tol":1e-9,"solver":%q}`, block,
				solver)
		}
		_, whole := train(t, params(6), records)
		want := jobstest.Digest(whole.Model)
		for _, ops := range kernelops.All() {
			cut := [][]jobstest.Record{records[:17], nil, records[17:100], records[100:]}
			result, err := tryRun(t, params(6), cut, ops)
			if err != nil || jobstest.Digest(result.Model) != want {
				t.Errorf("%s, %s: another model, or %v", solver, ops.Name, err)
			}
		}
		if _, other := train(t, params(5), records); jobstest.Digest(other.Model) == want {
			t.Errorf("%s: the same model of other blocks", solver)
		}
	}
}

// A model decides as its weights say, and few records are on the wrong side.
func TestPredictions(t *testing.T) {
	for _, classes := range []int{2, 4} {
		records := groups(200, 8, classes, false)
		m, result := train(t, `{"blocks":4,"tol":1e-2}`, records)
		if m.relative() > 1e-2 {
			t.Errorf("%d classes: a gap of %v", classes, m.relative())
		}
		p, err := NewPredictor(result.Model, kernelops.Best())
		if err != nil {
			t.Fatal(err)
		}
		wrong, at := 0, 0
		for block, err := range jobstest.Shards([][]jobstest.Record{records}, 70)[0](t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			outcomes, err := p.Predict(t.Context(), block)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range outcomes {
				if o.Label != records[at].Label {
					wrong++
				}
				at++
			}
		}
		if at != len(records) || wrong > len(records)/10 {
			t.Errorf("%d classes: %d of %d are wrong", classes, wrong, at)
		}
	}
}

// A record that weighs nothing changes nothing, wherever it lies; sums beyond float64 are a fault.
func TestOddRecords(t *testing.T) {
	far := jobstest.Record{Label: "a", Dense: []float32{1e9, 1e9, 1e9}}
	records := groups(60, 3, 2, false)
	for i := range records {
		records[i].Weight = 1
	}
	for _, solver := range solvers {
		params := fmt.Sprintf(`{"blocks":1,"max_rounds":5,"solver":%q}`, solver)
		m, _ := train(t, params, records)
		with, _ := train(t, params, append(records, far))
		if !slices.Equal(m.weights, with.weights) || m.proofs[0].Primal != with.proofs[0].Primal {
			t.Errorf("%s: %+v, and %+v with a record that weighs 0", solver, m.proofs, with.proofs)
		}
	}
	for _, sum := range []float64{math.Inf(1), math.NaN()} {
		_, ascended := (&ascent{moves: []float64{0, sum}}).tally()
		_, bent := (&bent{values: []float64{sum}}).tally(kernelops.Best())
		for _, err := range []error{ascended, bent} {
			var fault *protocol.Fault
			if !errors.As(err, &fault) || fault.Code != protocol.CodeInputLimit {
				t.Errorf("a sum of %v: %v", sum, err)
			}
		}
	}
}

// A job that ends before it has proved what it should says so.
func TestUnproved(t *testing.T) {
	records := groups(60, 3, 2, false)
	for rounds, want := range map[int]bool{2: true, 1000: false} {
		_, result := train(t, fmt.Sprintf(`{"max_rounds":%d}`, rounds), records)
		var warnings []string
		if err := jobs.ReadMetric(result.Metrics, jobs.WarningsMetric, &warnings); err != nil {
			t.Fatal(err)
		}
		if warned := strings.Contains(strings.Join(warnings, ""), "after 2 rounds, the gap"); warned != want {
			t.Errorf("%d rounds: %q", rounds, warnings)
		}
	}
	var fault *protocol.Fault
	nothing := &training{model: &model{rounds: 1}}
	err := nothing.certify(0, dual.Certificate{}, dual.Standing{})
	if !errors.As(err, &fault) || fault.Code != protocol.CodeInputEmpty {
		t.Errorf("where no record weighs anything: %v", err)
	}
}

// Carries and tallies of another shape are faults, not panics.
func TestMalformed(t *testing.T) {
	short := carried(make([]float64, 3))
	if _, err := short.at(3); err == nil || short.checkLen(4) == nil {
		t.Error("a carry of three coefficients was taken for a block of four")
	}
	single, two := measures{violation: make([]float64, 1)}, measures{violation: make([]float64, 2)}
	if _, err := single.plus(&two); err == nil || single.check(2) == nil {
		t.Error("tallies of one and of two machines were joined")
	}
	for _, params := range []string{`{"C":0}`, `{"tol":0}`, `{"loss":"log"}`, `{"max_rounds":0}`, `{"solver":"x"}`} {
		if _, err := New(specOf(params)); err == nil {
			t.Errorf("%s was accepted", params)
		}
	}
	one := [][]jobstest.Record{{{Label: "a", Dense: []float32{1}}}}
	if _, err := tryRun(t, `{}`, one, kernelops.Best()); err == nil {
		t.Error("one class was accepted")
	}
}
