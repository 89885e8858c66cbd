package supportvectormachine

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/smo"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

func specOf(params string) protocol.JobSpec {
	spec := protocol.JobSpec{APIVersion: protocol.APIVersion, Kind: KindName}
	spec.Spec.Params = json.RawMessage(params)
	spec.Spec.Repro.Seed = 7
	return spec
}

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

// Worked by hand: the four points of XOR with (<x, y> + 1)^2 have all coefficients 1/8 and a bias of 0, so both
// objectives are 1/4.
func TestXORByHand(t *testing.T) {
	four := jobstest.DenseRecords([][]float32{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}}, "a", "b", "b", "a")
	for _, blocks := range []int{1, 2, 4} {
		m, _ := train(t, fmt.Sprintf(`{"kernel":"polynomial","C":10,"tol":1e-9,"blocks":%d}`, blocks), four)
		if m.len() != 4 || m.bias[0] != 0 {
			t.Fatalf("%d blocks: alpha %v, bias %v", blocks, m.alpha, m.bias)
		}
		for i, a := range m.alpha {
			if math.Abs(a-0.125) > 1e-12 {
				t.Errorf("%d blocks: alpha %d is %v", blocks, i, a)
			}
		}
		c := m.proofs[0]
		if math.Abs(c.Primal-0.25) > 1e-12 || math.Abs(c.Dual-0.25) > 1e-12 || !(c.Relative() < 1e-10) {
			t.Errorf("%d blocks: %+v", blocks, c)
		}
	}
}

// groups draws records around as many centers.
func groups(n, width, classes int) []jobstest.Record {
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
			x.Dense = append(x.Dense, v)
		}
		records[i] = x
	}
	return records
}

// Machines of every kernel reach their tolerance, by kernel values in float64, and prove as small a gap. Of a positive
// violation below tol, what is proved is of that size.
func TestMachinesReachTheirTolerance(t *testing.T) {
	for _, kernel := range []string{"rbf", "linear", "polynomial"} {
		for _, classes := range []int{2, 3} {
			for _, tol := range []float64{1e-3, 1e-9} {
				params := fmt.Sprintf(`{"kernel":%q,"tol":%g,"working_set":32,"features":{"scale":"standard"}}`, kernel,
					tol)
				m, _ := train(t, params, groups(200, 5, classes))
				for k, v := range m.violation {
					if g := m.proofs[k].Relative(); !(v <= tol && g < 10*tol) {
						t.Errorf("%s: machine %d: violation %v, gap %v after %d rounds", params, k, v, g, m.rounds)
					}
				}
			}
		}
	}
}

// Data far from zero, whose float32 products do not tell the records apart, is trained with float64 values; and what is
// served is the machine that was certified.
func TestDataFarFromZero(t *testing.T) {
	for _, offset := range []float32{200, 1e4} {
		records := groups(120, 4, 2)
		for i := range records {
			for j := range records[i].Dense {
				records[i].Dense[j] += offset
			}
		}
		m, result := train(t, `{"kernel":"linear","max_rounds":300}`, records)
		if m.violation[0] > 1e-3 {
			t.Fatalf("offset %v: violation %v after %d rounds", offset, m.violation[0], m.rounds)
		}
		p := newProofSums(m, kernelops.Best())
		for i, got := range predictions(t, result.Model, records) {
			p.decide(records[i].Dense, i%2)
			if want := p.sum[0] + m.bias[0]; math.Abs(got-want) > 1e-6 {
				t.Errorf("offset %v: record %d is served %v, not %v", offset, i, got, want)
			}
		}
	}
}

// A machine that is not measured in the first round is refused as well where a class weighs 0.
func TestClassWithoutWeightLater(t *testing.T) {
	records := groups(30, 9000, 3)
	for i := range records {
		if records[i].Weight = 1; i%3 == 2 {
			records[i].Weight = 0
		}
	}
	_, err := tryRun(t, `{"kernel":"linear"}`, [][]jobstest.Record{records}, kernelops.Best())
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != protocol.CodeInputEmpty {
		t.Errorf("a class that weighs 0: %v", err)
	}
}

// Ended early, the bias is that of the coefficients that there are.
func TestBiasOfAnEarlyEnd(t *testing.T) {
	records := groups(80, 4, 2)
	m, _ := train(t, `{"max_rounds":1}`, records)
	p := newProofSums(m, kernelops.Best())
	alpha, e := map[int64]float64{}, smo.NewExtremes()
	for i, ordinal := range m.ordinal {
		alpha[ordinal] = m.alpha[i]
	}
	for i, r := range records {
		p.decide(r.Dense, i%2)
		y := float64(2*(i%2) - 1)
		up, low := smo.Sides(alpha[int64(i)], y, 1)
		e.Add(y-p.sum[0], up, low)
	}
	if math.Abs(m.bias[0]-e.Bias()) > 1e-6 || m.bias[0] == 0 {
		t.Errorf("bias %v, not %v", m.bias[0], e.Bias())
	}
}

// The model does not depend on blocks, shards or kernel sets.
func TestModelOfAnyBlocks(t *testing.T) {
	records := groups(150, 4, 3)
	want := ""
	for _, set := range kernelops.All() {
		for i, blocks := range []int{1, 3, 8} {
			params := fmt.Sprintf(`{"blocks":%d,"working_set":16}`, blocks)
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

func TestBadInput(t *testing.T) {
	two := jobstest.DenseRecords([][]float32{{1}, {-1}}, "a", "b")
	light := jobstest.DenseRecords([][]float32{{1}, {-1}, {2}}, "a", "b", "b")
	light[0].Weight = 0
	light[1].Weight, light[2].Weight = 1, 1
	for name, c := range map[string]struct {
		params  string
		records []jobstest.Record
		says    string
	}{
		"C of 0":      {`{"C":0}`, two, "C"},
		"a small set": {`{"working_set":3}`, two, "working_set"},
		"no kernel":   {`{"kernel":"laplace"}`, two, "kernel is one of"},
		"one class":   {`{}`, two[:1], "needs 2 classes or more"},
		"weight 0":    {`{}`, light, `"a" or of class "b" weighs 0`},
		"beyond": {`{"kernel":"polynomial","degree":40}`, jobstest.DenseRecords([][]float32{{1e3, 1e3}, {-1, 1}}, "a",
			"b"), "beyond"},
	} {
		_, err := tryRun(t, c.params, [][]jobstest.Record{c.records}, kernelops.Best())
		var fault *protocol.Fault
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
