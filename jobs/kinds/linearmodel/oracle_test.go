package linearmodel

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
)

// Iris by scikit-learn 1.9.1: LinearSVC(C=0.1, dual=True, tol=1e-13, max_iter=10^6), the best of three random states,
// for each class against the others. Its hinge had not converged.
var irisByLIBLINEAR = map[string][3]struct {
	primal  float64
	weights [5]float64
}{
	"hinge": {
		{0.6019849871664906, [5]float64{0.1480358872, 0.4770647997, -0.7473213734, -0.3834151693, 0.0829241299}},
		{9.814763828536105, [5]float64{0.0521414541, -0.4297365958, 0.1057102678, -0.2844899343, 0.0444955177}},
		{4.84954556616, [5]float64{-0.7776070246, -0.7088586121, 1.1520751956, 1.0718581365, -0.455197076}},
	},
	"squared_hinge": {
		{0.4262798792295081, [5]float64{0.1154785881, 0.4066087694, -0.6145690917, -0.3022585199, 0.0692864844}},
		{10.885017595513705, [5]float64{0.1806182544, -0.6419609476, 0.2282295811, -0.5908684719, 0.4083939955}},
		{3.724606482412433, [5]float64{-0.6108512709, -0.5837159086, 0.8999827722, 0.952886137, -0.4768533682}},
	},
}

// Both solvers find what LIBLINEAR does: no objective is above its, nor below what is proved, and the weights are as
// near as both objectives say.
func TestAgainstLIBLINEAR(t *testing.T) {
	records := irises(t)
	for loss, machines := range irisByLIBLINEAR {
		for solver, tol := range map[string]float64{newtonName: 1e-9, ascendName: 1e-3} {
			params := fmt.Sprintf(`{"loss":%q,"solver":%q,"tol":%g,"C":0.1,"blocks":2,"max_rounds":5000}`, loss,
				solver, tol)
			m := trainTo(t, params, tol, records)
			for k, want := range machines {
				c := m.proofs[k]
				if c.Primal > want.primal*(1+1e-6)+c.GapUpper || want.primal < c.Primal-c.GapUpper {
					t.Errorf("%s, machine %d: %+v, LIBLINEAR has %v", params, k, c, want.primal)
				}
				off, best := 0.0, c.Primal-c.GapUpper // of P is strongly convex: |w - best|^2 <= 2 (P(w) - P(best))
				for j, w := range m.row(m.weights, k) {
					off += (w - want.weights[j]) * (w - want.weights[j])
				}
				if reach := math.Sqrt(2*c.GapUpper) + math.Sqrt(2*(want.primal-best)); math.Sqrt(off) > reach+1e-9 {
					t.Errorf("%s, machine %d: the weights are %v from LIBLINEAR's, more than %v", params, k,
						math.Sqrt(off), reach)
				}
			}
		}
	}
}

func irises(t *testing.T) (records []jobstest.Record) {
	t.Helper()
	file, err := os.Open("../../../testdata/iris.csv")
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
	for _, row := range rows[1:] {
		r := jobstest.Record{Label: row[4]}
		for _, field := range row[:4] {
			v, err := strconv.ParseFloat(field, 32)
			if err != nil {
				t.Fatal(err)
			}
			r.Dense = append(r.Dense, float32(v))
		}
		records = append(records, r)
	}
	return records
}
