package supportvectormachine

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
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

func TestGroups(t *testing.T) {
	for _, kernel := range []string{"rbf", "linear", "polynomial"} {
		for _, classes := range []int{2, 3} {
			for _, tol := range []float64{1e-3, 1e-9} {
				for _, set := range []int{8, 512} {
					m, result := train(t, fmt.Sprintf(`{"kernel":%q,"tol":%g,"working_set":%d}`, kernel, tol, set),
						groups(300, 5, classes))
					worst := 0.0
					for k, v := range m.violation {
						worst = max(worst, v)
						if g := m.proofs[k].Relative(); !(g < 10*tol) {
							t.Errorf("%s machine %d: gap %v", kernel, k, g)
						}
					}
					_ = result
					t.Logf("%s %d classes, tol %g, set %d: %d rounds, %d supports, violation %.3g, gap %.3g", kernel, classes, tol, set,
						m.rounds, m.len(), worst, m.proofs[0].Relative())
				}
			}
		}
	}
}
