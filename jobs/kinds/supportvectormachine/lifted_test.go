package supportvectormachine

import (
	"math"
	"math/big"
	"testing"
)

func exactly(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }

func absolute(v *big.Rat) *big.Rat { return new(big.Rat).Abs(v) }

// The objectives of a certificate are those of the matrix with what was added to its diagonal, in exact arithmetic.
func TestCertificateOfAGivenMatrixHoldsExactly(t *testing.T) {
	checked := 0
	for _, want := range givenMachines(t) {
		if want.Clip || want.Name == "three classes" {
			continue
		}
		training, _ := want.records()
		m, _ := train(t, want.params(1e-6), training)
		n, added := len(training), exactly(m.given.added)
		if m.given.added > 0 {
			checked++
		}
		beta := make([]*big.Rat, n)
		for i := range beta {
			beta[i] = new(big.Rat)
		}
		for j, i := range m.ordinal {
			beta[i].SetFloat64(m.termsOf(j)[0].alpha)
		}
		primal, dual, square := new(big.Rat), new(big.Rat), new(big.Rat)
		for i := range n {
			f := new(big.Rat).Mul(added, beta[i])
			for j, v := range want.K[i] {
				f.Add(f, new(big.Rat).Mul(exactly(float64(v)), beta[j]))
			}
			square.Add(square, new(big.Rat).Mul(beta[i], f))
			f.Add(f, exactly(m.bias[0]))
			loss := new(big.Rat)
			if want.Mode == modeRegress {
				loss.Sub(absolute(f.Sub(f, exactly(want.Z[i]))), exactly(m.epsilon))
				dual.Add(dual, new(big.Rat).Mul(exactly(want.Z[i]), beta[i]))
				dual.Sub(dual, new(big.Rat).Mul(exactly(m.epsilon), absolute(beta[i])))
			} else {
				loss.Sub(big.NewRat(1, 1), f.Mul(f, big.NewRat(int64(2*want.Y[i]-1), 1)))
				dual.Add(dual, absolute(beta[i]))
			}
			if loss.Sign() > 0 {
				primal.Add(primal, loss.Mul(loss, exactly(want.Cost)))
			}
		}
		square.Mul(square, big.NewRat(1, 2))
		p, _ := primal.Add(primal, square).Float64()
		d, _ := dual.Sub(dual, square).Float64()
		c := m.proofs[0]
		if math.Abs(p-c.Primal) > c.PrimalError+1e-15*p || math.Abs(d-c.Dual) > c.DualError+1e-15*p ||
			p-d > c.GapUpper+2e-15*p {
			t.Errorf("%s: primal %v, not %v (%v); dual %v, not %v (%v); gap %v, at most %v", want.Name, p, c.Primal,
				c.PrimalError, d, c.Dual, c.DualError, p-d, c.GapUpper)
		}
	}
	if checked < 4 {
		t.Errorf("the diagonal of %d matrices was added to", checked)
	}
}
