package linearmodel

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

const paired = `{"classes":"one_vs_one","blocks":%d,"solver":%q,"loss":%q,"margin":true,"support_vectors":true}`

// Worked by hand, without a bias, of a at -1, b at 1 and c at 3: b against a costs w^2/2 + 2 max(0, 1-w), least at
// w = 1. c against a has max(0, 1-3w) in place of one of these, and has 1 too. c against b costs
// w^2/2 + max(0, 1-3w) + max(0, 1+w), least at 1/3.
func TestPairsByHand(t *testing.T) {
	three := []jobstest.Record{{Label: "b", Dense: []float32{1}}, {Label: "a", Dense: []float32{-1}},
		{Label: "c", Dense: []float32{3}}}
	for _, solver := range solvers {
		params := fmt.Sprintf(`{"classes":"one_vs_one","bias_scale":0,"tol":1e-9,"solver":%q}`, solver)
		m, result := train(t, params, three)
		for k, want := range []float64{1, 1, 1.0 / 3} {
			if w := m.row(m.weights, k)[0]; math.Abs(w-want) > 1e-4 {
				t.Errorf("%s: machine %s has the weight %v, want %v", solver, m.machineName(k), w, want)
			}
		}
		text, err := Kind().Describe(result.Model, jobs.DescribeOptions{})
		if err != nil || !strings.Contains(text, `"c" against "a" (bias 0)`) {
			t.Errorf("%v\n%s", err, text)
		}
	}
}

// Each machine is the one of a job over the records of its two classes, to the bit where there is one block and its
// order is that of the records.
func TestPairsAreJobsOfTwo(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		records := groups(150, 6, 4, sparse)
		for _, loss := range []string{"hinge", "squared_hinge"} {
			m, _ := train(t, fmt.Sprintf(paired, 1, newtonName, loss), records)
			if m.machines() != 6 {
				t.Fatalf("%d machines", m.machines())
			}
			for k := range m.machines() {
				first, second := m.pairs().Pair(k)
				two := slices.DeleteFunc(slices.Clone(records), func(r jobstest.Record) bool {
					class := int(r.Label[0] - 'a')
					return class != first && class != second
				})
				own, _ := train(t, fmt.Sprintf(`{"blocks":1,"solver":"newton","margin":true,"loss":%q}`, loss), two)
				if !slices.Equal(own.weights, m.row(m.weights, k)) {
					t.Errorf("%s of %s: weights %v, of its own job %v", m.machineName(k), loss,
						m.row(m.weights, k), own.weights)
				}
				p, q := own.proofs[0], m.proofs[k]
				if p.Primal != q.Primal || p.Dual != q.Dual || q.GapUpper < p.GapUpper ||
					own.margins[0].Lo > m.margins[k].Hi {
					t.Errorf("%s of %s: %+v, of its own job %+v", m.machineName(k), loss, q, p)
				}
			}
		}
	}
}

// Both solvers find machines that are as good, for any blocks, and the same model for any shards and kernel sets.
func TestPairsBySolvers(t *testing.T) {
	records := groups(160, 5, 4, false)
	newton, _ := train(t, fmt.Sprintf(paired, 3, newtonName, "hinge"), records)
	ascend, whole := train(t, fmt.Sprintf(paired, 3, ascendName, "hinge"), records)
	if newton.relative() > 1e-3 || ascend.relative() > 1e-3 {
		t.Errorf("gaps of %v and %v", newton.relative(), ascend.relative())
	}
	for k, p := range newton.proofs {
		if q := ascend.proofs[k]; p.Primal < q.Primal-q.GapUpper || q.Primal < p.Primal-p.GapUpper {
			t.Errorf("machine %d: %+v and %+v", k, p, q)
		}
	}
	for _, ops := range kernelops.All() {
		cut := [][]jobstest.Record{records[:17], nil, records[17:100], records[100:]}
		result, err := tryRun(t, fmt.Sprintf(paired, 3, ascendName, "hinge"), cut, ops)
		if err != nil || jobstest.Digest(result.Model) != jobstest.Digest(whole.Model) {
			t.Errorf("%s: another model, or %v", ops.Name, err)
		}
	}
	checkPairSupport(t, newton, records)
}

