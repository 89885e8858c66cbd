package supportvectormachine

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
)

// trained is a machine of LIBSVM at a tolerance of 1e-10, solved on in float64; package smo has the script.
type trained struct {
	Name   string
	Kernel struct {
		Kernel       string
		Gamma, Coef0 float64
		Degree       int
	}
	Unique       bool // the alphas are
	Cost, Weight float64
	Objective    float64
	Bias         float64
	Y            []int
	X            [][]float32
	Alpha        []float64 // as parts of the cost of their record
	Decisions    []float64
}

func (m trained) params() string {
	return fmt.Sprintf(`{%s,"C":%v,"class_weights":{"b":%v},"tol":1e-10,"working_set":64}`, m.kernel(), m.Cost,
		m.Weight)
}

// kernel is the parameters of the kernel.
func (m trained) kernel() string {
	switch k := m.Kernel; k.Kernel {
	case "poly":
		return fmt.Sprintf(`"kernel":"polynomial","scale":%v,"offset":%v,"degree":%d`, k.Gamma, k.Coef0, k.Degree)
	case "rbf":
		return fmt.Sprintf(`"kernel":"rbf","gamma":%v`, k.Gamma)
	}
	return `"kernel":"linear"`
}

func (m trained) records() []jobstest.Record {
	list := make([]jobstest.Record, len(m.Y))
	for i, y := range m.Y {
		list[i] = jobstest.Record{Label: map[int]string{-1: "a", 1: "b"}[y], Dense: m.X[i]}
	}
	return list
}

// The objective and the decisions are those of LIBSVM, and so are the coefficients and the bias where the optimum is
// unique.
func TestAgreesWithLIBSVM(t *testing.T) {
	text, err := os.ReadFile("../../learn/smo/testdata/machines.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []trained
	if err := json.Unmarshal(text, &list); err != nil || len(list) < 12 {
		t.Fatalf("%d machines, %v", len(list), err)
	}
	for _, want := range list {
		t.Run(want.Name, func(t *testing.T) { want.check(t) })
	}
}

func (m trained) check(t *testing.T) {
	got, result := train(t, m.params(), m.records())
	proof := got.proofs[0]
	if off := math.Abs(proof.Dual - m.Objective); off > 1e-6*m.Objective || !(proof.Relative() < 1e-6) {
		t.Errorf("objective %v, not %v; proved to %v", proof.Dual, m.Objective, proof.Relative())
	}
	p, size := newProofSums(got, kernelops.Best()), 0.0
	for _, a := range got.alpha {
		size += a
	}
	predicted := predictions(t, result.Model, m.records())
	for i, want := range m.Decisions {
		p.decide(m.X[i], max(0, m.Y[i]))
		if f := p.sum[0] + got.bias[0]; math.Abs(f-want) > 1e-6*max(1, math.Abs(want)) {
			t.Errorf("decision %d is %v, not %v", i, f, want)
		}
		// Predictions take kernel values in float32.
		if off := math.Abs(predicted[i] - want); off > 1e-6*max(1, size) {
			t.Errorf("record %d is predicted %v, not %v", i, predicted[i], want)
		}
	}
	if !m.Unique {
		return
	}
	if off := math.Abs(got.bias[0] - m.Bias); off > 1e-3*max(1, m.Cost) {
		t.Errorf("bias %v, not %v", got.bias[0], m.Bias)
	}
	alpha := make([]float64, len(m.Y))
	for j, i := range got.ordinal {
		alpha[i] = got.alpha[j]
	}
	for i, a := range alpha {
		cost := m.Cost
		if m.Y[i] > 0 {
			cost *= m.Weight
		}
		if math.Abs(a/cost-m.Alpha[i]) > 1e-3 {
			t.Errorf("alpha %d is %v of the cost, not %v", i, a/cost, m.Alpha[i])
		}
	}
}

// predictions are the decisions of a model of two classes.
func predictions(t *testing.T, model jobs.Arrays, records []jobstest.Record) (list []float64) {
	t.Helper()
	p, err := NewPredictor(model, kernelops.Best())
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
			list = append(list, o.Scores[1])
		}
	}
	return list
}
