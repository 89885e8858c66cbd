package supportvectormachine

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// The machines of three classes in two clusters, by hand.
func TestMachinesOfClusters(t *testing.T) {
	m := machines{3, 2}
	if m.Machines() != 6 || m.groups() != 6 || m.group(2, 1) != 5 {
		t.Fatalf("%d machines, %d groups", m.Machines(), m.groups())
	}
	if first, second := m.Pair(3); first != 0 || second != 2 {
		t.Errorf("machine 3 is of %d and %d", first, second)
	}
	if k, side := m.Of(2, 0, 1); k != 3 || side != 1 || m.Side(k, 0) != -1 {
		t.Errorf("class 2 against 0 in cluster 1 is machine %d, side %v", k, side)
	}
}

// far are groups of two places that are far apart, with columns of very different scale, copies, and weights.
func far(n, classes int) []jobstest.Record {
	records := groups(n, 4, classes)
	for i := range records {
		if i%5 == 4 {
			records[i].Dense = slices.Clone(records[i-classes].Dense)
			records[i].Label = records[i-classes].Label
		}
		records[i].Weight = float32(1 + i%3)
	}
	for i := range records {
		if i/classes%2 == 1 {
			x := slices.Clone(records[i].Dense)
			for j := range x {
				x[j] += 50
			}
			records[i].Dense = x
		}
	}
	return records
}

// A local start leads to the optimum that training without it finds, within what both prove.
func TestLocalStartLeadsToTheSameOptimum(t *testing.T) {
	for _, c := range []struct {
		params  string
		classes int
	}{
		{`"kernel":"rbf","gamma":0.2`, 2}, {`"kernel":"rbf","gamma":0.2`, 3}, {`"kernel":"linear"`, 2},
		{`"kernel":"polynomial","features":{"scale":"standard"}`, 3}, {`"kernel":"rbf","mode":"regress"`, 1},
		{`"kernel":"rbf","probability":true`, 2},
	} {
		records := far(240, max(2, c.classes))
		for i := range records {
			if c.classes == 1 {
				records[i].Label = fmt.Sprint(math.Sin(float64(records[i].Dense[0])))
			}
		}
		const tol = 1e-6
		without, _ := train(t, fmt.Sprintf(`{%s,"tol":%g,"working_set":32}`, c.params, tol), records)
		for _, clusters := range []int{1, 2, 7} {
			params := fmt.Sprintf(`{%s,"tol":%g,"working_set":32,"clusters":%d}`, c.params, tol, clusters)
			with, _ := train(t, params, records)
			for k := range with.bias {
				a, b := without.proofs[k], with.proofs[k]
				if off := math.Abs(a.Dual - b.Dual); with.violation[k] > tol || off > 1e-5*a.Dual ||
					math.Abs(with.bias[k]-without.bias[k]) > 1e-4 {
					t.Errorf("%s: machine %d: dual %v, not %v; bias %v, not %v; violation %v", params, k, b.Dual,
						a.Dual, with.bias[k], without.bias[k], with.violation[k])
				}
			}
		}
	}
}

// A model does not depend on blocks, shards or kernel sets, with a local start or an early answer.
func TestClustersDependOnRecordsAlone(t *testing.T) {
	records := far(200, 3)
	for _, params := range []string{`"clusters":4`, `"clusters":4,"early":true`} {
		var first []byte
		for _, blocks := range []int{1, 3, 8} {
			for _, ops := range kernelops.All() {
				result, err := tryRun(t, fmt.Sprintf(`{%s,"working_set":16,"blocks":%d}`, params, blocks),
					[][]jobstest.Record{records[:20*blocks], records[20*blocks:]}, ops)
				if err != nil {
					t.Fatal(err)
				}
				got := result.Model.Encode()
				if first == nil {
					first = got
				}
				if !bytes.Equal(first, got) {
					t.Errorf("%s: %d blocks, %s: another model", params, blocks, ops.Name)
				}
			}
		}
	}
}

// A class that weighs 0 is refused, with a local start as with an early answer.
func TestClassWithoutWeightInClusters(t *testing.T) {
	records := far(90, 3)
	for i := range records {
		if i%3 == 2 {
			records[i].Weight = 0
		}
	}
	for _, params := range []string{`{"clusters":3}`, `{"clusters":3,"early":true}`} {
		_, err := tryRun(t, params, [][]jobstest.Record{records}, kernelops.Best())
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeInputEmpty {
			t.Errorf("%s: a class that weighs 0: %v", params, err)
		}
	}
}

// What has no clusters is refused by name.
func TestClustersRefused(t *testing.T) {
	for _, params := range []string{
		`{"clusters":2,"kernel":"precomputed"}`, `{"clusters":2,"mode":"one_class"}`, `{"early":true}`, `{"clusters":-1}`,
		`{"clusters":257}`, `{"clusters":2,"early":true,"mode":"regress"}`, `{"clusters":2,"early":true,"probability":true}`,
		`{"clusters":2,"early":true,"margin":true}`, `{"clusters":2,"early":true,"support_vectors":true}`,
	} {
		_, err := New(specOf(params))
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeSpecInvalid {
			t.Errorf("%s: %v", params, err)
		}
	}
}

// The machines of clusters are counted before work begins: 128 classes have 8,128 machines, so 4 clusters fit and 5 do
// not.
func TestMachinesOfClustersAreBounded(t *testing.T) {
	p := Params{Dividing: Dividing{Clusters: 4}}
	if err := p.checkLocal(maxClasses); err != nil {
		t.Error(err)
	}
	var records []jobstest.Record
	for i := range 2 * maxClasses {
		records = append(records, jobstest.Record{Label: fmt.Sprint(i % maxClasses), Dense: []float32{float32(i), 1}})
	}
	_, err := tryRun(t, `{"clusters":5}`, [][]jobstest.Record{records}, kernelops.Best())
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != protocol.CodeInputLimit ||
		!strings.Contains(fault.Hint, "to 4 at most") {
		t.Errorf("40,640 machines: %v", err)
	}
	if p.Clusters = maxClusters; p.checkLocal(2) != nil || p.checkLocal(16) != nil || p.checkLocal(17) == nil {
		t.Error("256 clusters fit with 16 classes and not with 17")
	}
}
