package supportvectormachine

import (
	"fmt"
	"math"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/centers"
	"github.com/gram-compute/gram/kernelops"
)

// Two clusters of two points each, by hand: those at 0 and 2 have a machine of their own with coefficients of 1/2 and a
// bias of -1 and those at 102 and 100 one whose classes are the other way. A record follows the machine of its cluster.
func TestEarlyByHand(t *testing.T) {
	records := jobstest.DenseRecords([][]float32{{0}, {2}, {102}, {100}}, "a", "b", "a", "b")
	m, result := train(t, `{"kernel":"linear","clusters":2,"early":true,"tol":1e-9,"C":10}`, records)
	if machinesOf(m).parts != 2 || len(m.bias) != 2 || m.len() != 4 {
		t.Fatalf("%d clusters, biases %v, %d support vectors", machinesOf(m).parts, m.bias, m.len())
	}
	near := int(m.cluster[0])
	if math.Abs(m.bias[near]+1) > 1e-9 || math.Abs(m.bias[1-near]-101) > 1e-6 {
		t.Errorf("biases %v, the cluster at 0 is %d", m.bias, near)
	}
	for k, c := range m.proofs {
		if math.Abs(c.Primal-0.5) > 1e-6 || !(c.GapUpper < 1e-5) {
			t.Errorf("machine %d: %+v", k, c)
		}
	}
	probe := jobstest.DenseRecords([][]float32{{-1}, {0.9}, {1.1}, {40}, {60}, {100.9}, {101.1}},
		"a", "a", "a", "a", "a", "a", "a")
	want := []float64{-2, -0.1, 0.1, 39, 41, 0.1, -0.1}
	for i, got := range predictions(t, result.Model, probe) {
		if math.Abs(got-want[i]) > 1e-4 {
			t.Errorf("at %v: %v, not %v", probe[i].Dense, got, want[i])
		}
	}
}

// The machines of an early answer are those that a job over the records of their cluster alone trains.
func TestEarlyMachinesAreThoseOfTheirClusters(t *testing.T) {
	records := far(240, 2)
	const params = `"kernel":"rbf","gamma":0.2,"tol":1e-9,"working_set":32`
	m, result := train(t, fmt.Sprintf(`{%s,"clusters":3,"early":true}`, params), records)
	nearest := centers.NewNearest(m.early.centers, m.space.Width, kernelops.Best())
	parts := make([][]jobstest.Record, machinesOf(m).parts)
	for _, r := range records {
		k := nearest.Add(nil, matrixOf(r.Dense, 1, len(r.Dense)))[0]
		parts[k] = append(parts[k], r)
	}
	for k, part := range parts {
		own, alone := train(t, fmt.Sprintf(`{%s}`, params), part)
		if a, b := m.proofs[k], own.proofs[0]; math.Abs(a.Dual-b.Dual) > 1e-7*b.Dual || m.violation[k] > 1e-9 {
			t.Errorf("cluster %d of %d records: dual %v, not %v; violation %v", k, len(part), a.Dual, b.Dual,
				m.violation[k])
		}
		want := predictions(t, alone.Model, part)
		for i, got := range predictions(t, result.Model, part) {
			if math.Abs(got-want[i]) > 1e-5 {
				t.Errorf("cluster %d, record %d: %v, not %v", k, i, got, want[i])
			}
		}
	}
}

// Of one cluster, an early answer is the answer.
func TestEarlyOfOneCluster(t *testing.T) {
	records := far(150, 2)
	const params = `"kernel":"rbf","gamma":0.2,"tol":1e-6,"working_set":32`
	_, early := train(t, fmt.Sprintf(`{%s,"clusters":1,"early":true}`, params), records)
	_, all := train(t, fmt.Sprintf(`{%s}`, params), records)
	want := predictions(t, all.Model, records)
	for i, got := range predictions(t, early.Model, records) {
		if got != want[i] {
			t.Errorf("record %d: %v, not %v", i, got, want[i])
		}
	}
}

// A cluster that lacks a class decides for those it has, of two classes and of three.
func TestEarlyClusterWithoutAClass(t *testing.T) {
	for classes := 2; classes <= 3; classes++ {
		records := groups(120, 3, classes)
		for i := range records { // class a is alone at 0, the others are at 50
			for j := range records[i].Dense {
				if i%classes > 0 {
					records[i].Dense[j] += 50
				}
			}
		}
		m, result := train(t, `{"clusters":2,"early":true}`, records)
		if machinesOf(m).parts != 2 {
			t.Fatalf("%d clusters", machinesOf(m).parts)
		}
		for i, got := range outcomes(t, result.Model, records) {
			if (got.Label == "a") != (records[i].Label == "a") {
				t.Errorf("%d classes: record %d of %s is called %s", classes, i, records[i].Label, got.Label)
			}
		}
	}
}

// Arrays that no training writes are faults.
func TestEarlyModelRefuses(t *testing.T) {
	_, result := train(t, `{"clusters":3,"early":true}`, far(90, 2))
	for name, change := range map[string]func(m *model){
		"cluster of no center": func(m *model) { m.cluster[0] = 99 },
		"no clusters":          func(m *model) { m.cluster = nil },
		"center":               func(m *model) { m.early.centers[0] = float32(math.NaN()) },
	} {
		arrays, err := jobs.Decode(result.Model.Encode())
		if err != nil {
			t.Fatal(err)
		}
		m, err := readModel(arrays)
		if err != nil {
			t.Fatal(err)
		}
		change(m)
		if _, err := readModel(jobs.ArraysOf(m)); err == nil {
			t.Errorf("another %s is taken", name)
		}
	}
	for _, name := range []string{"supports.cluster", "early.centers"} {
		arrays, err := jobs.Decode(result.Model.Encode())
		if err != nil {
			t.Fatal(err)
		}
		delete(arrays, name)
		if _, err := readModel(arrays); err == nil {
			t.Errorf("a model without %s is taken", name)
		}
	}
}
