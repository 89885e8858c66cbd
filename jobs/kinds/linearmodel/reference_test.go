package linearmodel

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
)

// reference is the best weights of machines, solved in float64 without a job; testdata has the script.
type reference struct {
	Set, Loss string
	C         float64
	Weights   [][]float64
}

// The objective is strongly convex: P(w) - P(best) >= |w - best|^2 / 2. So the weights lie within sqrt(2 gap_upper) of
// the best ones, at a loose gap as at a tight one, by both solvers.
func TestWeightsAreNearTheReference(t *testing.T) {
	if testing.Short() {
		t.Skip("trains 36 times; make test-all runs it")
	}
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []reference
	if err := json.Unmarshal(text, &list); err != nil || len(list) != 18 {
		t.Fatalf("%d references, %v", len(list), err)
	}
	closest := 0.0
	for _, want := range list {
		records := dividedRecords(t, want.Set)
		for _, solver := range solvers {
			for _, tol := range []float64{0.1, 1e-3} {
				params := fmt.Sprintf(`{"loss":%q,"C":%g,"solver":%q,"tol":%g,"blocks":2,"max_rounds":3000}`, want.Loss,
					want.C, solver, tol)
				m, _ := train(t, params, records)
				closest = max(closest, want.check(t, params, m))
			}
		}
	}
	if closest < 0.3 {
		t.Errorf("weights are at most %v of what the gap allows from the reference", closest)
	}
	t.Log(closest)
}

// check returns how far the weights are, as a part of how far they may be.
func (want reference) check(t *testing.T, params string, m *model) (part float64) {
	t.Helper()
	if len(want.Weights) != m.machines() {
		t.Fatalf("%s, %s: %d machines", want.Set, params, m.machines())
	}
	for k, best := range want.Weights {
		off := 0.0
		for j, w := range m.row(m.weights, k) {
			off += (w - best[j]) * (w - best[j])
		}
		reach := math.Sqrt(2 * m.proofs[k].GapUpper)
		if math.Sqrt(off) > reach+1e-8 {
			t.Errorf("%s, %s: the weights of machine %d are %v from the best, more than %v", want.Set, params, k,
				math.Sqrt(off), reach)
		}
		part = max(part, math.Sqrt(off)/reach)
	}
	return part
}

// dividedRecords are those of a set, with each column divided by the power of two that is just above its greatest
// value.
func dividedRecords(t *testing.T, set string) (records []jobstest.Record) {
	t.Helper()
	file, err := os.Open("../../../testdata/" + set)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reader := csv.NewReader(file)
	reader.FieldsPerRecord = -1
	rows, err := reader.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	width := len(rows[1]) - 1
	greatest := make([]float64, width)
	for _, row := range rows[1:] {
		r := jobstest.Record{Label: row[width]}
		for j, field := range row[:width] {
			v, err := strconv.ParseFloat(field, 32)
			if err != nil {
				t.Fatal(err)
			}
			r.Dense = append(r.Dense, float32(v))
			greatest[j] = max(greatest[j], math.Abs(v))
		}
		records = append(records, r)
	}
	for _, r := range records {
		for j := range r.Dense {
			_, exponent := math.Frexp(greatest[j])
			r.Dense[j] = float32(math.Ldexp(float64(r.Dense[j]), -exponent))
		}
	}
	return records
}
