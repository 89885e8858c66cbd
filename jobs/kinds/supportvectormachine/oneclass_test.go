package supportvectormachine

import (
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
)

// unlabeled are records without labels.
func unlabeled(x ...[]float32) []jobstest.Record {
	list := make([]jobstest.Record, len(x))
	for i, row := range x {
		list[i] = jobstest.Record{Dense: row}
	}
	return list
}

// Worked by hand: x = 1, 2 and 4 with the linear kernel and nu = 1/2, so the coefficients add up to 3/2. The least |w|
// takes all of x = 1 and half of x = 2: w = 2, f = 2, 4 and 8, rho = 4, and both objectives are -2.
func TestOneClassByHand(t *testing.T) {
	m, _ := train(t, `{"mode":"one_class","kernel":"linear","nu":0.5,"tol":1e-9}`, unlabeled([]float32{4},
		[]float32{2}, []float32{1}))
	c := m.proofs[0]
	if m.len() != 2 || m.alpha[0] != 0.5 || m.alpha[1] != 1 || m.bias[0] != -4 || c.Primal != -2 || c.Dual != -2 ||
		!(c.Relative() < 1e-12) {
		t.Errorf("alpha %v of %v, rho %v, %+v", m.alpha, m.ordinal, -m.bias[0], c)
	}
}
