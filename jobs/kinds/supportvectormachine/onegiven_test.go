package supportvectormachine

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
)

// Worked by hand: two records that have nothing in common, and nu = 1/2. The coefficients add up to 1, so each is 1/2,
// f and rho are 1/2, and both objectives are -1/4.
func TestOneClassOfAGivenMatrixByHand(t *testing.T) {
	m, _, err := runMatrix(t, `{"mode":"one_class","nu":0.5,"tol":1e-9}`,
		unlabeled([]float32{1, 0}, []float32{0, 1}), 2, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := m.proofs[0]
	if !slices.Equal(m.alpha, []float64{0.5, 0.5}) || m.bias[0] != -0.5 || c.Primal != -0.25 || c.Dual != -0.25 ||
		!m.proves() || len(m.rows) != 0 {
		t.Errorf("alpha %v, rho %v, %+v, %s", m.alpha, -m.bias[0], c, m.given.says())
	}
}

// A machine of a matrix is that of the vectors whose kernel it holds, but for the rounding of its values.
func TestOneClassOfAMatrixAndOfItsVectors(t *testing.T) {
	x := groups(60, 3, 2)
	for i := range x {
		x[i].Label = ""
	}
	given := make([]jobstest.Record, len(x))
	for i := range x {
		for j := range x {
			square := 0.0
			for k, v := range x[i].Dense {
				d := float64(v) - float64(x[j].Dense[k])
				square += float64(d * d)
			}
			given[i].Dense = append(given[i].Dense, float32(math.Exp(-square/4)))
		}
	}
	for _, nu := range []float64{0.1, 0.5, 1} {
		params := fmt.Sprintf(`{"mode":"one_class","nu":%v,"tol":1e-9`, nu)
		vectors, _ := train(t, params+`,"kernel":"rbf","gamma":0.25}`, x)
		matrix, result, err := runMatrix(t, params+"}", given, 60, 2, 0)
		if err != nil {
			t.Fatal(err)
		}
		want, got := vectors.proofs[0], matrix.proofs[0]
		if math.Abs(want.Dual-got.Dual) > 1e-6*math.Abs(want.Dual) || math.Abs(vectors.bias[0]-matrix.bias[0]) > 1e-6 {
			t.Errorf("nu %v: dual %v, not %v; bias %v, not %v", nu, got.Dual, want.Dual, matrix.bias[0],
				vectors.bias[0])
		}
		_, served := train(t, params+`,"kernel":"rbf","gamma":0.25}`, x)
		scores := values(t, served, x)
		for i, v := range values(t, result, given) {
			if math.Abs(v-scores[i]) > 1e-5 {
				t.Errorf("nu %v: record %d has the score %v, not %v", nu, i, v, scores[i])
			}
		}
	}
}

// The objectives of a certificate are those of the matrix with what was added to its diagonal, in exact arithmetic,
// also where rounding to float32 or clipping made an eigenvalue of 0 negative.
func TestCertificateOfOneClassOfAMatrixHoldsExactly(t *testing.T) {
	lifted := 0
	for seed := range 6 {
		points := matrixOfPoints(12, uint64(seed))
		records := unlabeled()
		for i := range 24 { // each point twice
			row := slices.Concat(points[i/2].Dense, points[i/2].Dense)
			for j := range row {
				row[j] = points[i/2].Dense[j/2]
			}
			records = append(records, jobstest.Record{Dense: row})
		}
		m, _, err := runMatrix(t, `{"mode":"one_class","nu":0.3,"tol":1e-6}`, records, 24, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		if m.given.added > 0 {
			lifted++
		}
		primal, dual := objectivesOfOneClass(m, records)
		c := m.proofs[0]
		if math.Abs(primal-c.Primal) > c.PrimalError+1e-14 || math.Abs(dual-c.Dual) > c.DualError+1e-14 ||
			primal-dual > c.GapUpper+1e-14 {
			t.Errorf("primal %v, not %v (%v); dual %v, not %v (%v); gap at most %v", primal, c.Primal, c.PrimalError,
				dual, c.Dual, c.DualError, c.GapUpper)
		}
	}
	if lifted == 0 {
		t.Error("no diagonal was added to")
	}
}

// objectivesOfOneClass are those of a model of a given matrix of records that cost 1, in exact arithmetic.
func objectivesOfOneClass(m *model, records []jobstest.Record) (primal, dual float64) {
	alpha, rho := make([]*big.Rat, len(records)), exactly(-m.bias[0])
	for i := range alpha {
		alpha[i] = new(big.Rat)
	}
	for j, i := range m.ordinal {
		alpha[i].SetFloat64(m.alpha[j])
	}
	square, loss := new(big.Rat), new(big.Rat)
	for i, r := range records {
		f := new(big.Rat).Mul(exactly(m.given.added), alpha[i])
		for j, v := range r.Dense {
			f.Add(f, new(big.Rat).Mul(exactly(float64(v)), alpha[j]))
		}
		square.Add(square, new(big.Rat).Mul(alpha[i], f))
		if below := new(big.Rat).Sub(rho, f); below.Sign() > 0 {
			loss.Add(loss, below)
		}
	}
	half := square.Mul(square, big.NewRat(1, 2))
	dual, _ = new(big.Rat).Neg(half).Float64()
	total := new(big.Rat).Mul(exactly(m.nu), big.NewRat(int64(len(records)), 1))
	all := new(big.Rat).Sub(half, total.Mul(total, rho))
	primal, _ = all.Add(all, loss).Float64()
	return primal, dual
}