// checkPairSupport looks for the pairs in the columns of support vectors.
func checkPairSupport(t *testing.T, m *model, records []jobstest.Record) {
	t.Helper()
	_, result := train(t, fmt.Sprintf(paired, 3, newtonName, "hinge"), records)
	var counts, total int64
	for k := range m.machines() {
		n := int64(0)
		if err := jobs.ReadMetric(result.Metrics, fmt.Sprintf("linear.support.%03d", k), &n); err != nil || n < 2 {
			t.Errorf("machine %d has %d support vectors, %v", k, n, err)
		}
		counts += n
	}
	rows := 0
	for name, file := range result.Files {
		if !strings.HasSuffix(name, ".csv") {
			continue
		}
		for line := range strings.Lines(string(file)) {
			if !strings.Contains(line, " against ") {
				continue
			}
			rows++
			fields := strings.Split(line, ",")
			if label, machine := fields[len(fields)-5], fields[len(fields)-4]; !strings.Contains(machine, label) {
				t.Errorf("a record of %s supports %s", label, machine)
			}
		}
	}
	err := jobs.ReadMetric(result.Metrics, "linear.support", &total)
	if err != nil || total != counts || rows != int(total) {
		t.Errorf("%d support vectors in all, %d of machines, %d rows, %v", total, counts, rows, err)
	}
}

// The machines vote, and few records are on the wrong side. Two classes have the model of one against the rest.
func TestPairsPredict(t *testing.T) {
	records := groups(200, 8, 4, false)
	_, result := train(t, fmt.Sprintf(paired, 2, newtonName, "hinge"), records)
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
			if sum := o.Scores[0] + o.Scores[1] + o.Scores[2] + o.Scores[3]; sum < 6-2 || sum > 6+2 {
				t.Errorf("votes %v", o.Scores)
			}
			at++
		}
	}
	if at != len(records) || wrong > len(records)/10 {
		t.Errorf("%d of %d are wrong", wrong, at)
	}
	two := groups(60, 3, 2, false)
	_, one := train(t, `{}`, two)
	_, rest := train(t, `{"classes":"one_vs_one"}`, two)
	if jobstest.Digest(one.Model) != jobstest.Digest(rest.Model) {
		t.Error("two classes have two models")
	}
}

func TestPairsRefuse(t *testing.T) {
	many := make([]jobstest.Record, maxPairedClasses+1)
	for i := range many {
		many[i] = jobstest.Record{Label: fmt.Sprintf("c%03d", i), Dense: []float32{float32(i)}}
	}
	var fault *protocol.Fault
	_, err := tryRun(t, `{"classes":"one_vs_one"}`, [][]jobstest.Record{many}, kernelops.Best())
	if !errors.As(err, &fault) || fault.Code != protocol.CodeInputLimit ||
		!strings.Contains(err.Error(), "129 classes") {
		t.Errorf("too many classes: %v", err)
	}
	for _, params := range []string{`{"classes":"argmax"}`, `{"classes":"one_vs_one","mode":"regress","loss":"squared"}`} {
		if _, err := New(specOf(params)); err == nil {
			t.Errorf("%s was accepted", params)
		}
	}
	records := groups(60, 3, 3, false)
	_, base := train(t, `{}`, records)
	if _, err := goOn(t, `{"classes":"one_vs_one"}`, base, records); !errors.As(err, &fault) ||
		fault.Code != protocol.CodeSpecInvalid || !strings.Contains(err.Error(), "classes is one_vs_rest") {
		t.Errorf("from a model of one against the rest: %v", err)
	}
	_, base = train(t, `{"classes":"one_vs_one"}`, records)
	if _, err := goOn(t, `{"classes":"one_vs_one"}`, base, records); err != nil {
		t.Error(err)
	}
}

// A machine about two classes whose records all weigh 0 has nothing to learn from, as a job about the two has not.
func TestWeightlessPair(t *testing.T) {
	records := groups(30, 3, 3, false)
	for i := range records {
		if records[i].Label == "c" {
			records[i].Weight = 1
		}
	}
	for _, solver := range solvers {
		_, err := tryRun(t, fmt.Sprintf(`{"classes":"one_vs_one","solver":%q}`, solver), [][]jobstest.Record{records},
			kernelops.Best())
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeInputEmpty ||
			!strings.Contains(err.Error(), `"a" and of class "b"`) {
			t.Errorf("%s: %v", solver, err)
		}
	}
}
