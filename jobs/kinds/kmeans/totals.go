package kmeans

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops"
)

// totals is a round's partial: what equation 1.32 divides, the weighted sum of each center's records and their weight,
// and J.
type totals struct {
	sums.Rows
	cost        float64 // sum of w |x - mu|^2
	fingerprint []uint64
}

func newTotals(k, width int) *totals { return &totals{Rows: sums.New(k, width)} }

// distortion is J of equation 1.29.
func (t *totals) distortion() float64 { return t.cost / 2 }

// add takes in the rows that were just assigned, in order.
func (t *totals) add(ops *kernelops.Set, near *assigner, c chunk) {
	t.AddDense(c.X, near.index, c.Weights, ops)
	for i, d := range near.sqDist[:c.X.Rows] {
		t.cost += float64(c.Weight(i) * d)
	}
}

// Fields lists the totals.
func (t *totals) Fields(f *jobs.Fields) {
	t.Rows.Fields(f, "sums", "weight")
	jobs.Scalar(f, "cost", &t.cost)
	jobs.List(f, "fingerprint", &t.fingerprint, 4)
}

// plus adds the totals to the right.
func (t *totals) plus(right *totals) (*totals, error) {
	rows, err := t.Plus(&right.Rows)
	if err != nil {
		return nil, err
	}
	words, err := sums.Of(t.fingerprint, right.fingerprint)
	return &totals{rows, t.cost + right.cost, words}, err
}
